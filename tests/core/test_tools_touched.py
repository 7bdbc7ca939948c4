"""Which files a call changed, for the tools of all agents."""

from clm_sessions.model import ToolCall
from clm_sessions.tools.table import describe
from clm_sessions.tools.touched import touches


def touched(name, given, *, status="ok", detail=None, cwd="/home/dev/garden"):
    call = ToolCall(id="1", name=name, input=given, status=status, message=0, result="ok", detail=detail)
    return [(t.path, t.what, t.added, t.removed, t.failed) for t in touches(call, describe(call), cwd)]


def test_an_edit_counts_the_lines_that_came_and_went():
    given = {"file_path": "/home/dev/garden/a.py", "old_string": "one\ntwo", "new_string": "one\n2\n3"}
    assert touched("Edit", given) == [("/home/dev/garden/a.py", "edited", 2, 1, False)]


def test_a_new_file_is_created_where_the_log_says_so_and_else_only_written():
    given = {"file_path": "a.md", "content": "x\ny\n"}
    path = "/home/dev/garden/a.md"
    assert touched("Write", given, detail={"type": "create"}) == [(path, "created", 2, 0, False)]
    assert touched("Write", given) == [(path, "written", None, None, False)]


def test_a_patch_touches_every_file_it_names():
    patch = "*** Begin Patch\n*** Add File: n.md\n+hi\n*** Update File: sub/o.py\n@@\n-a\n+b\n+c\n*** Delete File: p\n*** End Patch"
    assert touched("apply_patch", patch, cwd="/w") == [
        ("/w/n.md", "created", 1, 0, False),
        ("/w/sub/o.py", "edited", 2, 1, False),
        ("/w/p", "deleted", None, None, False),
    ]


def test_a_failed_edit_counts_no_line():
    given = {"file_path": "/a", "old_string": "x", "new_string": "y"}
    assert touched("Edit", given, status="error") == [("/a", "edited", None, None, True)]


def test_other_tools_and_calls_without_a_path_touch_nothing():
    assert touched("Read", {"file_path": "/a"}) == []
    assert touched("Bash", {"command": "rm a"}) == []
    assert touched("Edit", {"file_path": 7.5, "old_string": None}) != []
    assert touched("Edit", "nonsense") == touched("Write", None) == touched("apply_patch", 3) == []

"""Lines longer than memory should be: kept, named, and the lines beside them read; at a bounded cost."""

import base64
import json
import os
import subprocess
import sys
import time

import pytest

from clm_sessions import plugins
from clm_sessions.verify import verify
from support.logs import entry, import_logs, query, session_id, write_log

SIZE = 2 << 30
MEMORY = 200 << 10
"""KB a process may have resident."""
RUN = """
import sys
sys.argv = ["clm-sessions", *sys.argv[1:]]
from clm_sessions.cli import main
code = 0
try:
    main()
except SystemExit as leave:
    code = leave.code or 0
# Not ru_maxrss: that is the parent's until the child has grown beyond it.
print("peak", open("/proc/self/status").read().split("VmHWM:")[1].split()[0], file=sys.stderr)
sys.exit(code)
"""


def measured(*words, stdout=subprocess.PIPE):
    """The command in a process of its own: (what it printed, seconds, KB at its peak)."""
    started = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", RUN, *map(str, words)], stdout=stdout, stderr=subprocess.PIPE, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, time.monotonic() - started, int(done.stderr.rsplit("peak", 1)[1])


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """A good line, one of 2 GB that does not compress, a good line."""
    folder = tmp_path_factory.mktemp("long")
    path = folder / "logs" / f"{session_id()}.jsonl"
    path.parent.mkdir()
    noise = base64.b64encode(os.urandom(24 << 20))
    first, last = (json.dumps(entry("user", n, f"good line {n}")).encode() + b"\n" for n in (1, 2))
    with path.open("wb") as file:
        file.write(first + b'{"type": "user", "message": {"content": "')
        for _ in range(SIZE // len(noise) + 1):
            file.write(noise)
        file.write(b'"}}\n' + last)
    yield path
    for left in (path, *folder.glob("a.db*")):
        left.unlink()


@pytest.mark.slow
def test_a_line_of_2_gb_is_kept_and_named_and_its_neighbours_are_read(log):
    database = log.parent.parent / "a.db"
    _out, seconds, peak = measured("import", database, log)
    print(f"import of a line of 2 GB: {seconds:.1f} s, {peak / 1024:.0f} MB")
    assert peak <= MEMORY
    assert seconds <= 150  # 15 on a quiet machine with a disk of its own
    assert query(database, "SELECT text FROM messages ORDER BY seq") == [("good line 1",), ("good line 2",)]
    assert query(database, "SELECT kind, line FROM ingest_issues") == [("too_long", 2)]
    assert query(database, "SELECT disposition, lines FROM source_lines ORDER BY 1") == [("issue", 1), ("message", 2)]
    out, _seconds, peak = measured("verify", database, "--full")
    assert out == ""
    assert peak <= MEMORY
    words = [sys.executable, "-m", "clm_sessions", "export-log", session_id(), database]
    with log.open("rb") as want, subprocess.Popen(words, stdout=subprocess.PIPE) as giving:
        while data := giving.stdout.read(1 << 20):
            assert data == want.read(len(data))
        assert want.read(1) == b""
    assert giving.returncode == 0


DEEP = 1_000_000
NESTED = {
    "lists": b"[" * DEEP + b"]" * DEEP,
    "objects": b'{"a":' * DEEP + b"1" + b"}" * DEEP,
    "lists never closed": b"[" * DEEP,
    "objects never closed": b'{"type":"user","a":' + b'{"a":' * DEEP,
    "lists in a record": b'{"type":"user","message":{"content":' + b"[" * DEEP + b"]" * DEEP + b"}}",
    "lists in an input": b'{"type":"msg","role":"assistant","tool_calls":[{"id":"1","name":"x","args":' + b"[" * DEEP + b"]" * DEEP + b"}]}",
    "text that says so": json.dumps({"type": "user", "message": {"content": "[" * DEEP}}).encode(),
    "an escaped input": json.dumps({"type": "msg", "role": "assistant", "tool_calls": [{"id": "1", "name": "x", "args": "[" * DEEP}]}).encode(),
}  # fmt: skip
GOOD = {
    "claude-code": [json.dumps(entry("user", n, f"good {n}")).encode() for n in (1, 2)],
    "clm": [b'{"type":"msg","role":"user","content":"good 1"}', b'{"type":"msg","role":"user","content":"good 2"}'],
    "codex": [
        json.dumps(
            {"timestamp": "2026-03-02T09:00:00Z", "type": "session_meta", "payload": {"id": session_id(), "cwd": "/x"}}
        ).encode(),
        json.dumps(
            {
                "timestamp": "2026-03-02T09:00:01Z",
                "type": "event_msg",
                "payload": {"type": "user_message", "message": "good"},
            }
        ).encode(),
    ],
}


@pytest.mark.parametrize("name", NESTED)
@pytest.mark.parametrize("format_", GOOD)
def test_json_nested_to_a_million_levels_harms_no_neighbour(tmp_path, format_, name):
    sid = f"rollout-2026-03-02T09-00-00-{session_id()}" if format_ == "codex" else session_id()
    first, last = GOOD[format_]
    write_log(tmp_path / "logs" / f"{sid}.jsonl", [first, NESTED[name], last])
    database = tmp_path / "a.db"
    started = time.monotonic()
    import_logs(database, tmp_path / "logs", only=format_)
    assert time.monotonic() - started < 20
    lines = dict(query(database, "SELECT disposition, lines FROM source_lines"))
    assert sum(lines.values()) == 3
    assert query(database, "SELECT count(*) FROM messages WHERE text LIKE 'good%'")[0][0] >= (
        1 if format_ == "codex" else 2
    )
    assert not verify(database, plugins.build(entry_points=False)).total

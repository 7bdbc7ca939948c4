"""The same files give the same database, in whatever order and in however many steps they were imported."""

import json
import os
from itertools import permutations
from random import Random

import pytest

from clm_sessions import plugins
from clm_sessions.ingest import Importer
from clm_sessions.verify import verify
from support.logs import NO_PRICES, check_search_index, entry, import_logs, query, session_id, turn, write_log
from support.worlds import content, put, steps, world

SID = session_id()


def agent(number, prompt, name="a1"):
    return [one | {"isSidechain": True, "agentId": name} for one in turn(number, prompt, f"{prompt} done")]


def agent_log(root, folder, number, prompt, name="a1"):
    return write_log(root / folder / SID / "subagents" / f"agent-{name}.jsonl", agent(number, prompt, name))


def findings(database):
    return verify(database, plugins.build(entry_points=False)).findings


def test_a_file_beside_a_log_counts_though_it_was_gone_before_the_log_came(tmp_path):
    root, database = tmp_path / "p", tmp_path / "s.db"
    meta = root / "-x" / SID / "subagents" / "agent-a1.meta.json"
    meta.parent.mkdir(parents=True)
    meta.write_text(json.dumps({"agentType": "gardener", "description": "water the beans"}))
    import_logs(database, root)
    meta.unlink()
    write_log(root / "-x" / f"{SID}.jsonl", turn(1, "grow", "yes"))
    agent_log(root, "-x", 2, "water")
    import_logs(database, root)
    told = query(database, "SELECT description, agent_type FROM sessions WHERE role = 'subagent'")
    assert told == [("water the beans", "gardener")]
    assert findings(database) == []


LOGS = {
    "x": lambda root: write_log(root / "-x" / f"{SID}.jsonl", turn(1, "a", "b") + turn(2, "c", "d")),
    "y": lambda root: write_log(root / "-y" / f"{SID}.jsonl", turn(5, "A other", "b")),
    "agent of x": lambda root: agent_log(root, "-x", 40, "x says"),
    "agent of y": lambda root: agent_log(root, "-y", 70, "y says more"),
}


@pytest.mark.parametrize("order", list(permutations(LOGS)), ids=", ".join)
def test_an_agent_is_in_the_session_it_lies_by_whichever_log_came_first(tmp_path, order):
    root = tmp_path / "p"
    for name in order:
        LOGS[name](root)
        import_logs(tmp_path / "steps.db", root)
    import_logs(tmp_path / "fresh.db", root)
    assert content(tmp_path / "steps.db") == content(tmp_path / "fresh.db")
    assert [sid[len(SID) :] for (sid,) in query(tmp_path / "steps.db", "SELECT id FROM sessions ORDER BY id")] == [
        "", ":a1", "~2", "~2:a1",
    ]  # fmt: skip
    assert findings(tmp_path / "steps.db") == []
    check_search_index(tmp_path / "steps.db")
    before = query(tmp_path / "steps.db", "PRAGMA data_version"), content(tmp_path / "steps.db")
    report = import_logs(tmp_path / "steps.db", root)
    assert report.sources == {"unchanged": 4}
    assert before == (query(tmp_path / "steps.db", "PRAGMA data_version"), content(tmp_path / "steps.db"))


def test_a_second_log_of_one_agent_at_a_deeper_place_leaves_the_first_one_its_bytes(tmp_path):
    root = tmp_path / "p"
    LOGS["x"](root)
    write_log(root / "-x" / "agent-a1.jsonl", agent(30, "says something"))
    import_logs(tmp_path / "steps.db", root)
    agent_log(root, "-x", 40, "says something else")
    import_logs(tmp_path / "steps.db", root)
    import_logs(tmp_path / "fresh.db", root)
    assert content(tmp_path / "steps.db") == content(tmp_path / "fresh.db")
    assert query(tmp_path / "steps.db", "SELECT max(generation) FROM raw_blocks") == [(0,)]


def test_an_agent_stays_with_a_log_that_is_gone(tmp_path):
    root, database = tmp_path / "p", tmp_path / "s.db"
    for make in LOGS.values():
        make(root)
    import_logs(database, root)
    (root / "-y" / f"{SID}.jsonl").unlink()
    (root / "-x" / f"{SID}.jsonl").unlink()
    import_logs(database, root)
    write_log(root / "-y" / SID / "subagents" / "agent-a1.jsonl", agent(70, "y says more") + agent(71, "and more"))
    LOGS["x"](root)
    import_logs(database, root)
    counts = query(database, "SELECT substr(id, ?), messages, source_state FROM sessions ORDER BY id", len(SID) + 1)
    assert {sid: (n, state) for sid, n, state in counts} == {
        "": (2, "gone"),
        ":a1": (4, "present"),
        "~2": (4, "present"),
        "~2:a1": (2, "present"),
    }
    assert findings(database) == []


def test_an_agent_of_a_copy_that_the_session_has_nowhere_else_goes_on_when_it_gcontent(tmp_path):
    root, database = tmp_path / "p", tmp_path / "s.db"
    LOGS["x"](root)
    write_log(root / "-z" / f"{SID}.jsonl", turn(1, "a", "b"))
    agent_log(root, "-z", 40, "z says")
    import_logs(database, root)
    for number in (41, 42):
        write_log(
            root / "-z" / SID / "subagents" / "agent-a1.jsonl",
            [one for n in range(40, number + 1) for one in agent(n, "z says")],
        )
        import_logs(database, root)
    assert query(database, "SELECT messages FROM sessions WHERE role = 'subagent'") == [(6,)]


def test_three_logs_of_one_agent_beside_one_log_are_three_agents(tmp_path):
    root, database = tmp_path / "p", tmp_path / "s.db"
    LOGS["x"](root)
    for number, folder in enumerate("xyz"):
        agent_log(root, f"-{folder}", 40 + number, f"{folder} says")
    import_logs(database, root)
    titles = query(database, "SELECT title FROM sessions WHERE role = 'subagent' ORDER BY title")
    assert titles == [("x says",), ("y says",), ("z says",)]


@pytest.mark.parametrize("copy_first", [False, True])
def test_an_agent_beside_a_copy_that_says_something_else_is_kept(tmp_path, copy_first):
    root = tmp_path / "p"

    def copy():
        write_log(root / "-z" / f"{SID}.jsonl", turn(1, "a", "b"))
        agent_log(root, "-z", 60, "z says")

    def log():
        LOGS["x"](root)
        LOGS["agent of x"](root)

    for make in (copy, log) if copy_first else (log, copy):
        make()
        import_logs(tmp_path / "steps.db", root)
    import_logs(tmp_path / "fresh.db", root)
    for database in ("steps.db", "fresh.db"):
        titles = query(tmp_path / database, "SELECT title FROM sessions WHERE role = 'subagent' ORDER BY title")
        assert titles == [("x says",), ("z says",)]
    archived = "SELECT source_id, generation, byte_length FROM raw_blocks ORDER BY 1, 2, 3"
    assert query(tmp_path / "steps.db", archived) == query(tmp_path / "fresh.db", archived)


WORLDS = 600 if os.environ.get("CLM_NIGHTLY") else 24


@pytest.mark.parametrize(
    "seed", [330, 393, *range(WORLDS)]
)  # the first two: files of one name beside logs that are one
def test_any_files_imported_in_any_order_and_steps_are_the_same_database(tmp_path, seed):
    random = Random(seed)
    files = world(random)
    for step in steps(random, files):
        put(tmp_path / "p", step)
        import_logs(tmp_path / "steps.db", tmp_path / "p")
    put(tmp_path / "p", {})
    import_logs(tmp_path / "fresh.db", tmp_path / "p")
    before = content(tmp_path / "steps.db")
    assert before == content(tmp_path / "fresh.db")
    assert findings(tmp_path / "steps.db") == []
    assert set(import_logs(tmp_path / "steps.db", tmp_path / "p").sources) <= {"unchanged"}
    assert content(tmp_path / "steps.db") == before


@pytest.mark.parametrize("seed", range(WORLDS // 2))
def test_an_importer_that_is_told_what_changed_makes_the_same_database(tmp_path, seed):
    random = Random(seed)
    files = world(random)
    root = tmp_path / "p"
    put(root, {})
    importer = Importer(tmp_path / "told.db", plugins.build(entry_points=False), book=NO_PRICES)
    for step in steps(random, files, growing=0.9):
        put(root, step)
        importer.run([root], paths={str(root / name) for name in step})
        if random.random() < 0.1:  # somebody else writes, too
            import_logs(tmp_path / "told.db", root, again=True)
    importer.close()
    import_logs(tmp_path / "fresh.db", root)
    assert content(tmp_path / "told.db") == content(tmp_path / "fresh.db")
    check_search_index(tmp_path / "told.db")


def growth():
    """A log that grows line by line: calls that are answered late, a prompt that is taken back, ids that come twice."""
    call = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "ls"}}
    late = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "late", "is_error": True}
    said = [*turn(1, "a", "b"), entry("assistant", 5, [call]), *turn(3, "c", "d"), entry("user", 9, [late])]
    said += [entry("user", 11, "one way", parent="x"), entry("user", 12, "another way", parent="x"), said[0]]
    return [one | {"parentUuid": one.pop("parent", None)} for one in said]


def test_a_log_that_is_kept_in_memory_while_it_grows_by_pieces_of_lines_is_the_same_database(tmp_path):
    log = write_log(tmp_path / "p" / "-x" / f"{SID}.jsonl", [])
    importer = Importer(tmp_path / "told.db", plugins.build(entry_points=False), book=NO_PRICES)
    importer.run([tmp_path / "p"])
    data = b"".join(json.dumps(one).encode() + b"\n" for one in growth())
    ends = [n for n, byte in enumerate(data, 1) if byte == 10]
    for end in sorted({*ends, *(n - 1 for n in ends), *(n - 40 for n in ends)}):
        log.write_bytes(data[:end])
        importer.run([tmp_path / "p"], paths={str(log)})
        (tmp_path / "fresh.db").unlink(missing_ok=True)
        import_logs(tmp_path / "fresh.db", tmp_path / "p")
        assert query(tmp_path / "told.db", READ) == query(tmp_path / "fresh.db", READ)
    importer.close()
    assert content(tmp_path / "told.db") == content(tmp_path / "fresh.db")
    check_search_index(tmp_path / "told.db")


READ = (
    "SELECT m.*, t.status, t.result, c.kind, c.status, c.preview, c.messages, s.messages, s.tool_errors FROM messages m "
    "JOIN sessions s ON s.id = m.session_id LEFT JOIN chunks c ON c.session_id = m.session_id AND c.seq = m.chunk_seq "
    "LEFT JOIN tool_calls t ON t.session_id = m.session_id AND t.message_seq = m.seq ORDER BY m.seq"
)


def test_files_of_one_name_beside_logs_are_kept_apart_with_their_bytes(tmp_path):
    root, database = tmp_path / "p", tmp_path / "s.db"
    for folder, kind in (("-x", "gardener"), ("-y", "cook")):
        meta = root / folder / SID / "subagents" / "agent-a1.meta.json"
        meta.parent.mkdir(parents=True)
        meta.write_text(json.dumps({"agentType": kind}))
        import_logs(database, root)
    kept = query(database, "SELECT count(DISTINCT source_id), max(generation) FROM raw_blocks")
    assert kept == [(2, 0)]
    assert findings(database) == []

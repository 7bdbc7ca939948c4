"""The same files give the same database, in whatever order and in however many steps they were imported."""

import json

from clm_sessions import plugins
from clm_sessions.verify import verify
from support.logs import import_logs, query, session_id, turn, write_log

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

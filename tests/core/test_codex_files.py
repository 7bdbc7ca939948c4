"""Where rollouts are looked for, what is taken for one, and that the format keeps its promises."""

import json
from pathlib import Path, PurePath

import pytest

import clm_sessions
from clm_sessions import plugins
from clm_sessions.formats.base import Confidence, Head, Located
from clm_sessions.formats.codex import Codex, CodexDocument
from clm_sessions.testing import check_format
from support import cases
from support import rollouts as r
from support.logs import import_logs, query, turn, write_log

UUID = r.thread_id()
NAME = f"rollout-2026-03-02T10-00-00-{UUID}"


def sniff(*records, session="full"):
    """The claim on a file of that name with these records."""
    return Codex().sniff(Located(role="main", session=session), Head(records=records, data=b""))


def test_rollouts_lie_below_codex_home():
    home = Path("/home/dev")
    below = ["sessions", "archived_sessions", "session_index.jsonl"]
    assert list(Codex().roots(home, {})) == [home / ".codex" / name for name in below]
    assert list(Codex().roots(home, {"CODEX_HOME": "/x"})) == [Path("/x", name) for name in below]


@pytest.mark.parametrize(
    ("name", "session"),
    [
        (f"{NAME}.jsonl", UUID),
        (f"{UUID}.jsonl", UUID),
        ("full.jsonl", "full"),
        ("history.jsonl", None),
        ("session_index.jsonl", None),
        (f"{NAME}.json", None),
        ("config.toml", None),
    ],
)
def test_a_name_says_the_session_or_nothing(name, session):
    located = Codex().locate(PurePath("/home/dev/.codex/sessions/2026/03/02", name))
    assert (located and located.session) == session


def test_records_tell_a_rollout_wherever_they_stand():
    assert sniff({"x": 1}, [], 3, r.meta()).confidence is Confidence.SIGNATURE
    assert sniff(r.opens(1)[1]).confidence is Confidence.SIGNATURE
    assert sniff(r.says("user", "hi")).confidence is Confidence.SIGNATURE
    assert sniff({"record_type": "state"}).confidence is Confidence.SHAPE
    for other in (
        {"type": "session_meta", "payload": {"id": "x"}},
        {"type": "session.start", "timestamp": "2026-03-02T10:00:00Z", "data": {}},
        {"type": "event_msg", "timestamp": "2026-03-02T10:00:00Z", "payload": {"type": ["list"]}},
        {"type": {}, "timestamp": "2026-03-02T10:00:00Z", "payload": {}},
        {"type": "thread.started", "thread_id": UUID},
        turn(1, "hi", "yes")[0],
    ):
        assert sniff(other).confidence is Confidence.NO


def test_a_file_of_another_name_is_named_by_its_first_session_meta():
    assert sniff(r.says("user", "hi"), r.meta(7), r.meta(8)).session == r.thread_id(7)
    assert sniff(r.meta(7), session=UUID).session == UUID
    assert sniff(r.says("user", "hi")).session == "full"


def test_the_first_session_meta_says_whose_agent_wrote_a_rollout():
    claim = sniff(r.meta(2, **r.started_by(1)), r.meta(1), session=r.thread_id(2))
    assert (claim.session, claim.agent) == (r.thread_id(1), r.thread_id(2))
    claim = sniff(r.meta(2, source={"subagent": "review"}, parent_thread_id=r.thread_id(1)))
    assert (claim.session, claim.agent) == (r.thread_id(1), r.thread_id(2))
    for more in ({"forked_from_id": r.thread_id(1)}, {"source": {"subagent": "review"}}, r.started_by(2)):
        claim = sniff(r.meta(2, **more))
        assert (claim.session, claim.agent) == (r.thread_id(2), None)


def test_logs_of_several_agents_in_one_folder_are_told_apart(tmp_path):
    r.write(tmp_path, 1, [r.meta(), *r.turn(1, "Sow.", "Sown.", r.usage(9, 0, 1))])
    write_log(tmp_path / "sessions" / "5e550000-0000-4000-8000-000000000001.jsonl", turn(1, "hi", "yes"))
    (tmp_path / "sessions" / "exec.jsonl").write_text('{"type":"thread.started","thread_id":"x"}\n')
    report = import_logs(tmp_path / "x.db", tmp_path)
    assert dict(report.formats) == {"claude-code": 1, "codex": 1}
    assert query(tmp_path / "x.db", "SELECT relative_path FROM sources WHERE state = 'unrecognised'") == [
        ("sessions/exec.jsonl",)
    ]


def test_a_rollout_of_the_first_versions_is_one_object(tmp_path):
    items = [r.says("user", "Sow.")["payload"], r.calls("c1", "shell", command=["ls"])["payload"]]
    items += [r.gives("c1", "pea")["payload"], r.says("assistant", "Sown.")["payload"], 7]
    document = {"session": {"id": UUID, "timestamp": "2025-05-02T10:00:00.000Z", "instructions": ""}, "items": items}
    path = tmp_path / f"rollout-2025-05-02-{UUID}.json"
    path.write_text(json.dumps(document, indent=2))
    made = clm_sessions.load(path)
    assert (made.info.format, made.id, made.info.started_at) == ("codex-json", UUID, 1746180000000)
    assert [c.preview for c in made.chunks] == ["Sow.", "Sown."]
    assert [c.status for c in made.tool_calls] == ["ok"]
    (tmp_path / "rollout-other.json").write_text('{"session": 1}')
    assert len(clm_sessions.load_all(tmp_path)) == 1
    assert check_format(CodexDocument(), tmp_path, mutations=200).logs == 1


def test_the_format_keeps_the_promises_of_a_format(tmp_path):
    r.write(
        tmp_path,
        1,
        [r.meta(), *r.turn(1, "Sow.", "Sown.", r.usage(9, 0, 1)), *r.turn(2, "On.", "So.", r.usage(20, 5, 3))],
    )
    (tmp_path / "sessions" / "events.jsonl").write_bytes(
        r.data([*r.opens(1), r.event("user_message", message="<b>hi</b>"), r.event("agent_message", message="ok")])
    )
    (tmp_path / "sessions" / "case.jsonl").write_bytes(
        next((cases.HERE / "codex-two-voices").rglob("*.jsonl")).read_bytes()
    )
    found = check_format(Codex(), tmp_path, mutations=1000)
    assert (found.logs, found.mutations) == (3, 1000)


def test_it_is_built_in():
    registry = plugins.build(entry_points=False)
    assert {"codex", "codex-json"} <= set(registry.formats)
    assert [p.failure for p in registry.plugins if p.name == "codex"] == [None]

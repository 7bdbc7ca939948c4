"""Every figure of a generated project with known truth comes out of the database, whatever the order of import."""

import json
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.logs import check_search_index, dump, import_logs, query

GENERATOR = Path(__file__).parents[2] / "bench" / "gen_peers.py"
FIGURES = {
    "prompts": "SELECT count(*) FROM messages m JOIN sessions s ON s.id = m.session_id "
    "WHERE s.role = 'main' AND m.kind = 'user' AND m.origin = 'prompt' AND m.inherited = 0",
    "api_requests": "SELECT count(*) FROM requests WHERE inherited = 0",
    "tool_calls": "SELECT count(*) FROM tool_calls WHERE inherited = 0",
    "tool_results": "SELECT count(result_message_seq) FROM tool_calls WHERE inherited = 0",
    "tool_errors": "SELECT count(*) FROM tool_calls WHERE status = 'error' AND inherited = 0",
    "thinking": "SELECT count(*) FROM messages, json_each(layout) WHERE json_extract(value, '$[0]') = 'k' AND inherited = 0",
    "images": "SELECT count(*) FROM message_attachments a JOIN messages m ON m.session_id = a.session_id "
    "AND m.seq = a.message_seq WHERE m.inherited = 0",
    "compactions": "SELECT count(*) FROM chunks WHERE kind = 'compact'",
    "interrupts": "SELECT count(*) FROM messages WHERE origin = 'interruption' AND inherited = 0",
    "subagents": "SELECT count(*) FROM sessions WHERE role = 'subagent'",
    "input": "SELECT sum(input_tokens) FROM requests WHERE inherited = 0",
    "output": "SELECT sum(own_output_tokens) FROM sessions",
    "cache_read": "SELECT sum(cache_read_tokens) FROM requests WHERE inherited = 0",
    "cache_write": "SELECT sum(cache_creation_tokens) FROM requests WHERE inherited = 0",
    "main_output": "SELECT sum(own_output_tokens) FROM sessions WHERE role = 'main'",
    "sub_output": "SELECT sum(own_output_tokens) FROM sessions WHERE role = 'subagent'",
    "main_requests": "SELECT count(*) FROM requests WHERE inherited = 0 AND session_id IN (SELECT id FROM sessions WHERE role = 'main')",
    "sub_requests": "SELECT count(*) FROM requests WHERE inherited = 0 AND session_id IN (SELECT id FROM sessions WHERE role = 'subagent')",
}


def generate(folder, *arguments):
    """A generated project and its truth."""
    subprocess.run([sys.executable, GENERATOR, folder, *arguments], check=True, stdout=subprocess.DEVNULL)
    return folder / "projects", json.loads((folder / "truth.json").read_text())


def figures(db):
    """Each figure from the database."""
    return {name: query(db, sql)[0][0] for name, sql in FIGURES.items()}


@pytest.mark.parametrize(
    "arguments",
    [
        ("--small",),
        ("--sessions", "12", "--mb", "4", "--seed", "3"),
        pytest.param(("--sessions", "100", "--mb", "40", "--seed", "7"), marks=pytest.mark.slow),
    ],
    ids=["small", "seed 3", "seed 7, 40 MB"],
)
def test_every_figure_equals_the_truth(arguments, tmp_path, proved):
    logs, truth = generate(tmp_path, *arguments)
    import_logs(tmp_path / "a.db", logs)
    assert figures(tmp_path / "a.db") == {name: sum(session[name] for session in truth) for name in FIGURES}
    proved("figures of generated projects, equal to the truth", len(FIGURES))
    check_search_index(tmp_path / "a.db")


def test_importing_in_any_order_and_in_any_number_of_steps_gives_the_same_database(tmp_path):
    logs, _truth = generate(tmp_path, "--sessions", "10", "--mb", "2", "--seed", "5")
    import_logs(tmp_path / "one.db", logs)
    want = {k: v for k, v in dump(tmp_path / "one.db").items() if k != "raw_blocks"}
    files = sorted(logs.rglob("*.jsonl"))
    rng = random.Random(1)
    for attempt in range(2):
        folder = tmp_path / f"steps{attempt}"
        shutil.copytree(logs, folder / "projects", ignore=shutil.ignore_patterns("*.jsonl"))
        whole = {file: file.read_bytes() for file in files}
        given = dict.fromkeys(files, 0)
        while any(given[f] < len(whole[f]) for f in files):
            for file in rng.sample(files, 4):
                given[file] = min(len(whole[file]), given[file] + rng.randrange(1, 400_000))
                out = folder / "projects" / file.relative_to(logs)
                out.parent.mkdir(parents=True, exist_ok=True)
                out.write_bytes(whole[file][: given[file]])
            import_logs(folder / "a.db", folder / "projects")
        got = dump(folder / "a.db")
        places = {"sources", "raw_blocks"}
        assert {k: v for k, v in got.items() if k not in places} == {k: v for k, v in want.items() if k not in places}

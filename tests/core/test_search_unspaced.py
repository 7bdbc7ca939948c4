"""Scripts without spaces: a run of them is found inside a longer one, by every way to search."""

import sqlite3

import pytest

import clm_sessions
from clm_sessions.store import unspaced
from clm_sessions.store.search import find, pieces
from clm_sessions.store.words import fts_query, unspaced_query
from support.logs import import_logs, query, session_id, turn, write_log

TEXTS = [
    "今日は庭に水やりをしました",
    "使用timer函数计算浇水时间",
    "วันนี้รดน้ำต้นไม้ในสวน",
    "오늘정원에서물을주었다",
    "plain words, Café",
]


@pytest.fixture
def database(tmp_path):
    turns = [line for n, text in enumerate(TEXTS) for line in turn(2 * n, text, f"reply {n}")]
    write_log(tmp_path / "projects" / "-home-dev-garden" / f"{session_id()}.jsonl", turns)
    import_logs(tmp_path / "sessions.db", tmp_path / "projects")
    return tmp_path / "sessions.db"


def seqs(database, text, **asked):
    with clm_sessions.open_db(database) as db:
        return sorted(hit.message_seq for hit in db.search(text, **asked))


@pytest.mark.parametrize(
    ("asked", "text"),
    [("水やり", 0), ("庭", 0), ("した", 0), ("た", 0), ("庭に水やり", 0), ('"今日は" 水やり', 0), ("函数", 1), ("timer", 1), ("使用timer", 1),
     ("timer函", 1), ("TIMER 浇水", 1), ("รดน้ำ", 2), ("ต้นไม้", 2), ("정원", 3), ("물을", 3), ("cafe", 4), ("wor*", 4)],
)  # fmt: skip
def test_a_part_of_a_run_is_found(database, asked, text):
    assert seqs(database, asked) == [2 * text]


@pytest.mark.parametrize("asked", ["水り", "やり水", "今しました", "函时", "물정원", "日今"])
def test_what_does_not_stand_so_is_not_found(database, asked):
    assert seqs(database, asked) == []


def test_the_run_is_marked_in_the_snippet(database):
    with clm_sessions.open_db(database) as db:
        (hit,) = db.search("水やり")
    assert ("水やり", True) in pieces(hit.snippet)


def test_texts_without_such_runs_are_not_in_the_index(database):
    assert query(database, "SELECT count(*) FROM messages_fts_cjk_docsize") == [(4,)]
    assert query(database, "SELECT count(*) FROM tool_calls_fts_cjk_docsize") == [(0,)]


def test_a_row_that_is_in_both_indexes_is_found_once(database):
    with sqlite3.connect(database) as db:
        assert len(find(db, "今日は庭に水やりをしました").places) == 1
        assert len(find(db, "words").places) == 1


def test_a_log_that_grows_and_is_rewritten_keeps_the_index_true(database, tmp_path):
    from clm_sessions import plugins
    from clm_sessions.verify import verify

    log = next((tmp_path / "projects").rglob("*.jsonl"))
    write_log(log, [*turn(0, "新しい計画", "水やりは明日"), *turn(2, "plain", "plain")])
    import_logs(database, tmp_path / "projects")
    assert seqs(database, "計画") == [0]
    assert seqs(database, "庭") == []
    assert verify(database, plugins.build(entry_points=False)).findings == []


def test_queries_are_pairs_of_characters():
    assert unspaced_query("水やり") == '"水や やり"'
    assert unspaced_query("水") == '"水"*'
    assert unspaced.spread("plain") == "plain"


@pytest.mark.parametrize(
    ("typed", "asked"),
    [
        ("water -rain", '"water" NOT "rain"'),
        ('water -"heavy rain"', '"water" NOT "heavy rain"'),
        ("ls -la", '"ls" "-la"'),
        ("pip --upgrade", '"pip" "--upgrade"'),
        ("-rain", '"rain"'),
        ("wrong-book", '"wrong-book"'),
        ("water -", '"water"'),
    ],
)
def test_what_begins_with_a_dash_is_left_out_but_flags_are_words(typed, asked):
    assert fts_query(typed) == asked

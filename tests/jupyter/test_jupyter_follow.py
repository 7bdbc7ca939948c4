"""A view that grows while its log is written: from a log, from a database, and how it ends."""

import threading
import time

import pytest
from jupyter_client.manager import start_new_kernel

import jupyter_clm as jc
from clm_sessions.errors import UsageError
from support.logs import import_logs, session_id, turn, write_log
from support.notebooks import environment


def until(holds):
    """Wait for what a thread does; it has half a minute."""
    end = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)


def grown(view, hits):
    """Wait until the view has so many hits and is drawn."""
    until(lambda: view.n_hits == hits)
    with view._lock:
        pass


def turns(count):
    return [entry for n in range(1, count + 1) for entry in turn(n, f"question {n}", f"answer {n}")]


def threads():
    return [t for t in threading.enumerate() if t.name == "clm-sessions follow"]


@pytest.fixture
def log(tmp_path):
    return write_log(tmp_path / f"{session_id()}.jsonl", turns(6))


def test_a_view_at_its_end_grows_and_stays_at_the_end(log):
    view = jc.load(log).follow(every=0.05)
    assert (view.page, view.n_hits, view.following) == (2, 12, True)
    assert "following the log" in view._controls.status.value
    write_log(log, turns(16))
    grown(view, 32)
    assert (view.page, len(view.session.chunks)) == (4, 32)
    assert "answer 16" in view._controls.body.value
    view.close()
    until(lambda: not threads())


def test_a_reader_on_an_earlier_page_is_not_moved(log):
    view = jc.load(log).follow(every=0.05, page=1, page_size=5, query="question")
    write_log(log, turns(30))
    grown(view, 30)
    assert (view.page, view.pages) == (1, 6)
    view.stop()
    assert not view.following
    until(lambda: not threads())
    view.close()


def test_what_a_database_is_given_meanwhile_is_shown(tmp_path, log):
    path = tmp_path / "s.db"
    import_logs(path, log.parent)
    with jc.open(path) as database:
        view = database.sessions[0].follow(every=0.05)
        write_log(log, turns(9))
        import_logs(path, log.parent)
        grown(view, 18)
        assert "answer 9" in view._controls.body.value
        view.close()
        until(lambda: not threads())


def test_a_log_that_is_gone_for_a_while_or_half_written_ends_nothing(log):
    view = jc.load(log).follow(every=0.05)
    log.unlink()
    time.sleep(0.2)
    log.write_bytes(b"{")
    time.sleep(0.2)
    assert view.n_hits == 12
    write_log(log, turns(8))
    grown(view, 16)
    view.close()
    until(lambda: not threads())


def test_closing_the_database_first_ends_in_silence(tmp_path, log):
    import_logs(tmp_path / "s.db", log.parent)
    database = jc.open(tmp_path / "s.db")
    view = database.sessions[0].follow(every=0.05)
    database.close()
    time.sleep(0.2)
    with pytest.raises(UsageError, match="is closed"):
        database.sessions  # noqa: B018
    view.close()
    until(lambda: not threads())


def test_a_session_without_a_log_of_its_own_cannot_be_followed(sessions):
    with pytest.raises(UsageError, match=r"load it alone, with jupyter_clm.load\(PATH\)"):
        sessions[0].follow()
    assert not threads()


_RUNS = """
import threading
views = globals().get("views", []) + [jc.load(path).follow(every=0.05), jc.load(path).follow(every=0.05)]
print([view.following for view in views])
"""


def test_a_cell_that_is_run_again_leaves_no_thread_behind(log):
    manager, kernel = start_new_kernel(env=environment())
    try:
        ask(kernel, f"import jupyter_clm as jc; path = {str(log)!r}", "first")
        assert ask(kernel, _RUNS, "a") == "[True, True]"
        assert ask(kernel, _RUNS, "a") == "[False, False, True, True]"
        assert ask(kernel, _RUNS, "b") == "[False, False, True, True, True, True]", "another cell is another wish"
        count = "import time, threading; time.sleep(0.5); print(sum(t.name == 'clm-sessions follow' for t in threading.enumerate()))"
        assert ask(kernel, count, "c") == "4"
    finally:
        kernel.stop_channels()
        manager.shutdown_kernel(now=True)


def ask(kernel, code, cell):
    """What a cell prints. It is sent as JupyterLab does, which names the cell."""
    content = {"code": code, "silent": False, "store_history": True, "user_expressions": {}, "allow_stdin": False}
    message = kernel.session.msg("execute_request", content, metadata={"cellId": cell})
    kernel.shell_channel.send(message)
    said = ""
    while True:
        answer = kernel.get_iopub_msg(timeout=60)
        if answer["parent_header"].get("msg_id") != message["header"]["msg_id"]:
            continue
        if answer["msg_type"] == "stream":
            said += answer["content"]["text"]
        assert answer["msg_type"] != "error", answer["content"]
        if answer["msg_type"] == "status" and answer["content"]["execution_state"] == "idle":
            return said.strip()

"""What the long proofs counted is told at the end of a run."""

import signal

import pytest

PROOFS = pytest.StashKey[dict[str, int]]()


def pytest_configure(config):
    config.stash[PROOFS] = {}
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in a job that a shell put into the background
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if config.pluginmanager.has_plugin("xdist"):
        config.pluginmanager.register(_Workers(config))


@pytest.fixture(scope="session")
def proved(request):
    """Call it with what was proved and how often: ``proved("damages found", 25)``. Counts of one name add up."""

    def note(what, count=1):
        _add(request.config, what, count)

    return note


def _add(config, what, count):
    proofs = config.stash[PROOFS]
    proofs[what] = proofs.get(what, 0) + count


class _Workers:
    """What workers of pytest-xdist counted comes to the process that started them."""

    def __init__(self, config):
        self.config = config

    def pytest_testnodedown(self, node):
        for what, count in getattr(node, "workeroutput", {}).get("proofs", {}).items():
            _add(self.config, what, count)


def pytest_sessionfinish(session):
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["proofs"] = session.config.stash[PROOFS]


def pytest_terminal_summary(terminalreporter, config):
    proofs = config.stash[PROOFS]
    if proofs:
        terminalreporter.section("proved")
        for what, count in sorted(proofs.items()):
            terminalreporter.line(f"{count:>9,}  {what}")

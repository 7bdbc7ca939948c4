"""What the long proofs counted is told at the end of a run."""

import pytest

PROOFS = pytest.StashKey[dict[str, list[int]]]()


def pytest_configure(config):
    config.stash[PROOFS] = {}


@pytest.fixture(scope="session")
def proved(request):
    """Call it with what was proved and how often: ``proved("damages found", 25)``. Counts of one name add up."""

    def note(what, count=1):
        request.config.stash[PROOFS].setdefault(what, []).append(count)

    return note


def pytest_terminal_summary(terminalreporter, config):
    proofs = config.stash[PROOFS]
    if proofs:
        terminalreporter.section("proved")
        for what, counts in sorted(proofs.items()):
            terminalreporter.line(f"{sum(counts):>9,}  {what}")

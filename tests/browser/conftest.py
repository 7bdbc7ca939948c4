"""What the browser tests share: one Chromium, and one JupyterLab for those that need it."""

import pytest

PATIENCE = 20_000
"""Milliseconds to wait for what should appear: two of these tests share a machine with two cores."""


@pytest.fixture(scope="module")
def chromium():
    """A running Chromium. It is closed before other tests begin, which may need an event loop of their own."""
    from playwright.sync_api import expect, sync_playwright

    from support.lab import CHROMIUM

    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(**CHROMIUM)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def lab(tmp_path_factory):
    """A running JupyterLab with an empty folder."""
    from playwright.sync_api import expect

    from support import lab as labs

    expect.set_options(timeout=PATIENCE)
    server = labs.start(tmp_path_factory.mktemp("lab"))
    yield server
    labs.stop(server)

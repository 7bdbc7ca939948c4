"""What the browser tests share: one Chromium, and one JupyterLab for those that need it."""

import pytest


@pytest.fixture(scope="module")
def chromium():
    """A running Chromium. It is closed before other tests begin, which may need an event loop of their own."""
    from playwright.sync_api import sync_playwright

    from support.lab import CHROMIUM

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(**CHROMIUM)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def lab(tmp_path_factory):
    """A running JupyterLab with an empty folder."""
    from support import lab as labs

    server = labs.start(tmp_path_factory.mktemp("lab"))
    yield server
    labs.stop(server)

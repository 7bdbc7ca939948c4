"""The review before publishing in a browser: decided by mouse and keyboard, saved as a file, without a script of ours."""

from __future__ import annotations

import json

import pytest

from support.logs import import_logs, turn, write_log
from support.site import opened, served


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    folder = tmp_path_factory.mktemp("review")
    token = "ghp_" + "Zq7" * 12
    write_log(
        folder / "logs" / "-home-ada-garden" / "a.jsonl",
        turn(1, f"use {token}, DB_PASSWORD=t0p-Sh3lf!", "yes", cwd="/home/ada/garden"),
    )
    import_logs(folder / "a.db", folder / "logs")
    with served(folder / "a.db") as address:
        yield address


@pytest.mark.parametrize("scripts", [True, False])
def test_decisions_are_saved_as_a_file(chromium, base, scripts):
    with opened(chromium, base, java_script_enabled=scripts, viewport={"width": 360, "height": 800}) as (page, wrong):
        page.goto(f"{base}/a/-/review")
        page.get_by_label("Keep").first.check()
        page.get_by_label("Hide wherever it stands").last.check()
        with page.expect_download() as saved:
            page.get_by_role("button", name="Save rules.json").click()
        told = json.loads(saved.value.path().read_text())
        assert saved.value.suggested_filename == "rules.json"
        assert (len(told["keep"]), len(told["hide"])) == (1, 1)
        page.get_by_role("button", name="Show the rules").click()
        page.get_by_text("The rules so far").click()
        assert told["keep"][0] in page.locator("details pre").inner_text()
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        assert wrong == []

"""Ten questions of a newcomer are answered by clicks alone, and the page that says how is the one that was clicked."""

from __future__ import annotations

import runpy

import pytest

from support.logs import import_logs
from support.questions import QUESTIONS, walk
from support.site import ROOT, served

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """The demo's database."""
    file = tmp_path_factory.mktemp("questions") / "demo.db"
    import_logs(file, ROOT / "demo" / "logs")
    with served(file) as base:
        yield f"{base}/demo"


@pytest.fixture(scope="module")
def page(chromium):
    page = chromium.new_page(viewport={"width": 1280, "height": 800})
    yield page
    page.close()


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.name)
def test_a_question_is_answered_by_clicks(page, address, question):
    walk(page, address, question)
    words = " ".join(page.locator("main, .content").first.inner_text().split())
    assert [part for part in question.shows if part not in words] == []


def test_the_page_with_the_pictures_says_these_clicks():
    docs = ROOT / "docs"
    assert (docs / "questions.md").read_text("utf-8") == runpy.run_path(str(docs / "questions.py"))["page"]()
    pictures = {file.stem for file in (docs / "questions").iterdir()}
    assert pictures == {question.name for question in QUESTIONS}

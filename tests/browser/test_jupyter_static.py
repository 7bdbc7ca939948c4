"""What a notebook shows where no kernel is: converted to HTML, in VS Code's colours, and on a site that takes style away."""

import re

import nbformat
import nh3
import pytest
from nbclient import NotebookClient
from nbconvert import HTMLExporter
from playwright.sync_api import expect

import jupyter_clm as jc
from support.lab import forms
from support.notebooks import LOGS, environment

pytestmark = pytest.mark.browser

CELLS = [
    f"import jupyter_clm as jc\nsessions = jc.load_all({str(LOGS)!r})",
    "sessions['b3fefa1a'].view()",
    "sessions.view()",
    "jc.compare(sessions['81d62477'], sessions['ada2de14'])",
]
ONCE = ["Today: a watering schedule.", "24 sessions", "Two sessions side by side"]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The notebook after its cells ran, with the state of its widgets, as nbconvert and papermill save it."""
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment(IPYTHONDIR=str(tmp_path_factory.mktemp("ipython"))).items():
            patch.setenv(name, value)
        NotebookClient(book, timeout=120, store_widget_state=True).execute()
    assert book.metadata.widgets
    return book


@pytest.fixture
def shown(chromium):
    """Open HTML in a browser without a network, in a scheme of colours; gives the page."""
    contexts = []

    def show(html, **options):
        contexts.append(chromium.new_context(viewport={"width": 1100, "height": 900}, **options))
        page = contexts[-1].new_page()
        page.route("**/*", lambda route: route.abort())
        page.set_content(html, wait_until="domcontentloaded")
        return page

    yield show
    for context in contexts:
        context.close()


@pytest.mark.parametrize("state", ["kept", "not kept"])
@pytest.mark.parametrize("template", ["lab", "classic"])
def test_converted_to_html_the_static_form_of_each_view_is_seen_once(run, shown, state, template):
    book = nbformat.from_dict(run)
    if state == "not kept":
        del book.metadata["widgets"]
    page = shown(HTMLExporter(template_name=template).from_notebook_node(book)[0])
    assert forms(page.locator("body")) == ["static"] * 3
    for words in ONCE:
        expect(page.get_by_text(re.compile("^" + words)).filter(visible=True)).to_have_count(1)
    said = page.locator("body").inner_text()
    assert not re.search(r"SessionView|SessionsView|CompareView|model not found|clm-root", said)


@pytest.mark.parametrize(("theme", "paper"), [("vscode-light", "#fffdf0"), ("vscode-dark", "#101218")])
def test_in_vs_code_views_have_its_colours_on_a_ground_of_their_own(run, shown, theme, paper):
    html = run.cells[1].outputs[0].data["text/html"]
    ink = "#222222" if theme == "vscode-light" else "#eeeeee"
    variables = f"--vscode-editor-background:{paper};--vscode-editor-foreground:{ink}"
    page = shown(
        f'<html style="{variables}"><body class="{theme}"><div style="background:#fff">{html}</div></body></html>',
        color_scheme="dark" if theme == "vscode-light" else "light",
    )
    colours = page.locator(".clm-root").evaluate(
        "e => [getComputedStyle(e).backgroundColor, getComputedStyle(e).color]"
    )
    rgb = [f"rgb({', '.join(str(int(code[i : i + 2], 16)) for i in (1, 3, 5))})" for code in (paper, ink)]
    assert colours == rgb
    error = page.locator(".clm-err, .clm-is-error, .clm-title").first.evaluate("e => getComputedStyle(e).colorScheme")
    assert error == theme.removeprefix("vscode-")


def test_where_style_classes_and_ids_are_taken_away_a_session_reads_from_top_to_bottom(run, shown):
    for output, words in zip((cell.outputs[0] for cell in run.cells[1:]), ONCE, strict=True):
        page = shown(nh3.clean(output.data["text/html"]))
        expect(page.get_by_text(re.compile("^" + words))).to_have_count(1)
        assert "--clm" not in page.locator("body").inner_text()
    session = jc.load_all(LOGS)["b3fefa1a"]
    page = shown(nh3.clean(session._repr_mimebundle_()["text/html"]))
    assert page.locator("h3").inner_text() == session.title
    assert page.locator("details").count() > 5
    page.locator("summary").first.click()
    assert page.locator("details[open]").count() > 0
    assert page.locator("h4").first.inner_text() == "You"


def test_where_only_plain_text_is_shown_a_view_is_one_line(run):
    for cell, words in zip(run.cells[1:], ["The watering schedule", "24 sessions", "Plan the beds"], strict=True):
        said = "".join(output.data["text/plain"] for output in cell.outputs)
        assert words in said
        assert "\n" not in said

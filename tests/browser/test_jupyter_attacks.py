"""Hostile logs and databases in every output of ours, live, static and reopened; a control proves that attacks run."""

import json
from pathlib import Path
from zlib import crc32

import pytest
from playwright.sync_api import expect

from support import attacks
from support.lab import Notebook, untrusted
from support.logs import entry, import_logs, session_id, write_log
from support.notebooks import LOGS
from support.planted import plant

pytestmark = pytest.mark.browser
CASES = Path(__file__).parents[1] / "cases"
CASE = CASES / "hostile-markup/input"
TEXTS = [text.encode("utf-8", "replace").decode() for text in attacks.ALL]
COUNTED = "(window.__hits??={{}})[{}]=1"
GROUP = 4


def hostile_log(folder, number, texts):
    """A session that has a text in every field that a log can fill."""
    sid = session_id(number)
    seq = iter(range(10_000))
    entries = [{"type": "custom-title", "customTitle": texts[0], "sessionId": sid}]
    for text in texts:
        where = {"session": sid, "cwd": f"/home/{text}", "gitBranch": text, "version": text}
        call = {"type": "tool_use", "id": text, "name": text, "input": {text: text, "nested": [{text: text}]}}
        bash = {"type": "tool_use", "id": f"b{text}", "name": "Bash", "input": {"command": text, "description": text}}
        edit = {
            "type": "tool_use",
            "id": f"e{text}",
            "name": "Edit",
            "input": {"file_path": text, "old_string": text, "new_string": text * 2},
        }
        image = {"type": "image", "source": {"type": "base64", "media_type": text, "data": "PHN2Zz4="}}
        answers = [
            {"type": "tool_result", "tool_use_id": c["id"], "content": [{"type": "text", "text": text}, image]}
            for c in (call, bash, edit)
        ]
        entries += [
            entry("user", next(seq), text, **where),
            entry(
                "assistant",
                next(seq),
                [{"type": "thinking", "thinking": text}, {"type": "text", "text": text}, call, bash, edit],
                model=text,
                **where,
            ),
            entry("user", next(seq), answers, toolUseResult={"stdout": text, "stderr": text}, **where),
            entry(
                "assistant",
                next(seq),
                [{"type": "text", "text": text}, {"type": text, text: text}],
                model=text,
                **where,
            ),
        ]
    lines = [json.dumps(e).encode() for e in entries]  # lone surrogates need escapes
    return write_log(folder / "projects" / "-home-x" / f"{sid}.jsonl", lines)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("hostile")
    texts = list(attacks.ALL)
    for number, start in enumerate(range(0, len(texts), GROUP), 1):
        hostile_log(path, number, texts[start : start + GROUP])
    return path


def hits(book):
    return book.page.evaluate("() => [...Object.keys(window.__hits ?? {}), ...(window.__hit ? ['hit'] : [])]")


def test_the_control_cell_runs_the_attacks(chromium, lab):
    vectors = [a.replace(attacks.HIT, COUNTED.format(n)) for n, a in enumerate(attacks.MARKUP) if attacks.HIT in a]
    path = lab.write("control.ipynb", [
        f"import json\nfrom IPython.display import HTML, display\nvectors = json.loads({json.dumps(json.dumps(vectors))})",
        "for v in vectors: display(HTML(v))",
        "import ipywidgets\nipywidgets.VBox([ipywidgets.HTML(v) for v in vectors])",
    ])  # fmt: skip
    book = Notebook(chromium, lab).open(path)
    book.run()
    book.page.wait_for_timeout(2000)
    fired = hits(book)
    book.close()
    assert len(fired) >= 15, fired


def test_no_attack_runs_or_loads_anything_live_static_or_reopened(chromium, lab, folder):
    show = "for s in sessions: display(s)\nfor s in case: display(s)"
    path = lab.write("hostile.ipynb", [
        f"import jupyter_clm as jc\nsessions = jc.load_all({str(folder)!r})\ncase = jc.load_all({str(CASE)!r})",
        "assert all(s.snapshot().count('<article') == s.info.chunks for s in sessions), 'an attack is not in a snapshot'\n1",
        "display(sessions, case)",
        show,
        "views = [s.view(page_size=100) for s in [*case, *sessions]]\nfor v in views[:16]: display(v)",  # Lab folds after 50 outputs
        "for v in views[16:]: display(v)",
        "for v in views: v.query = 'readable'",
        "for v in views: v.query = '<script'",
        "for v in views: v.query = '<b>& \\'x\\' \\\"y\\\"'",
    ])  # fmt: skip
    book = Notebook(chromium, lab).open(path)
    book.run()
    expect(book.page.locator(".clm-view")).to_have_count(1 + -(-len(attacks.ALL) // GROUP))
    book.page.wait_for_timeout(1500)
    assert hits(book) == []
    assert book.page.evaluate(FOREIGN) == []
    readable = book.page.locator(".clm-snap").first.inner_text()
    assert attacks.CANARY in readable
    book.save()
    book.shut_down()
    strangers, errors = book.strangers, book.errors
    book.close()
    again = Notebook(chromium, lab).open(path)
    expect(again.page.locator(".clm-snap .clm-chunk").first).to_be_visible()
    again.page.wait_for_timeout(1500)
    assert hits(again) == []
    assert again.page.evaluate(FOREIGN) == []
    again.close()
    assert strangers + again.strangers == []
    assert errors + again.errors == []


def attack(column, before, row):
    """Another one in each column and row; the same one before a key wherever it stands."""
    if column.key:
        return TEXTS[row % len(TEXTS)] + before
    return TEXTS[(row + crc32(f"{column.table}.{column.name}".encode())) % len(TEXTS)]


PLANTED = [
    "import ipywidgets\nimport jupyter_clm as jc\n%load_ext jupyter_clm\ndb = jc.open({path!r})\nsessions = db.sessions",
    "ipywidgets.VBox([s.view(page_size=100, expanded=True) for s in sessions[::2]])",
    "for s in sessions[:4]: display(s.view(query='readable'))",
    "sessions.view(query='readable', selected=sessions[0].id)",
    "for a, b in zip(sessions[:3], sessions[3:6]): display(jc.compare(a, b, page_size=20))",
    "for s in sessions[:8]: display(s[:20], *s.tool_calls[:3])",
    "display(sessions, db, *db.search('readable')[:3])",
    "jc.charts.tool_use(db)",
    "display(db.to_df('sources').head(20), jc.sql('SELECT title, model, git_branch FROM sessions', db))",
    "%clm {path}",
]


def test_attacks_in_every_column_of_a_database_run_nothing_in_any_output(chromium, lab, tmp_path, proved):
    import_logs(tmp_path / "plain.db", LOGS, *CASES.glob("*/input"))
    planted = plant(tmp_path / "plain.db", tmp_path / "planted.db", attack, keys=True)
    assert len(planted) > 100
    cells = [cell.replace("{path!r}", repr(str(tmp_path / "planted.db"))) for cell in PLANTED]
    path = lab.write("planted.ipynb", [cell.replace("{path}", str(tmp_path / "planted.db")) for cell in cells])
    books = [Notebook(chromium, lab).open(path)]
    books[0].run()
    expect(books[0].output(1).locator(".clm-view .clm-chunk").last).to_be_attached()
    expect(books[0].output(4).locator(".clm-pair").last).to_be_attached()
    assert books[0].output(1).locator(".clm-view .clm-chunk").count() > 150
    books[0].page.wait_for_timeout(1500)
    books[0].save()
    books[0].shut_down()
    for reopened in (path, untrusted(lab, path, "planted-untrusted.ipynb")):
        books.append(Notebook(chromium, lab).open(reopened))
        expect(books[-1].output(2).locator(".clm-snap").last).to_be_attached()
        books[-1].page.wait_for_timeout(1000)
    for book in books:
        assert hits(book) == []
        assert book.page.evaluate(FOREIGN) == []
        assert book.page.locator(".clm-root mjx-container, .clm-root .MathJax").count() == 0
        assert (book.strangers, book.errors) == ([], [])
        assert book.page.locator("body").inner_text().count(attacks.CANARY) > 50
        book.close()
    proved("columns with attacks in them, looked at in a notebook", len(planted))


FOREIGN = """() => {
  const bad = [];
  for (const root of document.querySelectorAll('.clm-root')) {
    for (const e of root.querySelectorAll('script, iframe, object, embed, svg, math, form, base, meta, link, video, audio, template'))
      bad.push(e.outerHTML.slice(0, 100));
    for (const e of root.querySelectorAll('*')) for (const a of e.attributes) {
      if (a.name.startsWith('on') || /^\\s*(javascript|vbscript):/i.test(a.value)) bad.push(e.outerHTML.slice(0, 100));
      if ((a.name === 'href' || a.name === 'src') && !/^(https?:|mailto:|#|data:image\\/(png|jpeg|gif|webp);)/.test(a.value)) bad.push(a.value.slice(0, 100));
    }
  }
  return bad;
}"""
"""What no output of ours may hold, whatever the log says."""

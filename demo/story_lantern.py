"""Lantern, a static site generator in Python, on a Windows machine: tags that must not come alive, and local commands."""

from __future__ import annotations

from claude_log import ClaudeLog
from parts import OPUS, Think
from pen import Shelf, uuid_for
from tools import Files, bash, bash_fails, grep

FOLDER, CWD = "C--Work-lantern", "C:\\Work\\lantern"
PAGE = '''
"""One Markdown file in, one HTML page out."""

import html
import re

SHELL = "<!doctype html><title>{title}</title><main>{body}</main>"


def inline(text):
    """Emphasis and code; everything else is left alone."""
    text = re.sub(r"`([^`]+)`", r"<code>\\1</code>", text)
    return re.sub(r"\\*([^*]+)\\*", r"<em>\\1</em>", text)


def page(title, paragraphs):
    body = "".join(f"<p>{inline(p)}</p>" for p in paragraphs)
    return SHELL.format(title=title, body=body)
'''
POST = """
# How not to hide a lamp

To embed a widget you write `<script src="lamp.js"></script>` into the page.
Some people try <img src=x onerror="alert('boo')"> instead, and *regret it*.
"""


def fresh_files() -> Files:
    return Files(
        CWD,
        {
            "lantern/page.py": PAGE,
            "posts/lamp.md": POST,
            "static/site.css": "nav { float: right; margin-top: -3em; }\n",
        },
    )


def tags(log: ClaudeLog, files: Files) -> None:
    log.say(
        [
            {
                "type": "text",
                "text": "<ide_opened_file>The user opened the file C:\\Work\\lantern\\posts\\lamp.md in the IDE.</ide_opened_file>",
            },
            {
                "type": "text",
                "text": "My post explains `<script>alert('hello')</script>` and the page really says hello. How do I show a <script> tag "
                'without running it? And is <b>this</b> & "that" safe?',
            },
        ],
    )
    log.asked = log.clock
    log.reply(
        Think(
            "inline() never escapes. The order matters: escape first, then add our own tags, or `<code>` itself gets escaped."
        ),
        files.read("lantern/page.py"),
        files.read("posts/lamp.md"),
    )
    log.reply(
        """Your page trusts the post. Everything in it reaches the browser as markup, so `<script>` runs and `onerror` fires.

The cure is one line, **in the right place**: escape the text *before* adding your own tags.

| text in the post | now | with escaping |
|---|---|---|
| `<script>alert(1)</script>` | runs | shown |
| `<img src=x onerror=...>` | runs | shown |
| `a & b` | broken entity | `a &amp; b` |
| `*soft*` | <em>soft</em> | still *soft* |

```html
<p>To embed a widget you write <code>&lt;script src=&quot;lamp.js&quot;&gt;&lt;/script&gt;</code></p>
```""",
        files.edit(
            "lantern/page.py",
            '    text = re.sub(r"`([^`]+)`"',
            '    text = html.escape(text)  # before our own tags, or they would be escaped too\n    text = re.sub(r"`([^`]+)`"',
        ),
        files.edit(
            "lantern/page.py",
            "    return SHELL.format(title=title, body=body)",
            "    return SHELL.format(title=html.escape(title), body=body)",
        ),
    )
    escaped_twice(log)


def escaped_twice(log: ClaudeLog) -> None:
    log.reply(
        bash_fails(
            "python -m pytest tests -q",
            "F.                                                                   [100%]\r\n"
            "E   AssertionError: assert '&lt;script' in '<p>&amp;lt;script'\r\n"
            "FAILED tests\\test_page.py::test_a_script_is_shown - the post was escaped twice",
        ),
    )
    log.reply(
        "Escaped twice: the caller did it by hand in one place. I'll take that one out.",
        grep(
            "html.escape",
            "lantern\\build.py:31:    text = html.escape(source.read_text())\nlantern\\page.py:11:    text = html.escape(text)",
        ),
        bash(
            "(Get-Content lantern\\build.py) -replace 'html.escape\\(source.read_text\\(\\)\\)', 'source.read_text()' | Set-Content lantern\\build.py; python -m pytest tests -q",
            "..                                                                   [100%]\r\n2 passed in 0.06s",
        ),
    )
    log.reply(
        "Now each text is escaped **once**, at the place where it becomes HTML. `<script>` in a post is a word like any other."
    )


def menu(log: ClaudeLog, files: Files) -> None:
    log.prompt("It does not say hello any more! But now look at the menu: it lies on top of the title.", "page-broken")
    log.reply(
        Think("Negative margin in site.css. Flex instead of float."),
        files.read("static/site.css"),
        files.edit(
            "static/site.css",
            "nav { float: right; margin-top: -3em; }",
            "header { display: flex; justify-content: space-between; }",
        ),
    )
    log.reply(
        "A negative margin pulled it up. The header is a flex row now; let me look at the result.",
        files.look("shots/after.png", "page-fixed"),
    )
    log.reply(
        "The menu sits beside the title, and the code box shows the tag as text:\n\n"
        "1. header: `display: flex`\n2. no negative margins left\n3. the script tag is still only *text*\n\n"
        "[A link that must stay dead](javascript:alert(1)) and one that works: [the style guide](https://lantern.example/style).",
    )


def first(shelf: Shelf) -> None:
    log = ClaudeLog(
        shelf,
        FOLDER,
        "tags",
        start="2026-02-24 16:48",
        cwd=CWD,
        version="2.1.40",
        branch="escape",
        slug="soft-amber-wick",
    )
    log.put(
        {
            "type": "summary",
            "summary": "Lantern: show tags without running them",
            "leafUuid": uuid_for("another machine"),
        }
    )
    files = fresh_files()
    tags(log, files)
    menu(log, files)
    log.put({"type": "summary", "summary": "Show <script> tags without running them", "leafUuid": log.parent})
    log.close()


def commands(log: ClaudeLog) -> None:
    """What a person types to the program rather than to the model."""
    log.shell("git status --short", " M lantern/page.py\n?? shots/")
    log.shell(
        'python -c "import lantern; print(lantern.__version__)"',
        "",
        "Traceback (most recent call last):\nAttributeError: module 'lantern' has no attribute '__version__'",
    )
    log.command(
        "status",
        "",
        "\x1b[1mLantern\x1b[22m\n  Model: \x1b[36mclaude-sonnet-4-5-20250929\x1b[39m\n  Folder: C:\\Work\\lantern",
    )
    log.command("frobnicate", "now", error="Unknown command: /frobnicate")
    log.entry(
        "system",
        subtype="local_command",
        level="info",
        isMeta=False,
        content="<command-name>/mcp</command-name>\n<command-message>mcp</command-message>\n<command-args></command-args>",
    )
    log.entry(
        "system",
        subtype="local_command",
        level="info",
        isMeta=False,
        content="<local-command-stdout>No servers are connected.</local-command-stdout>",
    )
    log.command("clear-cache", "", "")


def drafts(log: ClaudeLog, files: Files) -> None:
    log.prompt("Hide posts whose first line says `draft`. And what did you change in page.py yesterday?")
    log.reply(
        bash(
            "git diff HEAD~1 --stat",
            " lantern/build.py | 2 +-\r\n lantern/page.py  | 3 ++-\r\n 2 files changed, 3 insertions(+), 2 deletions(-)",
        ),
        grep("draft", ""),
    )
    log.reply(
        files.write(
            "lantern/drafts.py",
            '''
"""Which posts the world may see."""


def is_draft(text):
    first = text.lstrip("\\ufeff").splitlines()[:1]
    return bool(first) and first[0].strip().lower() == "draft"
''',
        ),
    )
    log.cwd = CWD + "\\lantern"
    log.reply(
        bash(
            "python -m pytest ..\\tests -q",
            "...                                                                  [100%]\r\n3 passed in 0.07s",
        )
    )
    log.cwd = CWD
    log.reply(
        "Drafts stay home now. Yesterday I changed two lines in `page.py` (escaping) and one in `build.py` (no second escaping)."
    )


def second(shelf: Shelf) -> None:
    """Written with a byte order mark and Windows line ends."""
    log = ClaudeLog(
        shelf,
        FOLDER,
        "drafts",
        start="2026-02-25 08:05",
        cwd=CWD,
        version="2.1.79",
        model=OPUS,
        branch="drafts",
        slug="early-paper-moon",
    )
    files = fresh_files()
    commands(log)
    drafts(log, files)
    log.compact(
        "This session continues an earlier one. So far: posts that begin with `draft` are hidden (`lantern/drafts.py`), "
        "three tests pass, and nothing is committed yet. Next: the archive page.",
        trigger="manual",
    )
    log.command("compact", "", "Compacted. The summary is shown above.")
    log.say("<user-memory-input>Dates in posts are written as 24 February 2026.</user-memory-input>")
    log.prompt("Now the archive page: one line per post, newest first.")
    log.reply(
        files.write(
            "lantern/archive.py",
            '''
"""All posts on one page."""

from operator import attrgetter


def archive(posts):
    newest = sorted(posts, key=attrgetter("date"), reverse=True)
    return "\\n".join(f"- {post.date:%d %B %Y}: {post.title}" for post in newest)
''',
        ),
    )
    log.reply(
        "`lantern/archive.py` sorts by date and writes one line per post, with dates as you like them: *24 February 2026*."
    )
    log.fact("custom-title", customTitle="Drafts stay home")
    log.end_turn()
    log.lines = [b"\xef\xbb\xbf" + log.lines[0].replace(b"\n", b"\r\n")] + [
        row.replace(b"\n", b"\r\n") for row in log.lines[1:]
    ]
    log.close()


def write(shelf: Shelf) -> None:
    first(shelf)
    second(shelf)

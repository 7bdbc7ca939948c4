"""Tool calls as Claude Code writes them, and a folder of invented files the stories read and edit."""

from __future__ import annotations

import base64
import difflib
from collections.abc import Callable

import pictures
from claude_log import ClaudeLog
from parts import Agent, Tool, image
from pen import Json


def numbered(text: str, start: int = 1) -> str:
    """Text as the Read tool shows it."""
    return "\n".join(f"{number:6}→{row}" for number, row in enumerate(text.splitlines(), start))


def patch(old: str, new: str) -> list[dict[str, Json]]:
    """The hunks between two texts, as ``structuredPatch`` holds them."""
    before, after, hunks = old.splitlines(), new.splitlines(), []
    for group in difflib.SequenceMatcher(None, before, after, autojunk=False).get_grouped_opcodes(3):
        lines: list[str] = []
        for tag, a, b, c, d in group:
            if tag == "equal":
                lines += [" " + row for row in before[a:b]]
                continue
            lines += ["-" + row for row in before[a:b]] + ["+" + row for row in after[c:d]]
        (_, a, _, c, _), (_, _, b, _, d) = group[0], group[-1]
        hunks.append({"oldStart": a + 1, "oldLines": b - a, "newStart": c + 1, "newLines": d - c, "lines": lines})
    return hunks


class Files:
    """A folder of invented text files. What is read is what was last written."""

    def __init__(self, root: str, texts: dict[str, str]) -> None:
        self.root, self.texts = root, {name: text.lstrip("\n") for name, text in texts.items()}

    def path(self, name: str) -> str:
        return self.root + ("\\" + name.replace("/", "\\") if "\\" in self.root else "/" + name)

    def read(self, name: str) -> Tool:
        text = self.texts[name]
        rows = len(text.splitlines())
        file = {"filePath": self.path(name), "content": text, "numLines": rows, "startLine": 1, "totalLines": rows}
        return Tool("Read", {"file_path": self.path(name)}, numbered(text), {"type": "text", "file": file}, seconds=0.1)

    def write(self, name: str, text: str) -> Tool:
        text, old, path = text.lstrip("\n"), self.texts.get(name), self.path(name)
        self.texts[name] = text
        detail = {
            "type": "update" if old else "create",
            "filePath": path,
            "content": text,
            "structuredPatch": patch(old, text) if old else [],
            "originalFile": old,
        }
        said = f"The file {path} has been updated." if old else f"File created successfully at: {path}"
        return Tool("Write", {"file_path": path, "content": text}, said, detail, seconds=0.2)

    def _change(self, name: str, old: str, new: str) -> None:
        if self.texts[name].count(old) != 1:
            raise ValueError(f"{name}: the text to replace must stand in it once")
        self.texts[name] = self.texts[name].replace(old, new)

    def edit(self, name: str, old: str, new: str) -> Tool:
        old, new = old.strip("\n"), new.strip("\n")
        whole, path = self.texts[name], self.path(name)
        self._change(name, old, new)
        detail = {
            "filePath": path,
            "oldString": old,
            "newString": new,
            "originalFile": whole,
            "structuredPatch": patch(whole, self.texts[name]),
            "userModified": False,
            "replaceAll": False,
        }
        given = {"file_path": path, "old_string": old, "new_string": new, "replace_all": False}
        return Tool("Edit", given, f"The file {path} has been updated successfully.", detail, seconds=0.2)

    def multi_edit(self, name: str, *pairs: tuple[str, str]) -> Tool:
        whole, path = self.texts[name], self.path(name)
        for old, new in pairs:
            self._change(name, old, new)
        edits = [{"old_string": old, "new_string": new, "replace_all": False} for old, new in pairs]
        detail = {
            "filePath": path,
            "edits": edits,
            "originalFileContents": whole,
            "structuredPatch": patch(whole, self.texts[name]),
            "userModified": False,
        }
        said = f"Applied {len(edits)} edits to {path}"
        return Tool("MultiEdit", {"file_path": path, "edits": edits}, said, detail, seconds=0.3)

    def look(self, name: str, picture: str) -> Tool:
        """Read a picture."""
        block = image(picture)
        data = pictures.load(picture)
        file = {"base64": base64.b64encode(data).decode(), "type": "image/png", "originalSize": len(data)}
        return Tool("Read", {"file_path": self.path(name)}, [block], {"type": "image", "file": file}, seconds=0.2)


def bash(command: str, out: str = "", why: str = "", *, seconds: float = 0.6, **more: Json) -> Tool:
    """A command that worked."""
    out, error = out.strip("\n"), more.pop("stderr", "")
    detail = {"stdout": out, "stderr": error, "interrupted": False, "isImage": False, "noOutputExpected": not out}
    given = {"command": command, **({"description": why} if why else {})}
    shown = "\n".join(filter(None, (out, error))) or "(Bash completed with no output)"
    return Tool("Bash", given, shown, detail, seconds=seconds, **more)


def bash_fails(command: str, out: str, why: str = "", *, code: int = 1, seconds: float = 1.1) -> Tool:
    """A command that did not."""
    out = f"Exit code {code}\n{out.strip()}"
    given = {"command": command, **({"description": why} if why else {})}
    return Tool("Bash", given, out, "Error: " + out, error=True, seconds=seconds)


def bash_stopped(command: str, out: str, *, seconds: float = 31) -> Tool:
    """A command the person stopped while it ran."""
    detail = {"stdout": out, "stderr": "", "interrupted": True, "isImage": False}
    shown = out + "\n<error>Command was aborted before completion</error>"
    return Tool("Bash", {"command": command}, shown, detail, error=True, seconds=seconds)


def refused(call: Tool) -> Tool:
    """The same call, turned down by the person."""
    call.output, call.detail, call.error = "The user did not allow this tool use.", "User rejected tool use", True
    call.seconds = 9
    return call


def grep(pattern: str, rows: str, path: str = "", **options: Json) -> Tool:
    """A search that shows lines."""
    lines = rows.strip().splitlines()
    given = {"pattern": pattern, **({"path": path} if path else {}), "output_mode": "content", "-n": True, **options}
    detail = {"mode": "content", "filenames": [], "numFiles": 0, "content": rows.strip(), "numLines": len(lines)}
    return Tool("Grep", given, rows.strip() or "No matches found", detail, seconds=0.2)


def glob(pattern: str, *names: str) -> Tool:
    detail = {"filenames": list(names), "durationMs": 14, "numFiles": len(names), "truncated": False}
    return Tool("Glob", {"pattern": pattern}, "\n".join(names) or "No files found", detail, seconds=0.1)


def fetch(url: str, question: str, answer: str, *, code: int = 200) -> Tool:
    """A page, read by a small model."""
    answer = answer.strip()
    words = {200: "OK", 404: "Not Found"}[code]
    detail = {"bytes": 18_204, "code": code, "codeText": words, "result": answer, "durationMs": 2_310, "url": url}
    return Tool("WebFetch", {"url": url, "prompt": question}, answer, detail, seconds=2.4)


def search(query: str, *found: tuple[str, str]) -> Tool:
    links = [{"title": title, "url": url} for title, url in found]
    said = f'Web search results for query: "{query}"\n\nLinks: ' + "".join(f"\n- [{t}]({u})" for t, u in found)
    detail = {
        "query": query,
        "results": [{"tool_use_id": "srvtoolu_demo", "content": links}, "Three pages, one of them useful."],
        "durationSeconds": 3.2,
    }
    return Tool("WebSearch", {"query": query}, said, detail, seconds=3.3)


def todos(log: ClaudeLog, *items: str) -> Tool:
    """The whole list; ``x`` before an item is done, ``>`` is at work, a blank is to do."""
    states = {"x": "completed", ">": "in_progress", " ": "pending"}
    rows = [{"content": i[2:], "status": states[i[0]], "activeForm": "Working: " + i[2:].lower()} for i in items]
    old, log.todos = log.todos, rows
    said = "Todos have been modified successfully."
    return Tool("TodoWrite", {"todos": rows}, said, {"oldTodos": old, "newTodos": rows}, seconds=0.1)


def ask(question: str, header: str, options: dict[str, str], answer: str | None, *, seconds: float = 21) -> Tool:
    """A question with choices; ``answer`` None: still open."""
    choices = [{"label": label, "description": text} for label, text in options.items()]
    asked = [{"question": question, "header": header, "options": choices, "multiSelect": False}]
    if answer is None:
        return Tool("AskUserQuestion", {"questions": asked}, None)
    said = f'The user answered: "{question}" = "{answer}".'
    detail = {"questions": asked, "answers": {question: answer}}
    return Tool("AskUserQuestion", {"questions": asked}, said, detail, seconds=seconds)


def plan(text: str, path: str, *, accepted: bool = True) -> Tool:
    text = text.strip()
    call = Tool("ExitPlanMode", {"plan": text}, "The user has approved the plan. You can start.", seconds=40)
    call.detail = {"plan": text, "isAgent": False, "filePath": path}
    return call if accepted else refused(call)


def skill(name: str, base: str, body: str) -> Tool:
    """A skill and the text it put into the conversation."""
    then = f"Base directory for this skill: {base}\n\n{body.strip()}"
    return Tool("Skill", {"skill": name}, f"Launching skill: {name}", {"success": True, "commandName": name}, then=then)


def mcp(server: str, name: str, given: dict[str, Json], output: Json, **more: Json) -> Tool:
    """A tool of a connected server."""
    return Tool(f"mcp__{server}__{name}", given, output, **more)


def spawn(
    what: str,
    prompt: str,
    story: Callable[[ClaudeLog], None],
    ident: str,
    *,
    kind: str = "general-purpose",
    **more: Json,
) -> Tool:
    """A call that sends an agent; ``tool`` is Task up to 2.1.62, then Agent. The rest describes the ``Agent``."""
    name = more.pop("tool", "Task")
    given = {"description": what, "prompt": prompt, "subagent_type": kind, **more.pop("given", {})}
    detail, output = more.pop("detail", None), more.pop("output", "")
    during = more.pop("during", ())
    agent = Agent(ident, prompt, story, **more)
    return Tool(name, given, output, detail, agent=agent, during=during)

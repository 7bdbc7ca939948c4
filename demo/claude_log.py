"""A pen for invented Claude Code logs: it knows how records look and hang together, the stories know what they say.

One reply of the model becomes several records with one message id and growing usage; tool results hang on their
own call, in the order in which they finished; an agent's log is written while its call is running.
"""

from __future__ import annotations

import base64
from hashlib import sha256

from parts import SONNET, Agent, Raw, Think, Tool, image
from pen import Dice, Json, Shelf, iso, line, milliseconds, token, uuid_for

EMPTY_USAGE = {
    "input_tokens": 0,
    "cache_creation_input_tokens": 0,
    "cache_read_input_tokens": 0,
    "output_tokens": 0,
}


class ClaudeLog:
    """One log file. Time only moves when something happens; ``wait`` moves it by hand."""

    def __init__(self, shelf: Shelf, folder: str, title: str, *, cwd: str, version: str, **more: Json) -> None:
        self.shelf, self.folder, self.title = shelf, folder, title
        self.session: str = more.get("session") or uuid_for(f"{folder}/{title}")
        self.agent: str | None = more.get("agent")
        self.path: str = more.get("path") or f"{self.session}.jsonl"
        self.model: str = more.get("model", SONNET)
        self.cwd, self.version, self.branch = cwd, version, more.get("branch", "main")
        self.slug: str | None = more.get("slug")
        self.weight: float = more.get("weight", 2.5)  # how much bigger than the text the context is said to be
        self.clock: int = more.get("clock") or milliseconds(more["start"])
        self.dice = Dice(f"{self.session}/{self.agent}")
        self.lines: list[bytes] = []
        self.parent: str | None = None
        self.context, self.unread, self.spent, self.calls = 14_200, 900, 0, 0
        self.asked: int | None = None
        self.said = ""
        self.todos: list[dict[str, str]] = []

    # -- records

    @property
    def numbers(self) -> tuple[int, ...]:
        """The version as numbers, to ask which era a log is of."""
        return tuple(map(int, self.version.split(".")))

    def put(self, record: Json) -> None:
        """A record as it stands; facts without uuid or time."""
        self.lines.append(line(record))

    def fact(self, kind: str, **own: Json) -> None:
        """A bookkeeping record of this session."""
        self.put({"type": kind, **own, "sessionId": self.session})

    def stamped(self, kind: str, **own: Json) -> None:
        """A record with a time, outside the chain."""
        self.put({"type": kind, **own, "timestamp": iso(self.clock), "sessionId": self.session})

    def entry(self, kind: str, *, parent: str | None = "", at: int | None = None, **own: Json) -> str:
        """A record in the chain of this log; gives back its uuid. ``parent`` "" is the record before."""
        name = uuid_for(self.dice.fresh())
        record = {
            "parentUuid": self.parent if parent == "" else parent,
            "isSidechain": self.agent is not None,
            "userType": "external",
            "cwd": self.cwd,
            "sessionId": self.session,
            "version": self.version,
            "gitBranch": self.branch,
            **({"agentId": self.agent} if self.agent else {}),
            **({"slug": self.slug} if self.slug else {}),
            "type": kind,
            **own,
            "uuid": name,
            "timestamp": iso(self.clock if at is None else at),
        }
        self.put(record)
        self.parent = name
        return name

    def wait(self, seconds: float) -> None:
        self.clock += int(seconds * 1000)

    def close(self) -> None:
        """Put the file on the shelf."""
        self.end_turn()
        self.shelf.put(f"claude/projects/{self.folder}/{self.path}", b"".join(self.lines))

    # -- the person

    def say(self, content: Json, **own: Json) -> str:
        """A user record of any kind."""
        self.unread += self.size(content)
        return self.entry("user", message={"role": "user", "content": content}, **own)

    def prompt(self, text: str, *shown: str, wait: float | None = None, **own: Json) -> str:
        """A prompt somebody typed (in an agent's log: the agent's orders), with pictures by name."""
        self.end_turn()
        if self.agent is None:
            self.wait(self.dice.between(20, 200) if wait is None else wait)
            self._snapshot()
        self.asked = self.clock
        return self.say([*map(image, shown), {"type": "text", "text": text}] if shown else text, **own)

    def _snapshot(self) -> None:
        if self.numbers < (2, 0):
            return
        name = uuid_for(f"{self.dice.key}/snapshot/{self.dice.throws}")
        backup = {"backupFileName": token("", name, 16) + "@v1", "version": 1, "backupTime": iso(self.clock)}
        files = {"README.md": backup} if self.dice.throws % 3 == 0 else {}
        snapshot = {"messageId": name, "trackedFileBackups": files, "timestamp": iso(self.clock)}
        self.put(
            {"type": "file-history-snapshot", "messageId": name, "snapshot": snapshot, "isSnapshotUpdate": False},
        )

    def end_turn(self) -> None:
        """The line that says how long the turn took."""
        if self.asked is not None and self.agent is None and self.numbers > (2, 1, 0) and self.clock > self.asked:
            self._stop_hook()
            self.entry("system", subtype="turn_duration", durationMs=self.clock - self.asked, isMeta=False)
        self.asked = None

    def _stop_hook(self) -> None:
        """Every few turns a hook ran at the end."""
        if self.dice.between(0, 4):
            return
        self.entry(
            "system",
            subtype="stop_hook_summary",
            hookCount=1,
            hookInfos=[{"command": "./tools/tidy.sh"}],
            hookErrors=[],
            preventedContinuation=False,
            stopReason="",
            hasOutput=False,
            level="suggestion",
            toolUseID=uuid_for(self.dice.fresh()),
        )

    def attach(self, kind: str, **own: Json) -> None:
        """Something the program added to the context (newer versions)."""
        self.entry("attachment", attachment={"type": kind, **own})

    def command(self, name: str, args: str = "", out: str | None = None, error: str | None = None) -> None:
        """A slash command and what it printed."""
        self.end_turn()
        self.wait(self.dice.between(8, 60))
        caveat = "Caveat: the messages below were made by local commands. They need no answer."
        self.say(f"<local-command-caveat>{caveat}</local-command-caveat>", isMeta=True)
        self.say(
            f"<command-name>/{name}</command-name>\n            <command-message>{name}</command-message>\n"
            f"            <command-args>{args}</command-args>",
        )
        if out is not None:
            self.say(f"<local-command-stdout>{out}</local-command-stdout>")
        if error is not None:
            self.say(f"<local-command-stderr>{error}</local-command-stderr>")

    def shell(self, command: str, out: str, error: str = "") -> None:
        """A command typed after an exclamation mark, and its output."""
        self.end_turn()
        self.wait(self.dice.between(8, 60))
        self.say(f"<bash-input>{command}</bash-input>")
        self.wait(0.4)
        self.say(f"<bash-stdout>{out}</bash-stdout><bash-stderr>{error}</bash-stderr>")

    def remind(self, text: str) -> None:
        """A reminder the program slipped in; nobody typed it."""
        self.say(f"<system-reminder>\n{text}\n</system-reminder>", isMeta=True)

    def interrupt(self, *, tool: bool = False) -> None:
        self.wait(1.3)
        marker = "[Request interrupted by user for tool use]" if tool else "[Request interrupted by user]"
        self.say([{"type": "text", "text": marker}])

    def notice(self, **tags: str) -> None:
        """A notice that a background task has ended."""
        self.end_turn()
        body = "\n".join(f"<{tag.replace('_', '-')}>{text}</{tag.replace('_', '-')}>" for tag, text in tags.items())
        self.say(f"<task-notification>\n{body}\n</task-notification>", origin={"kind": "task-notification"})

    def compact(self, summary: str, *, trigger: str = "auto", left: int = 9_800) -> None:
        """The context is folded into a summary."""
        self.end_turn()
        before, last = self.context + self.unread, self.parent
        self.wait(48)
        self.entry(
            "system",
            parent=None,
            logicalParentUuid=last,
            subtype="compact_boundary",
            content="Conversation compacted",
            isMeta=False,
            level="info",
            compactMetadata={"trigger": trigger, "preTokens": before},
        )
        self.say(summary, isVisibleInTranscriptOnly=True, isCompactSummary=True)
        self.context, self.unread = 14_200 + left, 600

    # -- the model

    def reply(self, *parts: str | Think | Tool | Raw, model: str | None = None, done: bool | None = None) -> None:
        """One reply of the API, a record per part, then the results of its calls."""
        key = self.dice.fresh()
        cost = sum(map(self.size, parts)) + 12
        base = {
            "input_tokens": self.dice.between(3, 11),
            "cache_creation_input_tokens": self.unread,
            "cache_read_input_tokens": self.context,
            "cache_creation": {"ephemeral_5m_input_tokens": self.unread, "ephemeral_1h_input_tokens": 0},
        }
        self.context, self.unread = self.context + self.unread, cost
        self.spent += cost
        placed: list[tuple[Tool, str]] = []
        self.wait(self.dice.between(1200, 3400) / 1000)
        for number, part in enumerate(parts, 1):
            last = number == len(parts)
            self.wait(self.size(part) / 75 + 0.2)
            usage = {**base, "output_tokens": cost if last else min(cost, number * 3), "service_tier": "standard"}
            stop = "tool_use" if any(isinstance(p, Tool) for p in parts) else "end_turn"
            message = {
                "model": model or self.model,
                "id": token("msg_01", key),
                "type": "message",
                "role": "assistant",
                "content": [self._block(part)],
                "stop_reason": stop if last and done is not False else None,
                "stop_sequence": None,
                "usage": usage,
            }
            name = self.entry("assistant", message=message, requestId=token("req_011C", key, 20))
            if isinstance(part, Tool):
                placed.append((part, name))
            elif isinstance(part, str):
                self.said = part
        self._answer(placed)

    def size(self, part: Json) -> int:
        """Tokens, roughly: a quarter of the letters of what the model said, more for what it read."""
        if isinstance(part, Tool):
            return len(str(part.input)) // 4 + 10
        if isinstance(part, Think):
            return len(part.text) // 4 + 1
        if isinstance(part, str):
            return len(part) // 4 + 1
        if isinstance(part, list):
            return sum(1_400 if b.get("type") == "image" else len(str(b)) // 4 for b in part)
        return 20

    def _block(self, part: str | Think | Tool | Raw) -> dict[str, Json]:
        if isinstance(part, Raw):
            return part.block
        if isinstance(part, str):
            return {"type": "text", "text": part}
        if isinstance(part, Think):
            seal = base64.b64encode(sha256(part.text.encode()).digest() * 3).decode()
            return {"type": "thinking", "thinking": "" if part.hidden else part.text, "signature": seal}
        part.id = part.id or token("toolu_01", self.dice.fresh())
        self.calls += 1
        return {"type": "tool_use", "id": part.id, "name": part.name, "input": part.input}

    def _answer(self, placed: list[tuple[Tool, str]]) -> None:
        """The results of one reply's calls, first finished first."""
        started = self.clock
        ends = {tool.id: started + int(tool.seconds * 1000) for tool, _ in placed}
        for number, (tool, _) in enumerate(placed):
            if tool.agent:
                ends[tool.id] = max(ends[tool.id], self._send(tool, started + 40 * number))
        for tool, name in sorted(placed, key=lambda pair: ends[pair[0].id]):
            if tool.output is None:
                continue
            self._progress(tool, started, ends[tool.id])
            self.clock = max(self.clock, ends[tool.id])
            self._result(tool, name)

    def _progress(self, tool: Tool, start: int, end: int) -> None:
        for number, data in enumerate(tool.during, 1):
            at = start + (end - start) * number // (len(tool.during) + 1)
            kind = data["type"].split("_")[0]
            self.entry("progress", at=at, data=data, toolUseID=f"{kind}-progress-{number - 1}", parentToolUseID=tool.id)

    def _result(self, tool: Tool, name: str) -> None:
        output, detail = tool.output, tool.detail
        if tool.keep_whole:
            path = f"{self.session}/tool-results/{tool.id}.txt"
            self.shelf.put(f"claude/projects/{self.folder}/{path}", tool.keep_whole.encode())
            output = output.format(path=f"/home/dev/.claude/projects/{self.folder}/{path}")
        result = {"tool_use_id": tool.id, "type": "tool_result", "content": output}
        if tool.error:
            result["is_error"] = True
        self.unread += int((self.size(output) + self.dice.between(20, 240)) * self.weight)
        own: dict[str, Json] = {} if detail is None else {"toolUseResult": detail}
        self.entry(
            "user",
            parent=name,
            message={"role": "user", "content": [result]},
            **own,
            sourceToolAssistantUUID=name,
        )
        if tool.then:
            self.say([{"type": "text", "text": tool.then}], isMeta=True, sourceToolUseID=tool.id)

    def sub(self, agent: Agent, start: int) -> ClaudeLog:
        """The empty log of an agent of this session."""
        return ClaudeLog(
            self.shelf,
            self.folder,
            self.title,
            cwd=self.cwd,
            version=self.version,
            session=self.session,
            agent=agent.id,
            path=agent.place.format(session=self.session, id=agent.id),
            model=agent.model,
            branch=self.branch,
            slug=self.slug,
            clock=start,
        )

    def _send(self, tool: Tool, start: int) -> int:
        """Write the log of the agent a call set off; when the call's result comes."""
        agent = tool.agent
        if agent is None:
            return start
        log = self.sub(agent, start + 150)
        log.prompt(agent.prompt)
        agent.story(log)
        log.close()
        if agent.meta is not None:
            meta = line({key: tool.id if value == "{call}" else value for key, value in agent.meta.items()})
            place = agent.place.format(session=self.session, id=agent.id).replace(".jsonl", ".meta.json")
            self.shelf.put(f"claude/projects/{self.folder}/{place}", meta)
        if not agent.waits:
            return start + 400
        tool.output = [{"type": "text", "text": log.said}]
        tool.detail = {
            "status": "completed",
            "prompt": agent.prompt,
            **({"agentId": agent.id} if agent.named else {}),
            "content": tool.output,
            "totalDurationMs": log.clock - start,
            "totalTokens": log.context + log.unread,
            "totalToolUseCount": log.calls,
            **(tool.detail or {}),
        }
        return log.clock + 90

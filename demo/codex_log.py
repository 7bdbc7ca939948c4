"""Writes rollouts as Codex does: everything said twice, running totals, threads that begin with a copy of another."""

from __future__ import annotations

import json
import uuid
from hashlib import sha256

from pen import Dice, Json, Shelf, iso, line, milliseconds, token

MODEL, SMALL = "gpt-5.3-codex", "gpt-5.3-codex-mini"
CONTEXT = 272_000


def uuid_at(at: int, key: str) -> str:
    """A version 7 UUID of that time, made of ``key`` alone."""
    number = int.from_bytes(sha256(key.encode()).digest()[:10], "big")
    value = at << 80 | 7 << 76 | (number >> 68) << 64 | 2 << 62 | number & (1 << 62) - 1
    return str(uuid.UUID(int=value))


class CodexLog:
    """One rollout."""

    def __init__(
        self, shelf: Shelf, key: str, start: str | int, cwd: str, *, branch: str = "main", model: str = MODEL,
        archived: bool = False, above: CodexLog | None = None, agent: str = "", **more: Json,
    ) -> None:  # fmt: skip
        self.shelf, self.key, self.cwd, self.model, self.archived = shelf, key, cwd, model, archived
        self.dice, self.at = Dice(f"codex/{key}"), start if isinstance(start, int) else milliseconds(start)
        self.began, self.id = self.at, uuid_at(self.at, f"thread/{key}")
        self.records: list[tuple[str, Json]] = []
        self.stamps: list[int] = []
        self.total, self.last = [0, 0, 0, 0], [0, 0, 0, 0]
        self.read, self.turn = 6_000, ""
        self.meta: Json = {
            "id": self.id, "timestamp": iso(self.at), "cwd": cwd, "originator": "codex_cli_rs",
            "cli_version": "0.140.0", "source": "cli", "model_provider": "openai",
            "base_instructions": {"text": "(the instructions of the program)"}, "git": {"branch": branch}, **more,
        }  # fmt: skip
        if above is not None:
            self._copy(above, agent)
        else:
            self._write("session_meta", self.meta)
            self._greet()

    def _copy(self, above: CodexLog, agent: str) -> None:
        """Begin with all that was said so far in another thread, as if it were said now."""
        self.meta["forked_from_id"] = above.id
        if agent:
            spawn = {"parent_thread_id": above.id, "depth": 1, "agent_nickname": "Pippin", "agent_role": agent}
            self.meta["source"] = {"subagent": {"thread_spawn": spawn}}
        self._write("session_meta", self.meta)
        for kind, payload in above.records:
            self._write(kind, payload, 0)
        self.total, self.last, self.read = list(above.total), list(above.last), above.read

    def _write(self, kind: str, payload: Json, seconds: float = 0.01) -> None:
        self.records.append((kind, payload))
        self.stamps.append(self.at)
        self.at += int(seconds * 1000)

    def _event(self, kind: str, seconds: float = 0.01, **payload: Json) -> None:
        self._write("event_msg", {"type": kind, **payload}, seconds)

    def _item(self, kind: str, seconds: float = 0.01, **payload: Json) -> None:
        self._write("response_item", {"type": kind, **payload}, seconds)

    def _message(self, role: str, *texts: str, **more: Json) -> None:
        part = "output_text" if role == "assistant" else "input_text"
        self._item("message", role=role, content=[{"type": part, "text": text} for text in texts], **more)

    def _greet(self) -> None:
        self._message("developer", "<permissions instructions>\nWork below the folder.\n</permissions instructions>")
        self._message(
            "user",
            f"# AGENTS.md instructions for {self.cwd}\n\n<INSTRUCTIONS>\nTests before code.\n</INSTRUCTIONS>",
            f"<environment_context>\n  <cwd>{self.cwd}</cwd>\n  <shell>bash</shell>\n</environment_context>",
        )

    def asks(self, text: str, wait: float = 40) -> None:
        """A person types a prompt, which begins a turn."""
        self.at += int(wait * 1000)
        self.turn = uuid_at(self.at, f"{self.key}/{len(self.records)}")
        self._event("task_started", turn_id=self.turn, model_context_window=CONTEXT)
        context = {"turn_id": self.turn, "cwd": self.cwd, "approval_policy": "on-request", "model": self.model}
        self._write("turn_context", {**context, "effort": "medium", "summary": "auto"})
        self._message("user", text)
        self._event("user_message", message=text, images=[], local_images=[])
        self._count()

    def does(self, *parts: Json, seconds: float = 4) -> None:
        """One reply: texts, ``think(...)`` and calls in order; then its cost; then what the calls gave back."""
        results: list[Json] = []
        for part in parts:
            self.at += int(seconds * 1000)
            if isinstance(part, str):
                self._event("agent_message", message=part, phase="commentary")
                self._message("assistant", part, phase="commentary")
            elif "thought" in part:
                self._event("agent_reasoning", text=part["thought"])
                summary = [{"type": "summary_text", "text": part["thought"]}]
                self._item("reasoning", summary=summary, content=None, encrypted_content="c2VhbGVk")
            else:
                results.append(self._call(part))
        self._spend()
        for call, part in results:
            self._result(call, part)

    def _call(self, part: Json) -> Json:
        call = token("call_", self.dice.fresh(), 24)
        if part["kind"] == "web_search_call":
            self._item(part["kind"], status="completed", action=part["action"])
        elif part["kind"] == "custom_tool_call":
            self._item(part["kind"], status="completed", call_id=call, name=part["name"], input=part["input"])
        else:
            self._item(part["kind"], name=part["name"], arguments=json.dumps(part["args"]), call_id=call)
        return call, part

    def _result(self, call: str, part: Json) -> None:
        output = part.get("output")
        if output is None:
            return
        self.at += int(part.get("seconds", 0.2) * 1000)
        if part["kind"] == "custom_tool_call":
            good = part.get("code", 0) == 0
            self._event("patch_apply_end", call_id=call, turn_id=self.turn, stdout=output, stderr="", success=good)
            text = json.dumps({"output": output, "metadata": {"exit_code": part.get("code", 0), "duration_seconds": 0}})
            self._item("custom_tool_call_output", call_id=call, output=text)
            return
        if "code" in part:
            output = (
                f"Chunk ID: {self.dice.between(4096, 65535):x}\nWall time: {part.get('seconds', 0.2):.4f} seconds\n"
                f"Process exited with code {part['code']}\nOutput:\n{output}"
            )
        self._item("function_call_output", call_id=call, output=output)

    def _spend(self) -> None:
        cached, output = self.read, self.dice.between(40, 600)
        self.read += self.dice.between(300, 2500)
        self.last = [self.read, cached, output, output // 3]
        self.total = [a + b for a, b in zip(self.total, self.last, strict=True)]
        self.read += output
        self._count()

    def _count(self) -> None:
        info = None if not any(self.total) else {
            "total_token_usage": _usage(self.total), "last_token_usage": _usage(self.last),
            "model_context_window": CONTEXT,
        }  # fmt: skip
        self._event("token_count", info=info, rate_limits={"primary": {"used_percent": 3.0}})

    def spawns(self, agent: CodexLog, call_name: str = "spawn_agent") -> None:
        """What the spawn call that was made last gave back."""
        call = next(p["call_id"] for _k, p in reversed(self.records) if p.get("name") == call_name)
        self._event(
            "collab_agent_spawn_end", call_id=call, sender_thread_id=self.id, new_thread_id=agent.id,
            new_agent_nickname="Pippin", status="pending_init",
        )  # fmt: skip
        self._item(
            "function_call_output", call_id=call, output=json.dumps({"agent_id": agent.id, "nickname": "Pippin"})
        )

    def notified(self, agent: CodexLog, text: str) -> None:
        """The agent is done."""
        status = json.dumps({"agent_path": agent.id, "status": {"completed": text}})
        self._message("user", f"<subagent_notification>\n{status}\n</subagent_notification>")

    def compacts(self, summary: str) -> None:
        """The history is replaced by a summary."""
        self._write("compacted", {"message": summary, "replacement_history": [{"type": "message"}] * 3}, 20)
        self.read = 9_000
        self.last = [self.read, 0, 0, 0]
        self._count()
        self._event("context_compacted")

    def stops(self) -> None:
        """A person presses Escape."""
        self._message("user", "<turn_aborted>\nThe user interrupted the turn on purpose.\n</turn_aborted>")
        self._event("turn_aborted", turn_id=self.turn, reason="interrupted")

    def named(self, name: str) -> None:
        """The thread gets a name."""
        self._event("thread_name_updated", thread_id=self.id, thread_name=name)

    def ends(self, text: str) -> None:
        """The last text of a turn."""
        self.does(text)
        self._event("task_complete", turn_id=self.turn, last_agent_message=text)

    def close(self) -> None:
        """Put the file where Codex would."""
        stamp = iso(self.began)[:19].replace(":", "-")
        name = f"rollout-{stamp}-{self.id}.jsonl"
        folder = "archived_sessions" if self.archived else f"sessions/{stamp[:10].replace('-', '/')}"
        records = zip(self.stamps, self.records, strict=True)
        data = b"".join(line({"timestamp": iso(at), "type": k, "payload": p}) for at, (k, p) in records)
        self.shelf.put(f"codex/{folder}/{name}", data)


def _usage(counts: list[int]) -> Json:
    names = ("input_tokens", "cached_input_tokens", "output_tokens", "reasoning_output_tokens")
    return {**dict(zip(names, counts, strict=True)), "total_tokens": counts[0] + counts[2]}


def think(text: str) -> Json:
    """A thought whose summary can be read."""
    return {"thought": text}


def run(command: str, output: str, code: int = 0, seconds: float = 0.2) -> Json:
    """A command."""
    args = {"cmd": command, "yield_time_ms": 1000}
    return {
        "kind": "function_call",
        "name": "exec_command",
        "args": args,
        "output": output,
        "code": code,
        "seconds": seconds,
    }


def calls(name: str, output: str | None, **args: Json) -> Json:
    """Any other call; without ``output`` its result comes later or never."""
    return {"kind": "function_call", "name": name, "args": args, "output": output}


def patch(text: str, output: str) -> Json:
    """A patch."""
    whole = f"*** Begin Patch\n{text}*** End Patch\n"
    return {"kind": "custom_tool_call", "name": "apply_patch", "input": whole, "output": output}


def web(query: str) -> Json:
    """A search of the web, which the provider runs."""
    return {"kind": "web_search_call", "action": {"type": "search", "query": query}}

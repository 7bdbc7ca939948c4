"""Reads the logs of ndchat: one JSON object a line, in files named ``*.ndchat``."""

from clm_sessions import hookimpl
from clm_sessions.formats.base import Claim, Confidence, Located, LogFormat, Parsed
from clm_sessions.model import Fact, Message, Text, ToolResult, ToolUse, Usage
from clm_sessions.times import parse
from clm_sessions.view import ToolView

FACTS = {"topic": "title.custom", "dir": "cwd", "model": "model"}
WHO = {"person": ("user", "user", "prompt"), "bot": ("assistant", "ai", "reply"), "tool": ("tool", "ai", "tool_result")}


class NdChat(LogFormat):
    name = label = "ndchat"

    def roots(self, home, env):
        return [home / ".ndchat"]

    def locate(self, path):
        return Located(role="main", session=path.stem) if path.suffix == ".ndchat" else None

    def sniff(self, located, head):
        mine = any(isinstance(record, dict) and "ndchat" in record for record in head.records)
        return Claim(confidence=Confidence.SIGNATURE if mine else Confidence.NO)

    def reader(self, context, state=None):
        return Reader()


class Reader:
    def state(self):
        return {}

    def feed(self, record, place):
        if not isinstance(record, dict):
            return Parsed(disposition="raw", issue="JSON, but no object", issue_kind="not_object")
        said = {key: value for key, value in record.items() if isinstance(value, str)}
        who, at, text, call = said.get("from"), parse(record.get("time")), said.get("text", ""), said.get("call")
        if who not in WHO:  # the head of the log, or something new
            facts = tuple(Fact(name=FACTS[key], value=said[key]) for key in said if key in FACTS and "ndchat" in record)
            return Parsed(disposition="fact" if facts else "raw", type=who, at=at, facts=facts)
        block = Text(text=text)
        if who == "bot" and "tool" in said:
            block = ToolUse(id=call, name=said["tool"], input=record.get("with"))
        elif who == "tool":
            block = ToolResult(tool_use_id=call, content=text, is_error=record.get("failed") is True)
        usage = Usage(output=record["tokens"]) if type(record.get("tokens")) is int else None
        role, kind, origin = WHO[who]
        message = Message(place=place, at=at, role=role, kind=kind, origin=origin, blocks=(block,), usage=usage)
        return Parsed(disposition="message", type=who, at=at, message=message)


@hookimpl
def clm_register_formats():
    return [NdChat()]


@hookimpl
def clm_describe_tool(call):
    return ToolView(title="Frost dates", subtitle=str(call.result)) if call.name == "frost_dates" else None

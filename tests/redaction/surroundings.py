"""Where a secret stands in the log of a coding agent: text with the secret between ⟦ and ⟧, and what was done to it."""

import base64
import json
import re
from dataclasses import dataclass
from urllib.parse import quote

OPEN, CLOSE = "⟦", "⟧"
_MARK = re.compile("([⟦⟧])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Planted:
    kind: str
    group: str
    where: str
    text: str
    ranges: tuple[tuple[int, int], ...]


def planted(kind: str, group: str, where: str, marked: str) -> Planted:
    """Every stretch between the marks is secret; a stretch may be in parts."""
    text, ranges, start = "", [], 0
    for part in _MARK.split(marked):
        if part == OPEN:
            start = len(text)
        elif part == CLOSE:
            ranges.append((start, len(text)))
        else:
            text += part
    return Planted(kind=kind, group=group, where=where, text=text, ranges=tuple(ranges))


def each(change):
    """Apply ``change`` to the text around the marks and between them."""
    return lambda marked: "".join(part if part in (OPEN, CLOSE) else change(part) for part in _MARK.split(marked))


def wrap(marked: str, width: int = 80, gap: str = "\n") -> str:
    """As a terminal of ``width`` columns does: in the middle of a word; what is put between is not secret."""
    out, column, inside = "", 0, False
    for letter in marked:
        inside = letter == OPEN or (inside and letter != CLOSE)
        if letter in (OPEN, CLOSE):
            out += letter
            continue
        column = 0 if letter == "\n" else column + 1
        if column > width:
            out += f"{CLOSE}{gap}{OPEN}" if inside else gap
            column = 1
        out += letter
    return out.replace(OPEN + CLOSE, "")


def base64_lines(marked: str) -> str:
    """The quadruples of letters that hold a byte of the secret are secret."""
    one = planted("", "", "", marked)
    (start, end), data = one.ranges[0], one.text.encode()
    coded = base64.b64encode(data).decode()
    return coded[: start // 3 * 4] + OPEN + coded[start // 3 * 4 : -(-end // 3) * 4] + CLOSE + coded[-(-end // 3) * 4 :]


def halved(gap: str):
    """The secret in two parts, with ``gap`` between them that is not secret."""

    def change(marked: str) -> str:
        before, secret, after = _MARK.split(marked)[::2]
        half = len(secret) // 2
        return f"{before}{OPEN}{secret[:half]}{CLOSE}{gap}{OPEN}{secret[half:]}{CLOSE}{after}"

    return change


def cut(marked: str) -> str:
    """The log keeps two thirds of the secret and says so."""
    before, secret, _ = _MARK.split(marked)[::2]
    return f"{before}{OPEN}{secret[: len(secret) * 2 // 3]}{CLOSE}... [12,408 characters truncated]"


json_once = each(lambda part: json.dumps(part)[1:-1])
json_twice = each(lambda part: json.dumps(json.dumps(part)[1:-1])[1:-1])
percent = each(lambda part: quote(part, safe=""))
crlf = each(lambda part: part.replace("\n", "\r\n"))
unicode_escaped = each(lambda part: "".join(f"\\u{ord(c):04x}" if c in "-_.:/$=" else c for c in part))


def same(marked: str) -> str:
    return marked


GREEN, RED, OFF = "\x1b[32m", "\x1b[1;31m", "\x1b[0m"
# name of the place, text, change
PLACES = (
    ("shell export", "$ cat ~/.bashrc | tail -2\nexport EDITOR=vim\nexport SERVICE_AUTH=⟦S⟧\n", same),
    ("numbered file", "     1→import os\n     2→\n     3→client = Client('⟦S⟧')\n     4→print(client.me())\n", same),
    ("curl header", 'curl -sS -H "Authorization: Bearer ⟦S⟧" https://api.example.com/v2/me | jq .id', same),
    ("json file", '{\n  "endpoint": "https://api.example.com",\n  "credential": "⟦S⟧",\n  "retries": 3\n}', same),
    ("diff", "@@ -4,7 +4,7 @@ services:\n   web:\n-    auth: ⟦S⟧\n+    auth: ${AUTH}\n     ports: [80]\n", same),
    ("said in prose", "ok the old one expired, use ⟦S⟧ for the staging run please, and don't commit it", same),
    ("bare line", "⟦S⟧\n", same),
    ("log line", "2026-03-04T10:22:41.113Z WARN  [auth] request 9f2c refused for ⟦S⟧ (status=401)", same),
    ("json in json", '{"type":"tool_result","content":"SERVICE=⟦S⟧\\nDEBUG=1"}', json_once),
    ("json twice", 'tool: {"cmd":"login --with ⟦S⟧"}\n', json_twice),
    ("grep colours", f"{RED}config/prod.ini{OFF}{GREEN}:{OFF}12{GREEN}:{OFF}auth = {RED}⟦S⟧{OFF}\n", same),
    ("colours inside", f"{GREEN}+auth = ⟦S⟧{OFF}\n", halved(f"{OFF}{RED}")),
    ("percent query", "GET /callback?state=x1&credential=⟦S⟧&scope=read HTTP/1.1", percent),
    ("base64 of a file", "HOST=db.internal\nPORT=5432\nSERVICE_AUTH=⟦S⟧\nDEBUG=false\n", base64_lines),
    ("terminal wrap", "$ deploy --region eu-west-1 --image registry.example.com/app:1.4 --auth ⟦S⟧ --wait\n", wrap),
    ("crlf env", "# local\nHOST=127.0.0.1\nSERVICE_AUTH=⟦S⟧\nDEBUG=1\n", crlf),
    ("cut off", "Reading .env\nHOST=db.internal\nSERVICE_AUTH=⟦S⟧", cut),
    ("yaml", "service:\n  name: billing\n  auth: ⟦S⟧ # rotate in May\n  zone: b\n", same),
    ("toml", '[service]\nname = "billing"\nauth = "⟦S⟧"\n', same),
    ("xml", '<add key="ServiceAuth" value="⟦S⟧" />\n', same),
    ("python bytes", "b'HTTP/1.1 200 OK\\r\\nX-Service: ⟦S⟧\\r\\n'", same),
    ("shell trace", "+ helm upgrade app ./chart --set auth.value=⟦S⟧ --atomic\nRelease upgraded\n", same),
    ("container env", '"Env": [\n  "PATH=/usr/bin:/bin",\n  "SERVICE_AUTH=⟦S⟧",\n  "LANG=C"\n]', same),
    ("javascript", "const client = new Client({ auth: process.env.AUTH ?? `⟦S⟧` });", same),
    ("go", 'const auth = "⟦S⟧"\n\nfunc main() { run(auth) }\n', same),
    ("address", "origin\thttps://oauth2:⟦S⟧@git.example.com/team/app.git (fetch)", same),
    ("markdown code", "The call works with `⟦S⟧`, so the scope is right.", same),
    ("csv", "id,owner,credential,created\n17,mo,⟦S⟧,2026-02-11\n", same),
    ("escaped letters", '{"auth":"⟦S⟧"}', unicode_escaped),
    ("diff wrapped", '+auth = "⟦S⟧"\n', lambda marked: wrap(marked, 40, "\n+")),
)

"""Sessions of clm, a small agent in a terminal: no times, no tokens, only what was said and run."""

from __future__ import annotations

import json

from pen import Json, Shelf, line, milliseconds


class ClmLog:
    """One clm file. ``id`` is its name; results come in whatever order the story gives them."""

    def __init__(self, shelf: Shelf, name: str, start: str, **meta: Json) -> None:
        self.shelf, self.name, self.calls = shelf, name, 0
        created = milliseconds(start) // 1000
        self.lines = [line({"type": "meta", "v": 1, "id": name, "created": created, **meta})]

    def user(self, text: str) -> None:
        self.lines.append(line({"role": "user", "content": text, "type": "msg"}))

    def says(self, text: str) -> None:
        self.lines.append(line({"role": "assistant", "content": text, "type": "msg"}))

    def asks(self, *calls: tuple[str, Json]) -> list[tuple[str, str]]:
        """Calls of one reply: tool name, and arguments (text stays as it is). Gives back what ``result`` needs."""
        made = []
        for name, args in calls:
            self.calls += 1
            text = args if isinstance(args, str) else json.dumps(args, ensure_ascii=False)
            made.append({"id": f"call_{self.calls}", "name": name, "args": text})
        self.lines.append(line({"role": "assistant", "tool_calls": made, "type": "msg"}))
        return [(call["id"], call["name"]) for call in made]

    def result(self, call: tuple[str, str], text: str) -> None:
        self.lines.append(
            line({"role": "tool", "content": text, "tool_call_id": call[0], "tool_name": call[1], "type": "msg"}),
        )

    def does(self, name: str, args: Json, text: str) -> None:
        """One call with its result."""
        (call,) = self.asks((name, args))
        self.result(call, text)

    def close(self) -> None:
        self.shelf.put(f"clm/{self.name}.jsonl", b"".join(self.lines))


def feeder(shelf: Shelf) -> None:
    """Parallel calls whose results come in another order, a failure, a denial."""
    log = ClmLog(
        shelf, "20260214-101500-b1edfeed", "2026-02-14 10:15", model="qwen3-coder-30b", provider="local", agent="coder"
    )
    log.user("Count the birds the feeder camera saw this week. The log is birds.txt.")
    wc, head, days = log.asks(
        ("shell_exec", {"command": "wc -l birds.txt"}),
        ("read_file", {"path": "birds.txt", "limit": 5}),
        ("shell_exec", {"command": "cut -c1-10 birds.txt | sort | uniq -c"}),
    )
    log.result(
        head,
        "2026-02-08 07:41 blue tit\n2026-02-08 07:41 blue tit\n2026-02-08 07:44 robin\n2026-02-08 08:02 squirrel (!)\n2026-02-08 08:02 squirrel (!)\n",
    )
    log.result(
        days,
        "     41 2026-02-08\n     37 2026-02-09\n     52 2026-02-10\n     12 2026-02-11\n     44 2026-02-12\n     48 2026-02-13\n",
    )
    log.result(wc, "234 birds.txt\n")
    log.says(
        "234 lines in six days. Wednesday had only 12: either rain or the squirrel.\n\n| day | birds |\n|---|---:|\n| Sun 8 | 41 |\n| Mon 9 | 37 |\n| Tue 10 | 52 |\n| **Wed 11** | **12** |\n| Thu 12 | 44 |\n| Fri 13 | 48 |"
    )
    log.user("Squirrel, I bet. Leave it out of the count, please.")
    log.does(
        "shell_exec",
        {"command": "grep -vc squirel birds.txt"},
        "[tool failed: grep: birds.txt: Resource temporarily unavailable (exit status 2)]",
    )
    log.does("shell_exec", {"command": "grep -vc squirrel birds.txt"}, "198\n")
    log.says("198 birds and 36 squirrels. I first misspelt *squirrel*, which the animal took as an invitation.")
    log.user("Delete the squirrel pictures.")
    log.does("shell_exec", {"command": "rm -r pictures/squirrel"}, "[tool failed: denied by user]")
    log.says("You said no at the last moment. They stay, then.")
    log.user("I could not do it. Look at its little hands.")
    log.close()


def sourdough(shelf: Shelf) -> None:
    """Context updates, a job in the background, colours in the output."""
    log = ClmLog(
        shelf, "20260221-070000-50adc001", "2026-02-21 07:00", model="gpt-oss-20b", provider="local", agent="kitchen"
    )
    log.user("[context update] current time: Sat, 21 Feb 2026 07:00:04 +0000")
    log.user("Watch the dough thermometer and tell me when the starter reaches 26 degrees.")
    log.does("bg_exec", {"command": "./watch-dough.sh --until 26", "label": "dough"}, "started background job 1\n")
    log.says("The thermometer is being watched as job 1. I'll speak up at 26 °C.")
    log.user("How warm is it now?")
    log.does(
        "shell_exec", {"command": "./read-dough.sh"}, "\x1b[33mstarter\x1b[0m 23.4 C\n\x1b[34mkitchen\x1b[0m 19.1 C\n"
    )
    log.says("23.4 °C, with a kitchen of 19.1 °C. At this pace about two hours.")
    log.user("[context update] current time: Sat, 21 Feb 2026 09:12:40 +0000")
    log.user('[background job 1 ("dough") finished: exit status 0]\nstarter reached 26.0 C at 09:11')
    log.says(
        "The starter has reached **26 °C**. Time to mix:\n\n1. 500 g flour, 350 g water, 100 g starter\n2. rest for 40 minutes\n3. salt: 11 g, *now*, not later"
    )
    log.user("Which hydration is that?")
    log.says("With a starter of equal parts: `(350 + 50) / (500 + 50) = 0.727`, so about **73 %**. Wet hands.")
    log.close()


def broken(shelf: Shelf) -> None:
    """Arguments that are no JSON, a record of a newer clm, a line that was torn, a result nobody asked for."""
    log = ClmLog(
        shelf, "20260301-220311-dead1eaf", "2026-03-01 22:03", model="qwen3-coder-30b", provider="local", agent="coder"
    )
    log.user("Rename all scans to their page number.")
    (call,) = log.asks(("shell_exec", '{"command": "for f in *.png; do mv "$f" page-$i.png; done"'))
    log.result(call, "[tool failed: arguments are not valid JSON]")
    log.lines.append(
        line({"type": "prompt", "hash": "9d4c1be2a07f5e63", "content": "You are a careful helper in a terminal."})
    )
    log.lines.append(b'{"role":"assistant","content":"My quotes were wr\n')
    log.says("My quotes were wrong. Once more, with care.")
    log.does(
        "shell_exec",
        {"command": 'i=0; for f in *.png; do i=$((i+1)); mv -n "$f" "page-$i.png"; done; ls | tail -2'},
        "page-8.png\npage-9.png\n",
    )
    log.result(("call_77", "shell_exec"), "a late result of an earlier life\n")
    log.lines.append(line({"type": "weather", "sky": "clear"}))
    log.says("Nine scans, `page-1.png` to `page-9.png`. Nothing was overwritten.")
    log.close()


def resumed(shelf: Shelf) -> None:
    """A crash in the middle: a call without a result, then the same file goes on."""
    log = ClmLog(
        shelf, "20260308-201700-0ddba11c", "2026-03-08 20:17", model="qwen3-coder-30b", provider="local", agent="coder"
    )
    log.user("Stack last night's 64 star photos into one picture.")
    listed, stacked = log.asks(
        ("list_dir", {"path": "stars"}),
        ("shell_exec", {"command": "convert stars/*.tif -evaluate-sequence median night.tif"}),
    )
    log.result(listed, "\n".join(f"img_{n:03}.tif" for n in range(1, 65)) + "\n")
    del stacked
    log.user("Did you fall asleep? The laptop did. Please go on.")
    log.does(
        "shell_exec",
        {"command": "ls -lh night.tif"},
        "[tool failed: ls: cannot access 'night.tif': No such file or directory (exit status 2)]",
    )
    log.says("The stacking never finished. I'll do it in four parts, which needs a quarter of the memory.")
    parts = log.asks(*(("shell_exec", {"command": f"./stack.sh stars/img_0{n}*.tif part-{n}.tif"}) for n in range(4)))
    for call in (parts[2], parts[0], parts[3], parts[1]):
        log.result(call, "ok\n")
    log.does(
        "shell_exec",
        {"command": "./stack.sh part-*.tif night.tif && identify night.tif"},
        "night.tif TIFF 6000x4000 16-bit sRGB 137.3MB\n",
    )
    log.says(
        "Done: `night.tif`, 6000 x 4000. There is a faint line in the upper third. It is either a satellite or the best meteor of the year."
    )
    log.close()


def poem(shelf: Shelf) -> None:
    """A short talk without tools; the last line lacks its line end."""
    log = ClmLog(shelf, "20260311-063000-5ea5a1de", "2026-03-11 06:30", model="gpt-oss-20b", provider="local")
    log.user("Four lines about a lighthouse, for the rule book of a board game. No rhyme with 'light'.")
    log.says(
        "> The lamp goes round, the fog comes in,\n> the gulls complain, the oil runs thin,\n> nine bells to go and one small flame:\n> whoever keeps it wins the game."
    )
    log.user("Keep the gulls, they matter. Thank you!")
    log.says("The gulls would not have left anyway.")
    log.lines[-1] = log.lines[-1].rstrip(b"\n")
    log.close()


def from_the_future(shelf: Shelf) -> None:
    """Version 2 of the format: must be refused, and must not disturb the others."""
    log = ClmLog(
        shelf, "20260318-120000-fa11fa11", "2026-03-18 12:00", model="qwen4-coder", provider="local", agent="coder"
    )
    log.lines[0] = log.lines[0].replace(b'"v":1', b'"v":2')
    log.user("Are you the new version?")
    log.says("I am. Old readers will have to wait.")
    log.close()


def write(shelf: Shelf) -> None:
    for story in (feeder, sourdough, broken, resumed, poem, from_the_future):
        story(shelf)

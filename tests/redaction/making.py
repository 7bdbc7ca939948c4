"""Values made from shapes, with a fixed seed: no line of this folder looks like a live key to a scanner."""

import random
import re

B64 = "A-Za-z0-9+/"
URL = "A-Za-z0-9_-"
WORD = "A-Za-z0-9"
HEX = "0-9a-f"
_PART = re.compile(r"\[([^\]]+)\]\{(\d+)\}|(.)", re.DOTALL)


class Maker:
    """``make("ab[0-9]{3}")`` gives ``ab`` and three digits; the same seed gives the same values on every Python."""

    def __init__(self, seed: str):
        self._random = random.Random(seed)

    def pick(self, choices):
        return choices[int(self._random.random() * len(choices))]

    def make(self, shape: str) -> str:
        shape = shape.replace("<B64>", B64).replace("<URL>", URL).replace("<WORD>", WORD).replace("<HEX>", HEX)
        return "".join(
            plain or "".join(self.pick(_letters(letters)) for _ in range(int(count)))
            for letters, count, plain in _PART.findall(shape)
        )


def _letters(ranges: str) -> str:
    found, at = "", 0
    while at < len(ranges):
        if ranges[at + 1 : at + 2] == "-" and at + 2 < len(ranges):
            found += "".join(map(chr, range(ord(ranges[at]), ord(ranges[at + 2]) + 1)))
            at += 3
        else:
            found += ranges[at]
            at += 1
    return found

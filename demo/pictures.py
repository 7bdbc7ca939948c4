"""Draws the small pictures the invented logs show: ``python demo/pictures.py`` writes them to ``demo/pictures/``.

The files are kept beside the script, because two builds of zlib need not pack the same pixels into the same bytes.
"""

from __future__ import annotations

import math
import struct
import zlib
from pathlib import Path

HERE = Path(__file__).parent / "pictures"
PAPER, INK, DIM, LINE = (250, 247, 240), (52, 48, 44), (150, 142, 132), (222, 215, 203)
GREEN, LEAF, RUST, SAND, SEA, DEEP = (
    (92, 138, 74),
    (158, 190, 120),
    (188, 92, 62),
    (226, 196, 138),
    (86, 142, 178),
    (38, 84, 124),
)
# A font of 3 by 5 dots: per letter five rows, each row three bits.
DOTS = (
    "25755 65656 34443 65556 74647 74644 34553 55755 72227 11152 55655 44447 57755 65555 75557 65644 75576 65655 34216 "
    "72222 55557 55552 55775 55255 55222 71247 75557 26227 61247 61216 55711 74616 34657 71222 75757 75316 00002 00700 "
    "02020 11244 12421 42124"
)
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-:/<>"
FONT = {letter: [int(row) for row in rows] for letter, rows in zip(LETTERS, DOTS.split(), strict=True)}
Colour = tuple[int, int, int]


class Canvas:
    """Coloured dots, and the few shapes the pictures are made of."""

    def __init__(self, width: int, height: int, ground: Colour = PAPER) -> None:
        self.width, self.height = width, height
        self.rows = [[ground] * width for _ in range(height)]

    def dot(self, x: int, y: int, colour: Colour) -> None:
        if 0 <= x < self.width and 0 <= y < self.height:
            self.rows[y][x] = colour

    def box(self, x: int, y: int, width: int, height: int, colour: Colour) -> None:
        for row in range(y, y + height):
            for column in range(x, x + width):
                self.dot(column, row, colour)

    def frame(self, x: int, y: int, width: int, height: int, colour: Colour) -> None:
        for left, top, across, down in ((x, y, width, 1), (x, y + height - 1, width, 1), (x, y, 1, height)):
            self.box(left, top, across, down, colour)
        self.box(x + width - 1, y, 1, height, colour)

    def disc(self, x: int, y: int, radius: int, colour: Colour) -> None:
        for row in range(-radius, radius + 1):
            half = int(math.sqrt(radius * radius - row * row))
            self.box(x - half, y + row, 2 * half + 1, 1, colour)

    def text(self, x: int, y: int, words: str, colour: Colour = INK, size: int = 2) -> None:
        for letter in words.upper():
            for down, bits in enumerate(FONT.get(letter, ())):
                for across in range(3):
                    if bits & (4 >> across):
                        self.box(x + across * size, y + down * size, size, size, colour)
            x += 4 * size

    def png(self) -> bytes:
        """The picture as a PNG file with a palette."""
        palette = sorted({colour for row in self.rows for colour in row})
        number = {colour: index for index, colour in enumerate(palette)}
        dots = b"".join(b"\0" + bytes(number[colour] for colour in row) for row in self.rows)
        parts = (
            (b"IHDR", struct.pack(">IIBBBBB", self.width, self.height, 8, 3, 0, 0, 0)),
            (b"PLTE", b"".join(map(bytes, palette))),
            (b"IDAT", zlib.compress(dots, 9)),
            (b"IEND", b""),
        )
        return b"\x89PNG\r\n\x1a\n" + b"".join(
            struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
            for name, data in parts
        )


def bed_plan() -> Canvas:
    """Five garden beds, a path and the shade of a fence."""
    page = Canvas(320, 200)
    page.text(12, 10, "bed plan 2026", INK, 3)
    page.box(0, 34, 320, 3, LINE)
    beds = ((1, "kale", GREEN), (2, "peas", LEAF), (3, "roots", RUST), (4, "herbs", SEA), (5, "beans", SAND))
    for index, (number, crop, colour) in enumerate(beds):
        x, y = 14 + (index % 3) * 100, 48 + (index // 3) * 74
        page.box(x, y, 88, 60, colour)
        for row in range(y + 26, y + 54, 6):
            for column in range(x + 8, x + 84, 10):
                page.disc(column, row, 1, INK if colour == SAND else PAPER)
        page.frame(x, y, 88, 60, INK)
        page.text(x + 6, y + 6, f"{number} {crop}", PAPER if colour != SAND else INK)
    page.box(214, 122, 88, 60, LINE)
    page.text(226, 142, "compost", DIM)
    page.box(0, 192, 320, 8, DIM)
    return page


def tide_chart() -> Canvas:
    """Two days of a made-up tide: the curve, its high waters and the hour lines."""
    page = Canvas(320, 200, (246, 249, 252))
    page.text(10, 8, "port merrow 14-15 feb", DEEP)
    for metre in range(6):
        page.box(34, 178 - metre * 28, 276, 1, LINE)
        page.text(12, 173 - metre * 28, str(metre), DIM)
    for x in range(276):
        hours = x / 276 * 48
        height = 2.6 + 1.9 * math.cos((hours - 4.2) / 12.42 * 2 * math.pi) + 0.12 * math.cos(hours / 24 * math.pi)
        top = 178 - round(height * 28)
        page.box(34 + x, top, 1, 178 - top, (206, 226, 240))
        page.box(34 + x, top - 1, 1, 3, DEEP)
    for hours in (4.2, 16.62, 29.04, 41.46):
        page.disc(34 + round(hours / 48 * 276), 178 - round(4.55 * 28), 4, RUST)
    for hour in range(0, 48, 6):
        page.text(30 + round(hour / 48 * 276), 186, f"{hour % 24:02}", DIM)
    return page


def board() -> Canvas:
    """A game board: islands, lighthouses and one boat in the fog."""
    page = Canvas(320, 200, SEA)
    for column in range(8):
        for row in range(5):
            if (column + row) % 2:
                page.box(column * 40, row * 40, 40, 40, (96, 152, 188))
    for x, y, radius in ((60, 60, 26), (220, 50, 20), (130, 140, 30), (270, 150, 24)):
        page.disc(x, y, radius, SAND)
        page.disc(x - 4, y + 5, radius // 2, LEAF)
    for x, y in ((60, 48), (220, 40), (270, 140)):
        page.box(x - 4, y - 12, 8, 22, PAPER)
        page.box(x - 4, y - 4, 8, 5, RUST)
        page.disc(x, y - 15, 5, (250, 214, 90))
    page.box(160, 84, 22, 8, INK)
    page.box(170, 66, 2, 18, INK)
    page.box(172, 68, 10, 10, PAPER)
    page.text(8, 184, "fog 3", PAPER)
    return page


def web_page(*, broken: bool) -> Canvas:
    """A browser with a blog in it; broken, the menu lies over the title."""
    page = Canvas(320, 200, (255, 255, 255))
    page.box(0, 0, 320, 22, LINE)
    for index, colour in enumerate((RUST, SAND, GREEN)):
        page.disc(12 + index * 14, 11, 4, colour)
    page.box(58, 5, 250, 12, (255, 255, 255))
    page.text(64, 7, "localhost:8000/lantern", DIM)
    page.box(0, 22, 320, 36, DEEP)
    page.text(14, 32, "night walks", PAPER, 3)
    for index, word in enumerate(("home", "posts", "about")):
        page.text((118 if broken else 172) + index * 48, 36, word, SAND)
    page.text(14, 72, "a field with no lamps", INK)
    for row, width in enumerate((270, 284, 262, 280, 140)):
        page.box(14, 92 + row * 10, width, 4, DIM)
    page.box(14, 150, 292, 38, (240, 240, 236))
    page.text(22, 156, "<script>alert:1</script>", RUST)
    page.box(22, 174, 190, 4, DIM)
    return page


def water_chart() -> Canvas:
    """Litres a week per bed, as bars."""
    page = Canvas(320, 200)
    page.text(12, 10, "litres per week", INK, 2)
    for index, (bed, litres) in enumerate((("1", 62), ("2", 48), ("3", 30), ("4", 22), ("5", 74))):
        x, height = 40 + index * 54, litres * 17 // 10
        page.box(x, 176 - height, 34, height, SEA if litres < 60 else DEEP)
        page.text(x + 10, 164 - height, str(litres), INK)
        page.text(x + 14, 182, bed, DIM)
    page.box(30, 176, 276, 1, INK)
    return page


PICTURES = {
    "bed-plan": bed_plan,
    "tide-chart": tide_chart,
    "board": board,
    "page-broken": lambda: web_page(broken=True),
    "page-fixed": lambda: web_page(broken=False),
    "water-chart": water_chart,
}


def load(name: str) -> bytes:
    """The bytes of one kept picture."""
    return (HERE / f"{name}.png").read_bytes()


if __name__ == "__main__":
    HERE.mkdir(exist_ok=True)
    for title, draw in PICTURES.items():
        (HERE / f"{title}.png").write_bytes(draw().png())

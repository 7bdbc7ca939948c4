"""The crops of the long day, from ``crops.csv``: what goes into each file, and what is said about it."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import NamedTuple


class Crop(NamedTuple):
    """Centimetres, days from sowing to harvest, litres of water a week and square metre."""

    name: str
    family: str
    sow: str
    depth: int
    spacing: int
    days: int
    litres: int
    prompt: str
    remark: str

    def toml(self) -> str:
        return (
            f'[{self.name.replace(" ", "-")}]\nfamily = "{self.family}"\nsow = "{self.sow}"\ndepth_cm = {self.depth}\n'
            f"spacing_cm = {self.spacing}\ndays = {self.days}\nlitres_per_week = {self.litres}\n"
        )


def crops() -> list[Crop]:
    """All of them, in the order in which they are asked for."""
    with (Path(__file__).parent / "crops.csv").open(encoding="utf-8", newline="") as table:
        rows = csv.reader(table)
        next(rows)
        return [
            Crop(a, b, c, int(d), int(e), int(f), int(g), said, remark) for a, b, c, d, e, f, g, said, remark in rows
        ]

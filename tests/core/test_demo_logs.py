"""The demo logs are what their script writes, and the copied cases are the cases."""

import json
import runpy
import struct
import subprocess
import sys
import zlib
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DEMO = ROOT / "demo"
BAD_ON_PURPOSE = {"359b8881-bbac-4bfe-a0a6-320cc2c53535.jsonl": 4, "20260301-220311-dead1eaf.jsonl": 1}


def contents(folder):
    """Bytes by relative path, without what Python leaves behind."""
    files = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def pixels(png):
    """The header, palette and dots of a PNG, whatever zlib packed them."""
    at, parts = 8, []
    while at < len(png):
        (length,) = struct.unpack_from(">I", png, at)
        name, data = png[at + 4 : at + 8], png[at + 8 : at + 8 + length]
        parts.append((name, zlib.decompress(data) if name == b"IDAT" else data))
        at += 12 + length
    return parts


def test_the_script_writes_the_committed_logs_byte_for_byte(tmp_path):
    subprocess.run([sys.executable, str(DEMO / "make_logs.py"), str(tmp_path)], check=True, capture_output=True)
    made, kept = contents(tmp_path), contents(DEMO / "logs")
    assert sorted(made) == sorted(kept)
    assert [path for path in made if made[path] != kept[path]] == []


def test_the_kept_pictures_are_the_ones_the_script_draws():
    drawn = runpy.run_path(str(DEMO / "pictures.py"))["PICTURES"]
    assert sorted(path.stem for path in (DEMO / "pictures").iterdir()) == sorted(drawn)
    for name, draw in drawn.items():
        assert pixels((DEMO / "pictures" / f"{name}.png").read_bytes()) == pixels(draw().png())


def is_json(line):
    try:
        json.loads(line or b"0")
    except ValueError:
        return False
    return True


def test_only_the_lines_that_are_meant_to_be_bad_are_no_json():
    bad = Counter()
    for name, data in contents(DEMO / "logs").items():
        if name.endswith(".jsonl"):
            bad[Path(name).name] = sum(not is_json(line) for line in data.removeprefix(b"\xef\xbb\xbf").split(b"\n"))
    assert +bad == BAD_ON_PURPOSE


def test_every_parent_stands_before_its_child_except_in_the_damaged_file():
    for path in (DEMO / "logs" / "claude").rglob("*.jsonl"):
        if path.name in BAD_ON_PURPOSE:
            continue
        seen = {None}
        for line in path.read_bytes().removeprefix(b"\xef\xbb\xbf").splitlines():
            record = json.loads(line)
            assert record.get("parentUuid") in seen, (path.name, record)
            seen.add(record.get("uuid"))


def test_the_logs_name_no_real_place_and_stay_small():
    files = contents(DEMO / "logs")
    assert sum(map(len, files.values())) < 2_500_000
    for name, data in files.items():
        assert not any(word in data for word in (b"/root/", b"/Users/", b"/work/", b"@gmail", b".com/")), name


def test_the_cases_are_copied_byte_for_byte():
    shared = ROOT.parent / "shared" / "cases"
    if not shared.is_dir():
        pytest.skip("the originals are not on this machine")
    assert contents(ROOT / "tests" / "cases") == contents(shared)

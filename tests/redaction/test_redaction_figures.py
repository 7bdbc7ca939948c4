"""Our redactor on the corpus: the goals of README.md are held. What is measured says measure.py."""

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

from redaction import corpus, harmless, measure

HERE = Path(__file__).parent
FILES = ("making.py", "provider.py", "surroundings.py", "contextual.py", "corpus.py", "harmless.py")
SLOWEST = 8
"""Times of the floor; 5 were measured: 8 MB/s where the floor does 40."""


@pytest.fixture(scope="module")
def figures():
    return measure.measure(measure.ours)


def test_the_corpus_is_the_one_whose_hash_was_written_down_before_the_first_run():
    told = (HERE / "README.md").read_text("utf-8")
    assert corpus.digest() in told
    assert hashlib.sha256(b"".join((HERE / name).read_bytes() for name in FILES)).hexdigest() in told


def test_secrets_that_say_what_they_are_are_found(figures):
    assert figures.share("provider") >= 95, [one.text for one, _ in figures.missed if one.group == "provider"]


def test_secrets_known_by_their_surroundings_are_found(figures):
    assert figures.share("contextual") >= 85, [one.text for one, _ in figures.missed if one.group == "contextual"]


def test_of_a_secret_that_is_touched_no_eight_characters_stay(figures):
    assert [one.text for one in figures.residue] == []


def test_what_stands_beside_a_secret_stays(figures):
    assert [one.text for one in figures.beside] == []


@pytest.mark.parametrize("name", harmless.EXACT)
def test_ids_hashes_signatures_and_lock_files_are_left_alone(figures, name):
    assert figures.false[name] == []


def test_code_is_left_alone_but_for_one_place_in_a_megabyte(figures):
    megabytes = figures.sizes["code"] / 1e6
    assert megabytes >= 2
    assert len(figures.false["code"]) <= megabytes, figures.false["code"]


def test_it_is_as_fast_as_a_few_looks_for_words():
    script = "from redaction import harmless, measure as m; t = harmless.texts(); print(*m.speed(m.ours, t['code']), *m.speed(m.ours, t['prose']))"
    folders = {"PYTHONPATH": f"{HERE.parent}:{HERE.parents[1]}"}  # a process of its own: nothing traces it
    run = subprocess.run([sys.executable, "-c", script], env=folders, capture_output=True, text=True, check=True)
    code, floor_of_code, prose, floor_of_prose = map(float, run.stdout.split())
    assert floor_of_code < SLOWEST * code
    assert floor_of_prose < SLOWEST * prose


@pytest.mark.parametrize(
    "piece",
    [
        "password=",
        "ghp_",
        "sk-",
        "\\",
        "?token=",
        "cGFzc3dvcmQ9",
        "Cookie: a=bcdefgh; ",
        "%41",
        "ghp_\n",
        "name: x value: ",
        "github_pat_a1B2c3D4\n",
        "glagent-a1B2c3D4\n",
    ],
)
def test_twice_the_text_takes_about_twice_the_time(piece):
    once, twice = (measure.seconds([lambda n=n: measure.ours(piece * (n // len(piece)))]) for n in (4_000, 16_000))
    assert twice < 8 * once + 0.02

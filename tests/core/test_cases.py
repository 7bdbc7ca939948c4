"""The cases from public bug reports (tests/cases/README.md): numbers of expect.json, then the sentences of case.md."""

from pathlib import Path

import pytest

from support import cases

pytestmark = pytest.mark.cases
RUN, WAITING = cases.found()
SHARED = Path(__file__).parents[3] / "shared" / "cases"


@pytest.mark.parametrize("case", RUN, ids=lambda c: c.name)
def test_the_numbers_of_a_case_come_out_of_an_imported_database(case, tmp_path):
    for db, wanted in cases.stages(case, tmp_path):
        assert cases.answers(db, wanted) == wanted


def test_there_are_cases_and_only_those_of_formats_to_come_wait():
    assert RUN
    assert [c for c in WAITING if cases.expected(c)["format"] in cases.FORMATS] == []


def test_our_copies_of_the_cases_equal_the_shared_ones_byte_for_byte():
    ours = {
        p.relative_to(cases.HERE): p.read_bytes()
        for p in cases.HERE.rglob("*")
        if p.is_file() and "__pycache__" not in p.parts
    }
    assert ours
    if SHARED.is_dir():
        assert ours == {p.relative_to(SHARED): p.read_bytes() for p in SHARED.rglob("*") if p.is_file()}

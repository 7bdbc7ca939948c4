"""tests/CASES.md names, for each sentence of each case, the tests that hold it."""

import ast
import re

import pytest

from support import cases

TESTS = cases.HERE.parent
ROWS = re.findall(r"^\| ([\w-]+) \| (.*) \| (.*) \|$", (TESTS / "CASES.md").read_text(encoding="utf-8"), re.MULTILINE)
CASES = sorted(p.parent for p in cases.HERE.glob("*/case.md"))


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_every_sentence_of_a_case_has_a_row_with_a_test(case):
    rows = {sentence: tests for name, sentence, tests in ROWS if name == case.name}
    assert [s for s in cases.sentences(case) if "`" not in rows.get(s.replace("|", "&#124;"), "")] == []


def test_every_test_that_the_table_names_exists():
    named = {test for _case, _sentence, tests in ROWS for test in re.findall(r"`([\w/]+\.py::\w+)`", tests)}
    defined = set()
    for file in {test.split("::")[0] for test in named}:
        tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
        functions = (ast.FunctionDef, ast.AsyncFunctionDef)
        defined |= {f"{file}::{node.name}" for node in ast.walk(tree) if isinstance(node, functions)}
    assert named
    assert named - defined == set()

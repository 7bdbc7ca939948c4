"""Beside every promise in docs/safety.md stands a test, and each of these tests is there."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "safety.md").read_text(encoding="utf-8")
PROMISED = PAGE.partition("\n## Promised\n")[2].partition("\n## Not promised\n")[0]
PROMISES = re.findall(r"^- (.+?)(?=^- |^#|\Z)", PROMISED, re.MULTILINE | re.DOTALL)
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")


def functions(file):
    return {
        node.name
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    }


def test_the_page_makes_promises():
    assert len(PROMISES) >= 25
    assert len(PROMISES) == PROMISED.count("\n- ")


@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise.splitlines()[0])
def test_each_promise_names_tests_that_are_there(promise):
    named = NAMED.findall(promise)
    assert named
    assert [f"{file}::{name}" for file, name in named if name not in functions(ROOT / file)] == []

"""Two sessions in figures."""

from dataclasses import replace

from clm_sessions.model import SessionInfo
from clm_sessions.view.differences import of_figures, told

PLAIN = SessionInfo(id="a", native_id="a", format="claude-code")


def cost(a, b):
    return [(row.a, row.b, row.same) for row in told(of_figures(a, b)) if row.what == "Cost"]


def test_estimated_costs_are_compared_where_there_is_one():
    priced = replace(PLAIN, cost_usd=1.84, unpriced_requests=2)
    assert cost(priced, PLAIN) == [("$1.84 est., without 2 replies", "", False)]
    assert cost(priced, priced) == [("$1.84 est., without 2 replies",) * 2 + (True,)]


def test_a_cost_that_nobody_knows_is_no_row_and_one_of_nothing_is():
    assert cost(PLAIN, PLAIN) == []
    assert cost(replace(PLAIN, cost_usd=0.0), PLAIN) == [("$0 est.", "", False)]

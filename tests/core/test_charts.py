"""The charts: one object for notebooks and pages, and SVG in which nothing of a log is live."""

import re
import sys
from datetime import date
from html.parser import HTMLParser

import pytest

from clm_sessions import charts
from clm_sessions.charts import look
from clm_sessions.charts.over_time import Period, grouped
from clm_sessions.errors import UsageError
from support.attacks import ALL, CANARY

USED = [
    {"day": "2026-03-02", "model": "a", "output_tokens": 700, "cost_usd": 0.5},
    {"day": "2026-03-02", "model": "b", "output_tokens": 50, "cost_usd": None},
    {"day": "2026-03-04", "model": "a", "output_tokens": 300, "cost_usd": 0.25},
    {"day": None, "model": "a", "output_tokens": 9_999, "cost_usd": 9.0},
]
TOOLS = [{"tool": "Bash", "calls": 40, "errors": 10}, {"tool": "Read", "calls": 60, "errors": 0}]
STEPS = [
    {"label": "reply", "kind": "reply", "start": 0, "end": 4_000},
    {"label": "Bash", "kind": "failed", "start": 4_000, "end": 5_000, "depth": 1},
    {"label": "never ended", "kind": "tool", "start": 5_000, "end": None},
]
TURNS = [{"turn": 1, "tokens": 9_000}, {"turn": 2, "tokens": None}, {"turn": 3, "tokens": 2_000, "compacted": True}]
DAYS = [{"day": "2026-03-02", "sessions": 3}, {"day": "2026-03-04", "sessions": 1}]
ALL_CHARTS = {
    "activity": lambda: charts.activity_calendar(DAYS, weeks=4),
    "tokens": lambda: charts.tokens_over_time(USED),
    "cost": lambda: charts.cost_over_time(USED),
    "tools": lambda: charts.tool_use(TOOLS),
    "timeline": lambda: charts.session_timeline(STEPS),
    "context": lambda: charts.context_per_turn(TURNS),
}


class Drawing(HTMLParser):
    """A picture as a browser reads it: its elements, titles, texts and links."""

    def __init__(self, svg):
        super().__init__(convert_charrefs=True)
        self.tags, self.attributes, self.texts, self.links, self.values = set(), set(), [], [], []
        self.feed(svg)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _value in attrs}
        self.values += [value for name, value in attrs if name not in {"href", "aria-label"}]
        self.links += [value for name, value in attrs if name == "href"]

    def handle_data(self, data):
        self.texts.append(data)


@pytest.mark.parametrize("name", ALL_CHARTS)
def test_every_chart_is_a_valid_altair_object_and_a_picture_with_a_name(name):
    import altair as alt

    chart = ALL_CHARTS[name]()
    assert isinstance(chart, (alt.Chart, alt.LayerChart))
    assert chart.to_dict()["description"]  # Altair checks it against the schema of Vega-Lite
    drawing = Drawing(charts.svg(chart, title="What it shows"))
    assert drawing.tags <= {"svg", "g", "path", "rect", "line", "text", "tspan", "title"}
    assert {"role", "aria-label", "viewbox"} <= drawing.attributes


@pytest.mark.parametrize("name", ALL_CHARTS)
def test_every_chart_can_be_drawn_of_nothing(name):
    nothing = {
        "activity": charts.activity_calendar,
        "tokens": charts.tokens_over_time,
        "cost": charts.cost_over_time,
        "tools": charts.tool_use,
        "timeline": charts.session_timeline,
        "context": charts.context_per_turn,
    }
    assert charts.svg(nothing[name]([]), title="Nothing").startswith("<svg")


def test_marks_say_what_they_stand_for():
    texts = Drawing(charts.svg(ALL_CHARTS["activity"](), title="x")).texts
    assert "2 Mar 2026: 3 sessions" in texts
    assert "3 Mar 2026: 0 sessions" in texts
    texts = Drawing(charts.svg(ALL_CHARTS["tokens"](), title="x")).texts
    assert "2 Mar 2026, a: 700" in texts
    assert not [text for text in texts if "9,999" in text or "10k" in text]
    texts = Drawing(charts.svg(ALL_CHARTS["tools"](), title="x")).texts
    assert {"Bash", "40", "25 % failed", "Bash: 40 calls, 10 failed"} <= set(texts)
    assert "Turn 3: 2k tokens, compacted before" in Drawing(charts.svg(ALL_CHARTS["context"](), title="x")).texts
    assert "Bash: 1 s" in Drawing(charts.svg(ALL_CHARTS["timeline"](), title="x")).texts


def test_colours_have_names_that_a_page_can_repaint():
    values = Drawing(charts.svg(ALL_CHARTS["tools"](), title="x")).values
    assert any(value.startswith("var(--clm-chart-bad, #") for value in values)
    painted = {value for value in values if value.startswith("#")}
    assert painted == set()


# -- safe -------------------------------------------------------------------------------------------------------


def test_no_attack_in_a_name_is_live_in_a_picture_and_each_is_there_to_be_read():
    tools = [{"tool": text[-40:], "calls": 9, "errors": 1} for text in ALL]
    used = [{"day": "2026-03-02", "model": text, "output_tokens": 5} for text in ALL[:: len(ALL) // 6]]
    steps = [{"label": text, "kind": text, "start": 0, "end": 9} for text in ALL]
    drawn = [charts.tool_use(tools, top=len(tools)), charts.tokens_over_time(used), charts.session_timeline(steps)]
    for chart in drawn:
        drawing = Drawing(charts.svg(chart, title=ALL[0]))
        assert drawing.tags <= {"svg", "g", "path", "rect", "line", "text", "tspan", "title"}
        assert not [name for name in drawing.attributes if name.startswith("on") or name in {"style", "src"}]
        assert not [value for value in drawing.values if re.search(r"url\(|script|data:|//", value)]
        assert drawing.links == []
        assert len(drawing.texts) > len(used)
        assert CANARY in "".join(drawing.texts)


def test_a_mark_leads_only_where_the_caller_said():
    ours = "/my~20db/sessions?day=2026-03-02&x=%3Cb%3E"
    chart = charts.activity_calendar(DAYS, weeks=4, link=lambda day: ours if day == "2026-03-02" else "//evil.example/")
    drawing = Drawing(charts.svg(chart, title="x", links=[ours]))
    assert drawing.links == [ours]
    assert "evil" not in charts.svg(chart, title="x", links=[ours])
    assert Drawing(charts.svg(chart, title="x")).links == []


def test_what_cannot_be_drawn_is_one_line_for_a_person():
    chart = charts.tool_use(TOOLS, link=lambda _tool: "javascript:alert(1)")  # Vega refuses such an address
    with pytest.raises(UsageError, match="a chart could not be drawn: ") as caught:
        charts.svg(chart, title="x")
    assert "\n" not in str(caught.value)
    assert "<svg" in charts.svg(charts.tool_use(TOOLS), title="x")  # and the next one is drawn as if nothing had been


def test_without_the_extra_the_error_says_what_to_install(monkeypatch):
    chart = ALL_CHARTS["tools"]()
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(UsageError, match=r"vl-convert-python.*pip install 'clm-sessions\[charts\]'"):
        charts.svg(chart, title="x")
    monkeypatch.setitem(sys.modules, "altair", None)
    for make in ALL_CHARTS.values():
        with pytest.raises(UsageError, match=r"Altair.*pip install 'clm-sessions\[charts\]'"):
            make()


# -- numbers ----------------------------------------------------------------------------------------------------


def test_time_is_put_into_days_weeks_or_months_by_its_length():
    for last, unit in (("2026-03-31", "day"), ("2026-09-01", "week"), ("2028-01-01", "month")):
        assert Period.of(["2026-03-02", last]).unit == unit
    week = Period.of(["2026-03-02", "2026-09-01"])
    assert week.days(week.start(date(2026, 3, 4))) == ("2026-03-02", "2026-03-08")
    month = Period.of(["2026-01-31", "2028-01-01"])
    assert month.days(month.start(date(2027, 2, 11))) == ("2027-02-01", "2027-02-28")
    assert (month.words(date(2027, 2, 1)), week.words(date(2026, 3, 2))) == ("Feb 2027", "week of 2 Mar 2026")


def test_one_day_alone_does_not_fill_the_width():
    first, after = Period.of(["2026-03-02"]).domain
    assert (after - first).days == 12


def test_models_beyond_the_colours_are_one_and_nothing_is_lost():
    rows = [{"day": "2026-03-02", "model": f"m{n}", "output_tokens": 100 - n} for n in range(20)]
    data = grouped(rows, "output_tokens")
    assert data.models == ["m0", "m1", "m2", "m3", "m4", "m5", look.OTHER]
    assert sum(data.sums.values()) == sum(row["output_tokens"] for row in rows)


def test_models_whose_names_are_cut_alike_stay_apart():
    rows = [{"day": "2026-03-02", "model": "m" * 50 + end, "output_tokens": 9} for end in "xy"]
    chart = charts.tokens_over_time(rows).to_dict()
    assert len(set(chart["encoding"]["color"]["scale"]["domain"])) == 2


def test_one_busy_day_does_not_pale_the_others():
    rows = [{"day": f"2026-03-{n:02d}", "sessions": number} for n, number in enumerate((1, 2, 3, 90), 1)]
    days = charts.activity_calendar(rows, weeks=4).to_dict()["layer"][0]["data"]["values"]
    assert [day["level"] for day in days if day["sessions"]] == [1, 2, 3, 4]

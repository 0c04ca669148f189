"""An engine on many cases: how they are timed, told, kept and drawn."""

import dataclasses
import pathlib
import re

import pytest
import tree
from ladder.figures import ratios_figure
from ladder.measured import cases, records

NAMED = [cases.Named("sum float, long", 1 << 28), cases.Named("sum half, short", 1 << 14, "known"),
         cases.Named("max float, equal", 1 << 27)]
TIMES = [cases.Time(case, by, us, us, us) for case, by, us in (
    (0, "engine", 100), (0, "PyTorch", 200), (0, "CUB", 110), (0, "roof", 95),
    (1, "engine", 4), (1, "PyTorch", 2), (1, "roof", 3),
    (2, "engine", 10), (2, "PyTorch", 10), (2, "roof", 5))]
CONTEXT = {"gpu": "NVIDIA H200", "cuda": "13.0", "torch": "2.11", "date": "2026-01-02", "commit": "0123456789ab",
           "dirty": "no", "calls": 40, "roof": "roof", "sources": {"plots/engine.py": "old"}}
COMPARED = cases.Compared(pathlib.Path("engine.json"), CONTEXT, NAMED, TIMES)


def test_the_mean_is_geometric_and_the_roof_is_of_large_ones(capsys):
    cases.tell(COMPARED)
    said = capsys.readouterr().out
    assert re.findall("^sum half|^max|^sum float", said, re.M) == ["sum half", "max", "sum float"]
    assert "3 cases: 1.000 x PyTorch (geometric mean), the worst 0.50 x" in said
    assert "of 2 from 134,217,728 bytes on, 1 reach 90 % of the roof" in said
    assert "1.10 x CUB" in said


def test_a_case_without_a_time_is_seen(monkeypatch):
    data = records.opened(records.recorded(tree.REPOSITORY, "strided.json"))
    some = [time for time in data["times"] if time["by"] != data["context"]["roof"]]
    monkeypatch.setattr(records, "opened", lambda path: data | {"times": some})
    with pytest.raises(records.RecordError, match=data["context"]["roof"]):
        cases.newest(tree.REPOSITORY, "strided")


class TestDrawn:
    def test_one_mark_per_case(self):
        figure = ratios_figure.draw_ratios(COMPARED)
        marks = sum(len(line.get_xdata()) for line in figure.axes[0].lines if line.get_marker() == "o")
        assert marks == len(NAMED)

    def test_nothing_is_called_drawn_where_all_cases_were_chosen(self):
        words = lambda compared: {kind[0] for kind in ratios_figure.kinds_of(compared)}
        named = [dataclasses.replace(case, known="") for case in NAMED]
        assert "drawn by chance" in words(COMPARED)
        assert "drawn by chance" not in words(dataclasses.replace(COMPARED, cases=named))


class TestSlots:
    def test_none_is_used_twice_where_there_are_enough(self):
        for slots in (cases.CALLS + 1, 100, 2000):
            used = [cases.slot_of(k, slots) for k in range(cases.CALLS)]
            assert len(set(used)) == cases.CALLS
            assert all(0 < slot < slots for slot in used), "the first is for warming up"

    def test_all_are_used_in_turn_where_there_are_few(self):
        assert {cases.slot_of(k, 3) for k in range(cases.CALLS)} == {0, 1, 2}

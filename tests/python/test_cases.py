"""An engine on many cases: how they are timed, told, kept and drawn."""

import contextlib
import dataclasses
import io
import pathlib

import pytest
import made_up
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


def kept(root, times=TIMES):
    path = root / "plots/data" / records.REFERENCE_GPU / "2026-01-02/engine.json"
    made_up.write(path, {"context": CONTEXT, "cases": [vars(case) for case in NAMED],
                         "times": [vars(time) for time in times]})
    return path


class TestTold:
    def test_the_worst_comes_first(self):
        assert COMPARED.slowest_first == [1, 2, 0]

    def test_the_mean_is_geometric_and_the_roof_is_of_large_ones(self):
        with contextlib.redirect_stdout(io.StringIO()) as said:
            cases.tell(COMPARED)
        assert "3 cases: 1.000 x PyTorch (geometric mean), the worst 0.50 x" in said.getvalue()
        assert "of 2 from 134,217,728 bytes on, 1 reach 90 % of the roof" in said.getvalue()
        assert "1.10 x CUB" in said.getvalue()


class TestKept:
    def test_is_read_again(self, tmp_path):
        kept(tmp_path)
        again = cases.newest(tmp_path, "engine")
        assert (again.cases, again.times) == (NAMED, TIMES)

    def test_what_was_never_run_is_not_measured(self, tmp_path):
        with pytest.raises(records.Unmeasured, match="run `make engine` there"):
            cases.newest(tmp_path, "engine")

    def test_a_changed_number_is_seen(self, tmp_path):
        path = kept(tmp_path)
        path.write_text(path.read_text().replace("200", "300"))
        with pytest.raises(records.RecordError):
            cases.newest(tmp_path, "engine")

    def test_a_case_without_a_time_is_seen(self, tmp_path):
        kept(tmp_path, TIMES[:-1])
        with pytest.raises(records.RecordError, match="roof"):
            cases.newest(tmp_path, "engine")


class TestWoven(made_up.MadeUp):
    @pytest.fixture(autouse=True)
    def compared(self, in_a_made_up_repository):
        (self.root / "plots/engine.py").touch()
        kept(self.root)

    def test_a_word_too_much_is_refused(self):
        for words in ("median", "beside Thrust", "mean of nothing", "worst of short"):
            self.refuses("", f"value cases engine {words}")


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

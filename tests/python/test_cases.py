"""An engine on many cases: how they are timed, told, kept and drawn."""

import contextlib
import dataclasses
import io
import pathlib
import tempfile
import unittest

from ladder import tables
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
    path.parent.mkdir(parents=True)
    path.write_text(records.sealed({"context": CONTEXT, "cases": [vars(case) for case in NAMED],
                                    "times": [vars(time) for time in times]}))
    return path


class Told(unittest.TestCase):
    def test_the_worst_comes_first(self):
        self.assertEqual(COMPARED.slowest_first, [1, 2, 0])

    def test_the_mean_is_geometric_and_the_roof_is_of_large_ones(self):
        with contextlib.redirect_stdout(io.StringIO()) as said:
            cases.tell(COMPARED)
        self.assertIn("3 cases: 1.000 x PyTorch (geometric mean), the worst 0.50 x", said.getvalue())
        self.assertIn("of 2 from 134,217,728 bytes on, 1 reach 90 % of the roof", said.getvalue())
        self.assertIn("1.10 x CUB", said.getvalue())


class Kept(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        records.stale.clear()

    def test_is_read_again(self):
        kept(self.root)
        again = cases.newest(self.root, "engine")
        self.assertEqual((again.cases, again.times), (NAMED, TIMES))
        self.assertIn("earlier version of plots/engine.py", records.stale[0])

    def test_what_was_never_run_is_not_measured(self):
        with self.assertRaisesRegex(records.Unmeasured, "run `make engine` there"):
            cases.newest(self.root, "engine")

    def test_a_changed_number_is_seen(self):
        path = kept(self.root)
        path.write_text(path.read_text().replace("200", "300"))
        with self.assertRaises(records.RecordError):
            cases.newest(self.root, "engine")

    def test_a_case_without_a_time_is_seen(self):
        kept(self.root, TIMES[:-1])
        with self.assertRaisesRegex(records.RecordError, "roof"):
            cases.newest(self.root, "engine")


class Woven(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        for folder in ("docs", "plots", "chapters"):
            (self.root / folder).mkdir()
        (self.root / "plots/engine.py").touch()
        kept(self.root)
        self.page = self.root / "docs/page.md"

    def test_the_table_has_the_slowest(self):
        lines = tables.table_cases(["engine", "2"], self.page)
        self.assertIn("sum half, short", lines[2])
        self.assertIn("0.50 x", lines[2])
        self.assertIn("max float, equal", lines[3])
        self.assertNotIn("long", "".join(lines))

    def test_the_other_table_has_the_large_ones_below_the_roof(self):
        lines = tables.table_cases(["engine", "1", "large"], self.page)
        self.assertIn("max float, equal", lines[2])
        self.assertEqual(len(lines), 5)

    def test_values(self):
        for words, expected in (("mean", "1.00 x"), ("worst", "0.50 x"), ("below 0.95", "1"), ("count", "3"),
                                ("large", "2"), ("large below 0.9", "1"),
                                ("roof equal", "50.0 %"), ("beside CUB", "1.10 x"), ("mean of short", "0.50 x"),
                                ("count of long", "1"), ("below 1 of short", "1"), ("below 1 of long", "0")):
            self.assertEqual(tables.value_cases(["engine", *words.split()], self.page), [expected], words)

    def test_a_word_too_much_is_refused(self):
        for words in ("median", "roof nothing", "beside Thrust", "mean of nothing", "worst of short"):
            with self.assertRaises(ValueError):
                tables.value_cases(["engine", *words.split()], self.page)


class Drawn(unittest.TestCase):
    def test_one_mark_per_case(self):
        figure = ratios_figure.draw_ratios(COMPARED)
        marks = sum(len(line.get_xdata()) for line in figure.axes[0].lines if line.get_marker() == "o")
        self.assertEqual(marks, len(NAMED))

    def test_nothing_is_called_drawn_where_all_cases_were_chosen(self):
        words = lambda compared: {kind[0] for kind in ratios_figure.kinds_of(compared)}
        named = [dataclasses.replace(case, known="") for case in NAMED]
        self.assertIn("drawn by chance", words(COMPARED))
        self.assertNotIn("drawn by chance", words(dataclasses.replace(COMPARED, cases=named)))


class Slots(unittest.TestCase):
    def test_none_is_used_twice_where_there_are_enough(self):
        for slots in (cases.CALLS + 1, 100, 2000):
            used = [cases.slot_of(k, slots) for k in range(cases.CALLS)]
            self.assertEqual(len(set(used)), cases.CALLS)
            self.assertTrue(all(0 < slot < slots for slot in used), "the first is for warming up")

    def test_all_are_used_in_turn_where_there_are_few(self):
        self.assertEqual({cases.slot_of(k, 3) for k in range(cases.CALLS)}, {0, 1, 2})

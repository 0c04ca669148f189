"""The figures of one idea each: what they show is what was traced or printed."""

import contextlib
import io
import json
import pathlib
import re
import shutil
import tempfile
import unittest
import made_up
from ladder import pages, tables
from ladder.figures import (
    drawings, drawings_bits, drawings_threads, error_figure, plot, trace_kinds, traces
)
from ladder.figures.asked import View
from ladder.figures.drawing import Printed
from ladder.pages import Problem
import tree

VIEW = View(code=("code",), titles=("made up",))


def event(use, lanes, warp=0, number=0, **more):
    return {"use": use, "warp": warp, "number": number, "blocks": 2, "block": 64,
            "bytes": 4, "lanes": lanes, **more}


class Kinds(unittest.TestCase):
    def kept(self, kind, events):
        """What a trace's reader makes of what its tracer recorded."""
        (data,) = trace_kinds.TRACERS[kind](VIEW, events)
        return trace_kinds.READERS[kind](json.loads(json.dumps(data)))

    def test_owners_are_kept_block_by_block_and_round_by_round(self):
        def load(warp, number, first):
            return event("load", [{"lane": k, "offset": 4 * (first + k)} for k in (0, 1)],
                         warp, number)

        owners = self.kept("owners", [load(0, 0, 0), load(0, 0, 128), load(1, 0, 32),
                                      event("store", [{"lane": 0, "offset": 0}]),
                                      load(0, 1, 64)])
        self.assertEqual(owners.takes, {0: [{0: 0, 1: 1, 32: 32, 33: 33}, {0: 128, 1: 129}],
                                        1: [{0: 64, 1: 65}]})
        self.assertEqual(owners.step, 128)

    def test_lanes_that_jump_are_no_run(self):
        self.assertEqual(trace_kinds._runs({0: 0, 1: 8, 2: 9}), "0:0:1 1:8:2")

    def test_bytes_count_until_the_first_store(self):
        order = self.kept("order", [event(use, []) for use in ("load", "load", "store", "load")]
                          + [event("load", [], warp=1)])
        self.assertEqual((order.bytes_before_store(), order.bytes_loaded()), (8, 12))

    def test_sides_are_the_first_load_and_the_first_store_of_global_memory(self):
        def access(use, space, *offsets):
            return event(use, [{"lane": k, "offset": at} for k, at in enumerate(offsets)], space=space)

        load, store = access("load", "global", 0, 4), access("store", "global", 0, 4096)
        shared = access("load", "shared", 8, 12)
        found = self.kept("sides", [{**load, "warp": 1, "lanes": []}, shared, load, access("load", "global", 64), store])
        self.assertEqual((found.side, found.read.first, found.written.first), (1024, {0: 0, 1: 4}, {0: 0, 1: 4096}))
        with self.assertRaisesRegex(Problem, "no store"):
            self.kept("sides", [load])
        with self.assertRaisesRegex(Problem, "no square"):
            trace_kinds.sides(View(code=("code",), titles=("made up",), n=2048), [load, store])

    def test_a_vote_is_the_bits_of_its_lanes(self):
        lanes = [{"lane": lane, "value": lane in (1, 31)} for lane in range(32)]
        self.assertEqual(self.kept("vote", [event("vote", lanes)]).word, 0x80000002)
        with self.assertRaisesRegex(Problem, "comes to 0 votes"):
            self.kept("vote", [event("load", [])])

    def test_a_butterfly_has_three_rounds_of_one_distance_each(self):
        def shuffle(*far):
            return event("exchange", [{"lane": k, "value": 1 << k, "with": far[k % len(far)]}
                                      for k in range(32)])

        found = self.kept("exchange", [shuffle(1), shuffle(2), shuffle(4)])
        self.assertEqual([far for far, _ in found.rounds], [1, 2, 4])
        self.assertEqual(found.rounds[0][1], [1 << k for k in range(32)])
        with self.assertRaisesRegex(Problem, "2 exchanges"):
            self.kept("exchange", [shuffle(1), shuffle(2)])
        with self.assertRaisesRegex(Problem, "differently far"):
            self.kept("exchange", [shuffle(1, 2), shuffle(2), shuffle(4)])


class OfPrograms(unittest.TestCase):
    GOOD = "-0.1 becomes 0xae66: 1 01011 1001100110, which is -0.0999755859375\n"

    def printed(self, text):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = pathlib.Path(folder.name) / "made_up.expected"
        path.write_text(text)
        return Printed(path)

    def test_the_bits_of_a_half_are_its_value(self):
        self.assertEqual(drawings_bits.read_half(self.printed(self.GOOD)),
                         ("-0.1", "1010111001100110", "-0.0999755859375"))
        with self.assertRaisesRegex(ValueError, "are not"):
            drawings_bits.read_half(self.printed(self.GOOD.replace(" 1 01011", " 0 01011")))
        with self.assertRaisesRegex(ValueError, "no half"):
            drawings_bits.read_half(self.printed("nothing"))

    def test_a_table_of_errors_has_four_columns(self):
        with self.assertRaisesRegex(ValueError, "no table of errors"):
            error_figure.formulas(self.printed("a\nb\n1 2 3\n1 2 3\n"))


class Drawn(unittest.TestCase):
    """In a copy of what is committed: each can be drawn, and none when it is stale."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.drawn = made_up.repository(folder.name)
        for place in ("common", "chapters"):
            for header in (tree.REPOSITORY / place).glob("**/*.h"):  # Included, so tied to.
                cls.copy(header.relative_to(tree.REPOSITORY))
        cls.copy(traces.FOLDER)
        for source in {view.source for one in traces.wanted(tree.REPOSITORY) for view in one.views}:
            cls.copy(source)
        for bench in tree.REPOSITORY.glob("plots/*_bench.cpp"):  # Records are tied to it, too.
            cls.copy(bench.relative_to(tree.REPOSITORY))
        for path, args in pages.directives(tree.REPOSITORY, "figure", *drawings.KINDS):
            page = cls.drawn / path.relative_to(tree.REPOSITORY)
            page.parent.mkdir(parents=True, exist_ok=True)
            with page.open("a") as file:
                file.write(f"<!-- figure {args} -->\n<!-- end -->\n\n")
        for source in cls.drawn.glob("chapters/*/*.cu"):  # The copied ones are others.
            made_up.write(made_up.data_path(cls.drawn, source),
                          made_up.record(cls.drawn, source, 4000))
        with contextlib.redirect_stdout(io.StringIO()):
            plot.draw(cls.drawn, plot.figures(cls.drawn))

    @classmethod
    def copy(cls, name):
        (cls.drawn / name).parent.mkdir(parents=True, exist_ok=True)
        copy = shutil.copytree if (tree.REPOSITORY / name).is_dir() else shutil.copy
        copy(tree.REPOSITORY / name, cls.drawn / name)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve() / "copy"
        shutil.copytree(self.drawn, self.root)

    def check(self):
        with contextlib.redirect_stdout(io.StringIO()) as said:
            status = plot.check(self.root, plot.figures(self.root))
        return status, said.getvalue()

    def text(self, name):
        return (self.root / f"plots/figures/{name}.svg").read_text()

    def render(self, name):
        for path, args in pages.directives(self.root, "figure", *drawings.KINDS):
            if f" as {name} " in f"{args} ":
                kind, *words = args.split()
                return tables.render("figure", kind, words, path)
        self.fail(name)

    def captioned(self):
        return [one.name for one in traces.wanted(self.root) if drawings.KINDS[one.kind].caption]

    def test_each_is_drawn_and_has_a_caption_of_what_was_traced(self):
        self.assertEqual(self.check()[0], 0)
        self.assertGreater(len(self.captioned()), 8)
        for name in self.captioned():
            picture, _, caption = self.render(name)
            self.assertIn(f"plots/figures/{name}.svg", picture)
            self.assertRegex(caption, r"^\*[A-Z].*\.\*$")
        self.assertIn("128 bytes for the 128", self.render("coalesced")[2])
        self.assertIn("1,024 for 128", self.render("coalesced")[2])
        self.assertIn("wait: 4, 16, 16.", self.render("flight")[2])
        self.assertIn("after the other. “Neighbours first” stands", self.render("conflicts")[2])

    def test_they_show_what_was_traced(self):
        for name, *words in (("threads", ">i = 256 to 511<", ">24 threads too many"),
                             ("rounds", ">12,000,004<", ">+ step<"),
                             ("waves", "31 full waves", "1,088 blocks"),
                             ("flight", "4 waits", "1 wait<"),
                             ("half", "(1 + 614/1024)"),
                             ("ballot", "0xaead6cba"),
                             ("butterfly", "far = 4", ">32 bits<")):
            for part in words:
                self.assertIn(part, self.text(name))

    def test_nothing_is_drawn_too_small_to_read(self):
        for name in self.captioned():
            text = self.text(name)
            width = float(re.search(r'width="([\d.]+)pt"', text)[1]) / 0.75
            self.assertLessEqual(width, 830)
            for size in re.findall(r"font-size: ([\d.]+)px", text):
                self.assertGreaterEqual(round(float(size) / 0.75, 1), 11, f"in {name}")

    def test_other_data_are_caught(self):
        for name in ("ballot", "flight", "coalesced"):
            path = self.root / traces.FOLDER / f"{name}.json"
            path.write_text(path.read_text() + "\n")
            self.assertIn(f"{name}.svg was drawn from other data", self.check()[1])
        half = self.root / "tests/programs/half_bits.expected"
        half.write_text(half.read_text() + "\n")
        self.assertIn("half.svg was drawn from other data", self.check()[1])

    def test_a_changed_source_makes_its_drawing_stale(self):
        next(self.root.glob("chapters/*/relu_mask.packed.cu")).write_text("int edited;\n")
        with self.assertRaisesRegex(ValueError, "traced in another version"):
            self.render("butterfly")

    def test_a_drawing_that_no_page_asks_for_belongs_to_none(self):
        page, = (path for path, args in pages.directives(self.root, "figure", "butterfly"))
        page.write_text(page.read_text().replace("<!-- figure butterfly", "<!-- figure nothing"))
        self.assertIn("butterfly.svg belongs to no chapter", self.check()[1])

    def test_the_waves_are_those_of_the_source(self):
        self.assertEqual(drawings_threads.waves_in("constexpr int kWaves = 32;  // so"), 32)

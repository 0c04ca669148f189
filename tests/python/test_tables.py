"""Tables, figure blocks and values say what the data files hold."""

import tempfile
import unittest
import counted
import made_up
from ladder import tables
from ladder.figures import plot
from ladder.measured import records


class Tables(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = made_up.repository(folder.name)
        self.source = self.root / "chapters/03_pack/relu.cu"
        self.page = self.source.parent / "README.md"

    def render(self, kind, name, *args, page=None):
        return tables.render(kind, name, list(args), page or self.page)

    def test_chapter_stands_beside_the_one_before(self):
        lines = self.render("table", "chapter", "2^28")
        self.assertIn("01_one_thread_each µs", lines[0])
        self.assertIn("03_pack GB/s", lines[0])
        self.assertEqual(lines[2], "| 268,435,456 | 539 | 861 | 62.6 % | 539 | "
                         "100.0 % | 3,981 |")
        self.assertEqual(len(lines), 5)

    def test_of_two_contracts_the_page_is_about_the_one_with_the_exercise(self):
        other = self.page.with_name("gelu.cu")
        made_up.add_chapter(self.root, other, 3000)
        with self.assertRaisesRegex(ValueError, "several and not one exercise"):
            self.render("table", "chapter", "2^28")
        self.page.with_name("relu.exercise.cu").write_text("")
        self.assertIn("| 268,435,456 | 539 | 861 |", self.render("table", "chapter", "2^28")[2])
        self.assertIn("| 268,435,456 | 539 | 718 |", self.render("table", "chapter", "gelu.cu", "2^28")[2])
        names = [figure.name for figure in plot.figures(self.root)]
        self.assertIn("by_size_03_pack.svg", names)
        self.assertIn("by_size_03_pack.gelu.svg", names)

    def test_first_chapter_stands_alone(self):
        page = self.root / "chapters/01_one_thread_each/README.md"
        lines = self.render("table", "chapter", page=page)
        self.assertNotIn("03_pack", lines[0])
        self.assertEqual(len(lines), 2 + 4 + 2)

    def test_variants(self):
        lines = self.render("table", "variants")
        self.assertTrue(lines[2].startswith("| `relu.cu` |"))
        self.assertTrue(lines[3].startswith("| `relu.four.cu` |"))

    def test_misaligned(self):
        lines = self.render("table", "misaligned", "2^28")
        self.assertIn("| 2.00 x |", lines[2])

    def test_launch(self):
        lines = self.render("table", "launch", "1024")
        self.assertEqual(lines[2], "| an empty kernel |  | 2.50 | 1.25 |")
        self.assertEqual(lines[3], "| 1,024 | 2.50 | 2.00 | 1.25 |")

    def test_ladder_links_each_chapter_and_gives_its_idea_and_gain(self):
        lines = self.render("table", "ladder", page=self.root / "README.md")
        self.assertEqual(lines[0], "### relu: 8 bytes per element")
        self.assertEqual(lines[2], "|  | chapter | idea | GB/s | of the copy | this step | "
                         "all steps |")
        self.assertRegex(lines[4], r"^\| 01 .* \| 62.6 % \|  \|  \|$")
        self.assertEqual(lines[5], "| 03 | [pack](chapters/03_pack/) | The idea of 03_pack in a "
                         "sentence. | 3,981 | 100.0 % | 1.60 x | 1.60 x |")
        self.assertIn("; n = 2²⁸; datasheet: 4,800 GB/s; each chapter", lines[-1])

    def test_ladder_has_a_heading_for_each_operation(self):
        source = self.root / "chapters/04_half2/gelu.cu"
        made_up.add_chapter(self.root, source, 3900)
        third = self.root / "chapters/05_third/relu.cu"
        made_up.add_chapter(self.root, third, 2000)
        lines = self.render("table", "ladder", page=self.root / "README.md")
        self.assertEqual([line for line in lines if line.startswith("#")],
                         ["### relu: 8 bytes per element", "### gelu: 8 bytes per element"])
        self.assertRegex(lines[6], r"^\| 05 .*third.* \| 0.50 x \| 0.80 x \|$")
        self.assertIn("|  | chapter | idea | GB/s | of the copy |", lines)

    def test_a_datasheet_that_nobody_knows_is_not_told(self):
        for source in (self.root / "chapters").glob("*/*.cu"):
            data = made_up.record(self.root, source, 4000)
            data["context"]["datasheet_gbps"] = "0"
            made_up.write(made_up.data_path(self.root, source), data)
        self.assertNotIn("datasheet", self.render("table", "ladder")[-1])

    def test_caption_names_where_the_numbers_come_from(self):
        for name in ("chapter", "variants", "misaligned", "launch", "ladder"):
            with self.subTest(name):
                caption = self.render("table", name)[-1]
                self.assertIn("*NVIDIA H200, driver 580.1, CUDA 13.0, 2026-01-02, "
                              "commit 0123456789ab; median of 50 calls", caption)

    def test_caption_counts_the_calls(self):
        data = made_up.record(self.root, self.source, 4000)
        for benchmark in data["benchmarks"]:
            benchmark["name"] = benchmark["name"].replace("iterations:50", "iterations:30")
        made_up.write(made_up.data_path(self.root, self.source), data)
        self.assertIn("median of 30 calls", self.render("table", "misaligned")[-1])

    def test_a_claim_that_is_deleted_is_seen(self):
        page = self.source.parent / "README.md"
        page.write_text("It is so. <!-- ptx a.cu b: 1 x ret -->\n\nIt is. <!-- times a.cu < 1 x b.cu at 1 -->\n")
        self.assertIn("| 1 | 0 | 1 |", self.render("table", "claims")[-1])
        page.write_text("It is so.\n\nIt is. <!-- times a.cu < 1 x b.cu at 1 -->\n")
        self.assertIn("| 0 | 0 | 1 |", self.render("table", "claims")[-1])

    def test_provenance_has_a_line_for_every_file(self):
        self.assertEqual(len(self.render("table", "provenance")), 2 + 3)

    def test_local_changes_and_throttling_are_told(self):
        data = made_up.record(self.root, self.source, 4000)
        data["context"]["dirty"] = "yes"
        for benchmark in data["benchmarks"]:
            benchmark["throttled"] = 1.0
        made_up.write(made_up.data_path(self.root, self.source), data)
        lines = self.render("table", "chapter", "2^28")
        self.assertIn("539\\*", lines[2])
        self.assertIn("with local changes", lines[-1])
        self.assertIn("\\* the GPU throttled", lines[-1])

    def test_stale_data_say_so_everywhere(self):
        made_up.plant_trace(self.root, self.source)
        self.source.write_text("int edited;\n")
        for kind, name in tables.RENDERERS:
            if name.startswith("counter"):  # Counted anew each time.
                continue
            if kind == "figure":  # Shows what is not there.
                continue
            if name in ("claims", "parity", "findings", "speed", "memory", "error",
                        "coarsening", "sweep", "error_speed", "fastest", "tried",
                        "turns", "turn_ns", "latency_us", "meetings", "all_reduce",
                        "peers", "peer", "cases", "latency", "pitfall", "arbitration", "kernel", "ptx",
                        "read_us", "random_programs"):  # Of no chapter's record, or of a sum's.
                continue
            args = {"value": ["relu.cu", "2^28"]}.get(kind, [])
            if name in ("floor_us", "sms", "clock"):
                args = ["relu.cu"]
            if name == "times":
                args += ["/"]
            if name == "reckoned":
                args = ["{us", "relu.cu", "2^28}", "/", "2"]
            if name.startswith("share_"):
                args += ["/", "8"]
            with self.subTest(f"{kind} {name}"):
                self.assertIn("an-earlier-version", self.render(kind, name, *args)[-1])

    def test_values(self):
        at_2_28 = {"gbps": "3,981", "percent": "100.0 %", "us": "539",
                   "misaligned_percent": "50.1 %", "copy_gbps": "3,981"}
        for name, expected in at_2_28.items():
            with self.subTest(name):
                self.assertEqual(
                    self.render("value", name, "relu.cu", "2^28"), [expected])
        self.assertEqual(self.render("value", "floor_us", "relu.cu"), ["2.50"])
        self.assertEqual(self.render("value", "sms", "relu.cu"), ["132"])

    def test_a_time_is_shared_out(self):
        for words, expected in {"above_floor_us relu.cu 2^28": "537",
                                "share_us relu.cu 2^28 / 2^10": "0.53",
                                "share_us ../01_one_thread_each/relu.cu 2^28 / 2^10": "0.84",
                                "share_ns relu.cu 2^28 / 1,000": "539"}.items():
            with self.subTest(words):
                self.assertEqual(self.render("value", *words.split()), [expected])
        for words in ("share_us relu.cu 2^28", "share_us relu.cu 2^28 / two",
                      "share_us relu.cu 2^28 /", "share_us relu.cu 2^28 / 1 / 2"):
            with self.subTest(words), self.assertRaisesRegex(ValueError, "COUNT"):
                self.render("value", *words.split())

    def test_a_value_of_another_gpu(self):
        made_up.add_second_gpu(self.root, 2000)
        there = f"on {records.SECOND_GPU}"
        for words, expected in {"percent relu.cu 2^28": "50.1 %", "us relu.cu 2^28": "1,076",
                                "sms relu.cu": "114", "gbps relu.cu 2^28": "1,995"}.items():
            with self.subTest(words):
                self.assertEqual(self.render("value", *f"{words} {there}".split()), [expected])
                self.assertNotEqual(self.render("value", *words.split()), [expected])
        self.assertEqual(self.render("value", *f"share_us relu.cu 2^28 {there} / 1000".split()),
                         ["1.08"])
        with self.assertRaisesRegex(ValueError, "never measured on nvidia-h100:"):
            self.render("value", *"us relu.cu 2^28 on nvidia-h100".split())

    def test_a_chapter_that_nobody_has_measured_says_so_and_hides_no_other(self):
        ladder = self.render("table", "ladder")
        new = self.root / "chapters/04_new/relu.cu"
        made_up.add_chapter(self.root, new, 4000)
        made_up.data_path(self.root, new).unlink()
        self.assertEqual(self.render("table", "ladder"), ladder)
        message = "chapters/04_new/relu.cu was never measured on nvidia-h200: run `make bench04` there"
        self.assertIn(message, tables.STALE)
        page = new.parent / "README.md"
        self.assertEqual(tables.render("table", "chapter", [], page), [f"*Not measured yet: {message}.*"])
        self.assertEqual(tables.render("value", "us", ["relu.cu", "2^28"], page), ["(not measured yet)"])
        self.assertNotIn("by_size_04_new.svg", [figure.name for figure in plot.figures(self.root)])

    def test_the_figure_of_two_gpus_names_both(self):
        with self.assertRaisesRegex(ValueError, f"never measured on {records.SECOND_GPU}"):
            self.render("figure", "gpus")
        made_up.add_second_gpu(self.root, 2000)
        figures = self.root / "plots/figures"
        figures.mkdir()
        (figures / "gpus.svg").write_text("")
        self.assertRegex(self.render("figure", "gpus")[-1], "^\\*NVIDIA H200, .* commit "
                         "0123456789ab; NVIDIA H100 80GB HBM3, .* commit abcdef; median .*; n = 2²⁸;")

    def test_the_copy_beside_a_sum_is_of_half_the_array(self):
        self.assertIn("| copy µs |", self.render("table", "chapter", "2^28")[0])
        data = made_up.add_reads(made_up.record(self.root, self.source, 4000), 4600, 8)
        made_up.write(made_up.data_path(self.root, self.source), data)
        lines = self.render("table", "chapter", "2^28")
        self.assertIn("| copy of half µs |", lines[0])
        self.assertIn("reads and writes half of the array", lines[-1])

    def test_a_series_is_named_behind_the_size(self):
        data = made_up.record(self.root, self.source, 4000)
        data["benchmarks"] += [made_up.benchmark("relu backward", 1 << 28, 2000),
                               made_up.benchmark("relu copy of 12 bytes", 1 << 28, 1000)]
        made_up.write(made_up.data_path(self.root, self.source), data)
        for words, expected in {
                "gbps relu.cu 2^28 backward": "1,995",
                "percent relu.cu 2^28 backward": "50.1 %",
                "us relu.cu 2^28 copy of 12 bytes": "2,150",
                "misaligned_percent relu.cu 2^28": "50.1 %",
                "times relu.cu 2^28 copy of 12 bytes / backward": "2.00",
                "times relu.cu 2^28 backward /": "2.00"}.items():
            with self.subTest(words):
                self.assertEqual(self.render("value", *words.split()), [expected])
        with self.assertRaisesRegex(ValueError, "no 'relu sideways' for n"):
            self.render("value", "us", "relu.cu", "2^28", "sideways")
        with self.assertRaisesRegex(ValueError, "write one size"):
            self.render("value", "us", "relu.cu", "2^28", "2^26")
        with self.assertRaisesRegex(ValueError, "SERIES / SERIES"):
            self.render("value", "times", "relu.cu", "2^28", "backward")

    def test_variants_of_a_series(self):
        for name in ("relu.cu", "relu.four.cu"):
            source = self.source.with_name(name)
            data = made_up.record(self.root, source, 4000)
            data["benchmarks"].append(made_up.benchmark("relu backward", 1 << 28, 2000))
            made_up.write(made_up.data_path(self.root, source), data)
        lines = self.render("table", "variants", "2^28", "backward")
        self.assertEqual(lines[2], "| `relu.cu` | 1,995 | 50.1 % |")

    def write(self, name, text):
        (self.root / name).write_text(text)

    def test_counters_stand_beside_those_of_the_chapter_before(self):
        for name in made_up.CHAPTERS:
            counted.plant(self.write, f"chapters/{name}")
        lines = self.render("table", "counters", "n=2^20")
        self.assertEqual(lines[0], "| counter | 01_one_thread_each | 03_pack | ideal |")
        self.assertEqual(lines[2], "| load requests | 32768 | 32768 |  |")
        self.assertEqual(lines[3], "| sectors per load request | 4.00 | 4.00 | 4.00 |")
        self.assertNotIn("shared loads", "".join(lines))  # There are none.
        self.assertIn("*n = 1,048,576; counted without a GPU", lines[-1])
        words = "n=1024 offset=1 sectors per load request, shared loads".split()
        lines = self.render("table", "counters", *words)
        self.assertEqual(lines[2], "| sectors per load request | 5.00 | 5.00 | 4.00 |")
        self.assertEqual(lines[3], "| shared loads | 0 | 0 |  |")
        self.assertIn("one element off", lines[-1])

    def test_counter_values(self):
        for name in made_up.CHAPTERS:
            counted.plant(self.write, f"chapters/{name}")
        words = "relu.four.cu n=1024 offset=1 sectors per load request".split()
        self.assertEqual(self.render("value", "counter", *words), ["5.00"])

    def test_counters_of_one_kernel(self):
        for name in made_up.CHAPTERS:
            counted.plant(self.write, f"chapters/{name}")
        words = "relu.cu n=1024 kernel=relu_kernel load requests".split()
        self.assertEqual(self.render("value", "counter", *words), ["16"])
        lines = self.render("table", "counters", "n=1024", "kernel=relu_kernel", "load", "requests")
        self.assertIn("*n = 1,024, relu_kernel alone; counted", lines[-1])

    def test_counters_that_cannot_be_told(self):
        for name in made_up.CHAPTERS:
            counted.plant(self.write, f"chapters/{name}")
        for message, request in {
                "say for how many elements": ("table", "counters"),
                "'n=big' is no size": ("table", "counters", "n=big"),
                "relu_ker is launched 0 times, need exactly 1; launched: relu_kernel":
                    ("value", "counter", "relu.cu", "n=1", "kernel=relu_ker", "load", "requests"),
                "nothing is counted as 'sectors'": ("table", "counters", "n=1", "sectors"),
                "write one row": ("value", "counter", "relu.cu", "n=1", "a,", "b"),
                "no file relu.mine.cu": ("value", "counter", "relu.mine.cu", "n=1", "a"),
        }.items():
            with self.subTest(message):
                with self.assertRaisesRegex(ValueError, message):
                    self.render(*request)

    def test_a_program_that_cannot_be_built_is_not_counted(self):
        self.write("Makefile", "%:\n\t@echo no compiler; exit 1\n")
        with self.assertRaisesRegex(ValueError, "cannot be built:\n.*no compiler"):
            self.render("table", "counters", "n=4096")

    def test_figure_block(self):
        with self.assertRaisesRegex(ValueError, "make plots"):
            self.render("figure", "by_size")
        figures = self.root / "plots/figures"
        figures.mkdir()
        (figures / "by_size_03_pack.svg").write_text("")
        lines = self.render("figure", "by_size")
        self.assertIn("](../../plots/figures/by_size_03_pack.svg)", lines[0])
        self.assertIn("commit 0123456789ab", lines[-1])

    def test_bad_requests_say_what_there_is(self):
        for message, request in {
                "no table 'chapters'; there are all_reduce, cases, chapter": ("table", "chapters"),
                "no graph 'x'": ("graph", "x"),
                "'big' is no size": ("table", "chapter", "big"),
                "no 'relu' for n = 9": ("table", "chapter", "9"),
                "FILE.cu N": ("value", "gbps", "relu.cu"),
                "no file relu.mine.cu": ("value", "gbps", "relu.mine.cu", "9"),
        }.items():
            with self.subTest(message):
                with self.assertRaisesRegex(ValueError, message):
                    self.render(*request)

    def test_a_page_without_a_sentence_is_refused(self):
        self.page.write_text("# Only a title\n")
        with self.assertRaisesRegex(ValueError, "no sentence before its command"):
            self.render("table", "ladder")

    def test_the_smaller_gpu_is_shown_at_its_largest_size(self):
        data = made_up.record(self.root, self.source, 4000)
        data["benchmarks"] = [b for b in data["benchmarks"] if b["n"] < 1 << 28]
        made_up.write(made_up.data_path(self.root, self.source), data)
        lines = self.render("table", "ladder", page=self.root / "README.md")
        self.assertIn("n = 2²⁸, 2²⁶;", lines[-1])

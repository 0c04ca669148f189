"""Tables, figure blocks and values say what the data files hold."""

import tempfile
import unittest

import made_up
import tables


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

    def test_ladder_links_each_chapter_and_gives_its_idea(self):
        lines = self.render("table", "ladder", page=self.root / "README.md")
        self.assertEqual(lines[3], "| 03 | [pack](chapters/03_pack/) | The idea "
                         "of 03_pack in a sentence. | 2²⁸ | 3,981 | 100.0 % | 83 % |")

    def test_caption_names_where_the_numbers_come_from(self):
        for name in ("chapter", "variants", "misaligned", "launch", "ladder"):
            with self.subTest(name):
                caption = self.render("table", name)[-1]
                self.assertIn("*NVIDIA H200, driver 580.1, CUDA 13.0, 2026-01-02, "
                              "commit 0123456789ab; median of 50 calls", caption)

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

    def test_stale_data_are_refused_everywhere(self):
        self.source.write_text("// edited\n")
        for kind, name in tables.RENDERERS:
            args = {"value": ["relu.cu", "2^28"]}.get(kind, [])
            if name == "floor_us":
                args = ["relu.cu"]
            with self.subTest(f"{kind} {name}"):
                with self.assertRaisesRegex(ValueError, "another version"):
                    self.render(kind, name, *args)

    def test_values(self):
        at_2_28 = {"gbps": "3,981", "percent": "100.0 %", "us": "539",
                   "misaligned_percent": "50.1 %", "copy_gbps": "3,981"}
        for name, expected in at_2_28.items():
            with self.subTest(name):
                self.assertEqual(
                    self.render("value", name, "relu.cu", "2^28"), [expected])
        self.assertEqual(self.render("value", "floor_us", "relu.cu"), ["2.50"])

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
                "no table 'chapters'; there are chapter": ("table", "chapters"),
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
        with self.assertRaisesRegex(ValueError, "no first sentence"):
            self.render("table", "ladder")

    def test_the_smaller_gpu_is_shown_at_its_largest_size(self):
        data = made_up.record(self.root, self.source, 4000)
        data["benchmarks"] = [b for b in data["benchmarks"] if b["n"] < 1 << 28]
        made_up.write(made_up.data_path(self.root, self.source), data)
        lines = self.render("table", "ladder", page=self.root / "README.md")
        self.assertIn("| 2²⁶ |", lines[3])


if __name__ == "__main__":
    unittest.main()

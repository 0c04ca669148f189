"""Tables, figure blocks and values say what the data files hold."""

import re

import made_up
import pytest
from ladder import tables
from ladder.figures import plot
from ladder.measured import records

# Kinds that show no chapter's record, or are counted anew each time: no record makes them stale.
OF_NO_RECORD = set("""
    arbitration cases claims coarsening counter counters fastest findings kernel latency latency_us
    meetings memory parity all_reduce peer peers pitfall ptx random_programs read_us refused speed sweep tried
    turn_ns turns""".split())


class TestTables(made_up.MadeUp):
    def add_chapter(self, name, gbps):
        source = self.root / "chapters" / name
        made_up.add_chapter(self.root, source, gbps)
        return source

    def add_benchmarks(self, *series_and_gbps):
        """To the record: more series, at 2^28."""
        more = [made_up.benchmark(series, 1 << 28, gbps) for series, gbps in series_and_gbps]
        return lambda data: data["benchmarks"].extend(more)

    @pytest.mark.parametrize("words, rows", {
        "chapter 2^28": ["| 268,435,456 | 539 | 861 | 62.6 % | 539 | 100.0 % | 3,981 |"],
        "variants 2^28": ["| `relu.cu` | 3,981 | 100.0 % |", "| `relu.four.cu` | 3,882 | 97.5 % |"],
        "misaligned 2^28": ["| 268,435,456 | 539 | 100.0 % | 1,076 | 50.1 % | 2.00 x |"],
        "launch 1024": ["| an empty kernel |  | 2.50 | 1.25 |", "| 1,024 | 2.50 | 2.00 | 1.25 |"]}.items())
    def test_rows(self, words, rows):
        assert self.table(words)[2:-2] == rows

    def test_chapter_stands_beside_the_one_before(self):
        head = self.table("chapter 2^28")[0]
        assert "01_one_thread_each µs" in head and "03_pack GB/s" in head

    def test_of_two_contracts_the_page_is_about_the_one_with_the_exercise(self):
        self.add_chapter("03_pack/gelu.cu", 3000)
        self.refuses("several and not one exercise", "table chapter 2^28")
        self.page.with_name("relu.exercise.cu").write_text("")
        assert "| 268,435,456 | 539 | 861 |" in self.table("chapter 2^28")[2]
        assert "| 268,435,456 | 539 | 718 |" in self.table("chapter gelu.cu 2^28")[2]
        names = {figure.name for figure in plot.figures(self.root)}
        assert {"by_size_03_pack.svg", "by_size_03_pack.gelu.svg"} <= names

    def test_first_chapter_stands_alone(self):
        lines = self.table("chapter 2^20 2^28", self.root / "chapters/01_one_thread_each/README.md")
        assert "03_pack" not in lines[0]
        assert len(lines) == 2 + 2 + 2

    def test_ladder_links_each_chapter_and_gives_its_idea_and_gain(self):
        lines = self.table("ladder", self.root / "README.md")
        assert lines[0] == "### relu: 8 bytes per element"
        assert lines[2] == "|  | chapter | idea | GB/s | of the copy | this step | all steps |"
        assert re.search(r"^\| 01 .* \| 62.6 % \|  \|  \|$", lines[4])
        assert lines[5] == ("| 03 | [pack](chapters/03_pack/) | The idea of 03_pack in a "
                            "sentence. | 3,981 | 100.0 % | 1.60 x | 1.60 x |")
        assert "; n = 2²⁸; datasheet: 4,800 GB/s; each chapter" in lines[-1]

    def test_ladder_has_a_heading_for_each_operation(self):
        self.add_chapter("04_half2/gelu.cu", 3900)
        self.add_chapter("05_third/relu.cu", 2000)
        lines = self.table("ladder", self.root / "README.md")
        assert [line for line in lines if line.startswith("#")] == [
            "### relu: 8 bytes per element", "### gelu: 8 bytes per element"]
        assert re.search(r"^\| 05 .*third.* \| 0.50 x \| 0.80 x \|$", lines[6])
        assert "|  | chapter | idea | GB/s | of the copy |" in lines

    def test_a_datasheet_that_nobody_knows_is_not_told(self):
        for source in (self.root / "chapters").glob("*/*.cu"):
            self.plant_record(change=lambda data: data["context"].update(datasheet_gbps="0"), source=source)
        assert "datasheet" not in self.table("ladder")[-1]

    @pytest.mark.parametrize("name", ["chapter", "variants", "misaligned", "launch", "ladder"])
    def test_caption_names_where_the_numbers_come_from(self, name):
        assert ("*NVIDIA H200, driver 580.1, CUDA 13.0, 2026-01-02, "
                "commit 0123456789ab; median of 50 calls" in self.table(f"{name} 2^28")[-1])

    def test_caption_counts_the_calls(self):
        def change(data):
            for benchmark in data["benchmarks"]:
                benchmark["name"] = benchmark["name"].replace("iterations:50", "iterations:30")

        self.plant_record(change=change)
        assert "median of 30 calls" in self.table("misaligned 2^28")[-1]

    def test_a_claim_that_is_deleted_is_seen(self):
        times = "It is. <!-- times a.cu < 1 x b.cu at 1 -->\n"
        self.page.write_text(f"It is so. <!-- ptx a.cu b: 1 x ret -->\n\n{times}")
        assert "| 1 | 0 | 1 |" in self.table("claims")[-1]
        self.page.write_text(f"It is so.\n\n{times}")
        assert "| 0 | 0 | 1 |" in self.table("claims")[-1]

    def test_provenance_has_a_line_for_every_file(self):
        assert len(self.table("provenance")) == 2 + 3

    def test_local_changes_and_throttling_are_told(self):
        def change(data):
            data["context"]["dirty"] = "yes"
            for benchmark in data["benchmarks"]:
                benchmark["throttled"] = 1.0

        self.plant_record(change=change)
        lines = self.table("chapter 2^28")
        assert "539\\*" in lines[2]
        assert "with local changes" in lines[-1]
        assert "\\* the GPU throttled" in lines[-1]

    def test_stale_data_say_so_everywhere(self):
        self.source.write_text("int edited;\n")
        more = {"floor_us": "", "sms": "", "clock": "", "times": "2^28 /", "share_us": "2^28 / 8",
                "share_ns": "2^28 / 8"}
        asked = [(kind, name) for kind, name in tables.RENDERERS
                 if kind != "figure" and name not in OF_NO_RECORD]
        assert len(asked) > 15
        for kind, name in asked:  # A figure shows what is not there.
            words = f"relu.cu {more.get(name, '2^28')}" if kind == "value" else "2^28"
            words = "{us relu.cu 2^28} / 2" if name == "reckoned" else words
            assert "an-earlier-version" in self.render(kind, name, *words.split())[-1], name

    @pytest.mark.parametrize("words, expected", {
        "gbps relu.cu 2^28": "3,981", "percent relu.cu 2^28": "100.0 %", "us relu.cu 2^28": "539",
        "misaligned_percent relu.cu 2^28": "50.1 %", "copy_gbps relu.cu 2^28": "3,981",
        "floor_us relu.cu": "2.50", "sms relu.cu": "132", "above_floor_us relu.cu 2^28": "537",
        "share_us relu.cu 2^28 / 2^10": "0.53",
        "share_us ../01_one_thread_each/relu.cu 2^28 / 2^10": "0.84",
        "share_ns relu.cu 2^28 / 1,000": "539"}.items())
    def test_values(self, words, expected):
        assert self.value(words) == expected

    @pytest.mark.parametrize("count", ["", "/ two", "/", "/ 1 / 2"])
    def test_a_time_is_shared_by_a_count(self, count):
        self.refuses("COUNT", f"value share_us relu.cu 2^28 {count}")

    def test_a_value_of_another_gpu(self):
        made_up.add_second_gpu(self.root, 2000)
        there = f"on {records.SECOND_GPU}"
        for words, expected in {"percent relu.cu 2^28": "50.1 %", "us relu.cu 2^28": "1,076",
                                "sms relu.cu": "114", "gbps relu.cu 2^28": "1,995"}.items():
            assert self.value(f"{words} {there}") == expected
            assert self.value(words) != expected
        assert self.value(f"share_us relu.cu 2^28 {there} / 1000") == "1.08"
        self.refuses("never measured on nvidia-h100:", "value us relu.cu 2^28 on nvidia-h100")

    def test_a_chapter_that_nobody_has_measured_says_so_and_hides_no_other(self):
        ladder = self.table("ladder")
        new = self.add_chapter("04_new/relu.cu", 4000)
        made_up.data_path(self.root, new).unlink()
        assert self.table("ladder") == ladder
        message = "chapters/04_new/relu.cu was never measured on nvidia-h200: run `make bench04` there"
        assert message in tables.STALE
        self.page = new.parent / "README.md"
        assert self.table("chapter") == [f"*Not measured yet: {message}.*"]
        assert self.value("us relu.cu 2^28") == "(not measured yet)"
        assert "by_size_04_new.svg" not in [figure.name for figure in plot.figures(self.root)]

    def test_the_figure_of_two_gpus_names_both(self):
        self.refuses(f"never measured on {records.SECOND_GPU}", "figure gpus")
        made_up.add_second_gpu(self.root, 2000)
        self.write("plots/figures/gpus.svg", "")
        assert re.search("^\\*NVIDIA H200, .* commit 0123456789ab; NVIDIA H100 80GB HBM3, .* commit "
                         "abcdef; median .*; n = 2²⁸;", self.render("figure", "gpus")[-1])

    def test_figure_block(self):
        self.refuses("make plots", "figure by_size")
        self.write("plots/figures/by_size_03_pack.svg", "")
        lines = self.render("figure", "by_size")
        assert "](../../plots/figures/by_size_03_pack.svg)" in lines[0]
        assert "commit 0123456789ab" in lines[-1]

    def test_the_copy_beside_a_sum_is_of_half_the_array(self):
        assert "| copy µs |" in self.table("chapter 2^28")[0]
        self.plant_record(change=lambda data: made_up.add_reads(data, 4600, 8))
        lines = self.table("chapter 2^28")
        assert "| copy of half µs |" in lines[0]
        assert "reads and writes half of the array" in lines[-1]

    def test_a_series_is_named_behind_the_size(self):
        self.plant_record(change=self.add_benchmarks(("relu backward", 2000), ("relu copy of 12 bytes", 1000)))
        for words, expected in {
                "gbps relu.cu 2^28 backward": "1,995",
                "percent relu.cu 2^28 backward": "50.1 %",
                "us relu.cu 2^28 copy of 12 bytes": "2,150",
                "times relu.cu 2^28 copy of 12 bytes / backward": "2.00",
                "times relu.cu 2^28 backward /": "2.00"}.items():
            assert self.value(words) == expected
        self.refuses("no 'relu sideways' for n", "value us relu.cu 2^28 sideways")
        self.refuses("write one size", "value us relu.cu 2^28 2^26")
        self.refuses("SERIES / SERIES", "value times relu.cu 2^28 backward")

    def test_variants_of_a_series(self):
        for name in ("relu.cu", "relu.four.cu"):
            self.plant_record(change=self.add_benchmarks(("relu backward", 2000)), source=self.source.with_name(name))
        assert self.table("variants 2^28 backward")[2] == "| `relu.cu` | 1,995 | 50.1 % |"

    def test_bad_requests_say_what_there_is(self):
        self.refuses("no table 'chapters'; there are all_reduce, cases, chapter", "table chapters")
        self.refuses("no graph 'x'", "graph x")
        self.refuses("'big' is no size", "table chapter big")
        self.refuses("no 'relu' for n = 9", "table chapter 9")
        self.refuses("for how many elements", "table launch")
        self.refuses("FILE.cu N", "value gbps relu.cu")
        self.refuses("no file relu.mine.cu", "value gbps relu.mine.cu 9")

    def test_a_page_without_a_sentence_is_refused(self):
        self.page.write_text("# Only a title\n")
        self.refuses("no sentence before its command", "table ladder")

    def test_the_smaller_gpu_is_shown_at_its_largest_size(self):
        def change(data):
            data["benchmarks"] = [b for b in data["benchmarks"] if b["n"] < 1 << 28]

        self.plant_record(change=change)
        assert "n = 2²⁸, 2²⁶;" in self.table("ladder", self.root / "README.md")[-1]


class TestCounters(made_up.MadeUp):
    @pytest.fixture(autouse=True)
    def counted(self, in_a_made_up_repository):
        for name in made_up.CHAPTERS:
            self.plant_counted(f"chapters/{name}")

    def test_they_stand_beside_those_of_the_chapter_before(self):
        lines = self.table("counters n=2^20")
        assert lines[0] == "| counter | 01_one_thread_each | 03_pack | ideal |"
        assert lines[2] == "| load requests | 32768 | 32768 |  |"
        assert lines[3] == "| sectors per load request | 4.00 | 4.00 | 4.00 |"
        assert "shared loads" not in "".join(lines)  # There are none.
        assert "*n = 1,048,576; counted without a GPU" in lines[-1]
        lines = self.table("counters n=1024 offset=1 sectors per load request, shared loads")
        assert lines[2] == "| sectors per load request | 5.00 | 5.00 | 4.00 |"
        assert lines[3] == "| shared loads | 0 | 0 |  |"
        assert "one element off" in lines[-1]

    def test_values(self):
        assert self.value("counter relu.four.cu n=1024 offset=1 sectors per load request") == "5.00"

    def test_one_kernel(self):
        assert self.value("counter relu.cu n=1024 kernel=relu_kernel load requests") == "16"
        lines = self.table("counters n=1024 kernel=relu_kernel load requests")
        assert "*n = 1,024, relu_kernel alone; counted" in lines[-1]

    def test_what_cannot_be_told(self):
        self.refuses("say for how many elements", "table counters")
        self.refuses("'n=big' is no size", "table counters n=big")
        self.refuses("relu_ker is launched 0 times, need exactly 1; launched: relu_kernel",
                     "value counter relu.cu n=1 kernel=relu_ker load requests")
        self.refuses("nothing is counted as 'sectors'", "table counters n=1 sectors")
        self.refuses("write one row", "value counter relu.cu n=1 a, b")
        self.refuses("no file relu.mine.cu", "value counter relu.mine.cu n=1 a")

    def test_a_program_that_cannot_be_built_is_not_counted(self):
        self.write("Makefile", "%:\n\t@echo no compiler; exit 1\n")
        self.refuses("cannot be built:\n.*no compiler", "table counters n=4096")

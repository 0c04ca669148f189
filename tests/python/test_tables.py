"""Tables, figure blocks and values say what the data files hold."""

import made_up
import pytest
from ladder import pages, tables
from ladder.figures import drawings, plot
from ladder.measured import records, tie

# (kind, name) -> (the page, the words) where each is woven first.
ASKED = {(d.word, d.args.split()[0]): (path, d.args.split()[1:]) for path in reversed(pages.every(pages.ROOT))
         for d in reversed(pages.Page(path, pages.ROOT).directives) if d.word in ("table", "value", "figure")}
OF_NO_RECORD = {("value", "counter"), ("figure", "error"), *(("figure", kind) for kind in drawings.KINDS),
                *(("table", name) for name in ("claims", "counters", "ptx", "random_programs", "refused"))}


@pytest.mark.parametrize("kind, name", sorted(ASKED.keys() - OF_NO_RECORD))
def test_what_was_recorded_of_an_earlier_version_says_so(kind, name, monkeypatch):
    page, words = ASKED[kind, name]
    monkeypatch.setattr(tie, "_code", lambda path: (f"another {path}", ()))
    assert "an-earlier-version" in tables.render(kind, name, words, page)[-1]


class TestTables(made_up.MadeUp):
    def add_chapter(self, name, gbps):
        source = self.root / "chapters" / name
        made_up.add_chapter(self.root, source, gbps)
        return source

    def test_of_two_contracts_the_page_is_about_the_one_with_the_exercise(self):
        self.add_chapter("03_pack/gelu.cu", 3000)
        self.refuses("several and not one exercise", "table chapter 2^28")
        self.page.with_name("relu.exercise.cu").write_text("")
        assert "| 268,435,456 | 539 | 861 |" in self.table("chapter 2^28")[2]
        assert "| 268,435,456 | 539 | 718 |" in self.table("chapter gelu.cu 2^28")[2]
        names = {figure.name for figure in plot.figures(self.root)}
        assert {"by_size_03_pack.svg", "by_size_03_pack.gelu.svg"} <= names

    def test_a_datasheet_that_nobody_knows_is_not_told(self):
        for source in (self.root / "chapters").glob("*/*.cu"):
            self.plant_record(change=lambda data: data["context"].update(datasheet_gbps="0"), source=source)
        assert "datasheet" not in self.table("ladder")[-1]

    def test_caption_counts_the_calls(self):
        def change(data):
            for benchmark in data["benchmarks"]:
                benchmark["name"] = benchmark["name"].replace("iterations:50", "iterations:30")

        self.plant_record(change=change)
        assert "median of 30 calls" in self.table("misaligned 2^28")[-1]

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

    @pytest.mark.parametrize("count", ["", "/ two", "/", "/ 1 / 2"])
    def test_a_time_is_shared_by_a_count(self, count):
        self.refuses("COUNT", f"value share_us relu.cu 2^28 {count}")

    def test_a_chapter_that_nobody_has_measured_says_so_and_hides_no_other(self):
        ladder = self.table("ladder")
        new = self.add_chapter("04_new/relu.cu", 4000)
        made_up.data_path(self.root, new).unlink()
        assert self.table("ladder") == ladder
        message = "chapters/04_new/relu.cu was never measured on nvidia-h200: run `make bench04` there"
        assert message in tables.STALE
        self.page = new.parent / "README.md"
        assert self.table("chapter 2^28") == [f"*Not measured yet: {message}.*"]
        assert self.value("us relu.cu 2^28") == "(not measured yet)"
        assert "by_size_04_new.svg" not in [figure.name for figure in plot.figures(self.root)]

    def test_bad_requests_say_what_there_is(self):
        self.refuses("no table 'chapters'; there are all_reduce, cases, chapter", "table chapters")
        self.refuses("no graph 'x'", "graph x")
        self.refuses("write: table chapter .FILE. N...", "table chapter big")
        self.refuses("no 'relu' for n = 9", "table chapter 9")
        self.refuses("write: table launch N...", "table launch")
        self.refuses("FILE N", "value gbps relu.cu")
        self.refuses("no file relu.mine.cu", "value gbps relu.mine.cu 9")
        self.refuses("no 'relu sideways' for n", "value us relu.cu 2^28 sideways")
        self.refuses("no 'relu 2.26' for n", "value us relu.cu 2^28 2^26")
        self.refuses("SERIES / OTHER", "value times relu.cu 2^28 backward")
        self.refuses("never measured on nvidia-h100:", "value us relu.cu 2^28 on nvidia-h100")
        self.refuses(f"never measured on {records.SECOND_GPU}", "figure gpus")
        self.refuses("make plots", "figure by_size")

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

    def test_what_cannot_be_told(self):
        self.refuses("write: table counters CASE", "table counters")
        self.refuses("'n=big' is no size", "table counters n=big")
        self.refuses("relu_ker is launched 0 times, need exactly 1; launched: relu_kernel",
                     "value counter relu.cu n=1 kernel=relu_ker load requests")
        self.refuses("nothing is counted as 'sectors'", "table counters n=1 sectors")
        self.refuses("nothing is counted as 'a, b'", "value counter relu.cu n=1 a, b")
        self.refuses("no file relu.mine.cu", "value counter relu.mine.cu n=1 a")

    def test_a_program_that_cannot_be_built_is_not_counted(self):
        self.write("Makefile", "%:\n\t@echo no compiler; exit 1\n")
        self.refuses("cannot be built:\n.*no compiler", "table counters n=4096")

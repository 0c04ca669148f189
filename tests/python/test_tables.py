"""Tables, figure blocks and values say what the data files hold."""

import made_up
import pytest
from ladder import pages, tables
from ladder.figures import drawings, plot
from ladder.measured import program_record, records, tie

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


REFUSED = {
    "table chapters": "no table 'chapters'; there are all_reduce, cases, chapter", "graph x": "no graph 'x'",
    "table chapter big": "write: table chapter .FILE. N...", "table chapter 9": "no copy of 72 bytes|no 'relu' for n = 9",
    "table launch": "write: table launch N...", "value gbps relu.cu": "FILE N",
    "value gbps relu.mine.cu 9": "no file relu.mine.cu", "value us relu.cu 2^28 sideways": "no 'relu sideways' for n",
    "value us relu.cu 2^28 2^26": "no 'relu 2.26' for n", "value times relu.cu 2^28 backward": "SERIES / OTHER",
    "value us relu.cu 2^28 on nvidia-h100": "never measured on nvidia-h100:",
    "value clock relu.cu 2^28": "write: value clock",
    **{f"value share_us relu.cu 2^28 {count}": "COUNT" for count in ("", "/ two", "/", "/ 1 / 2")},
    "table counters": "write: table counters CASE", "table counters n=big": "'n=big' is no size",
    "value counter relu.cu n=1 kernel=relu_ker load requests":
        "relu_ker is launched 0 times, need exactly 1; launched: relu_kernel",
    "table counters n=1 sectors": "nothing is counted as 'sectors'",
    "value counter relu.cu n=1 a, b": "nothing is counted as 'a, b'",
    "value counter relu.mine.cu n=1 a": "no file relu.mine.cu",
    "value peer relu.cu cuDNN 2^28": "was not timed", "value peer relu.cu PyTorch 2^7": "was not timed",
    "value pitfall wrong nothing": "the names are first launch", "value all_reduce speed": "write: value all_reduce",
    "value latency tree": "the names are load from L1", "value latency tree step * 10": "the names are",
    "value latency_us tree * 10": "the names are", "value latency_us tree step * ten": "the names are",
    **{f"value cases reductions {words}": "" for words in ("median", "beside Thrust", "mean of nothing", "worst of short")},
    "value tried 3 256 2^28": "were not tried", "value tried 1 256": "write: value tried",
    "value reckoned {us relu.cu 2^28} - 99999": "nothing is left", "value reckoned {us relu.cu 2^28} - x": "no calculation",
    "value reckoned {us relu.cu 2^28} -": "no result", "value reckoned {us relu.cu 2^28} / 0": "no result",
    "value reckoned {us relu.cu}": "write: value us", "value reckoned {tree step} / 2": "is no value",
    "value reckoned {reckoned us relu.cu 2^28} * 2": "no calculation",
    "value reckoned {latency_us tree} / 2": "the names are"}


@pytest.mark.parametrize("words, message", REFUSED.items())
def test_what_cannot_be_woven_is_refused(words, message):
    kind, name, *more = words.split()
    with pytest.raises(ValueError, match=message):
        tables.render(kind, name, more, pages.ROOT / "chapters/03_pack/README.md")


class TestTables(made_up.MadeUp):
    @pytest.mark.parametrize("words, message", {
        "figure gpus": f"never measured on {records.SECOND_GPU}", "figure by_size": "make plots",
        "value latency tree step": "run `make latency` there", "table peers relu 2^28": "run `make peers` there",
        "table speed": "run `make speed`"}.items())
    def test_what_nobody_has_measured_is_refused(self, words, message):
        self.refuses(message, words)

    def test_what_nobody_has_measured_on_that_gpu_says_so(self):
        assert "Not measured yet" in self.table("meetings")[0] and "Not measured yet" in self.table("cases engine 2")[0]

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

    def test_a_page_without_a_sentence_is_refused(self):
        self.page.write_text("# Only a title\n")
        self.refuses("no sentence before its command", "table ladder")

    def test_the_smaller_gpu_is_shown_at_its_largest_size(self):
        def change(data):
            data["benchmarks"] = [b for b in data["benchmarks"] if b["n"] < 1 << 28]

        self.plant_record(change=change)
        assert "n = 2²⁸, 2²⁶;" in self.table("ladder", self.root / "README.md")[-1]

    def test_a_program_that_cannot_be_built_is_not_counted(self):
        self.write("Makefile", "%:\n\t@echo no compiler; exit 1\n")
        self.refuses("cannot be built:\n.*no compiler", "table counters n=4096")


def test_a_gpu_need_not_have_measured_everything(monkeypatch):
    newest = program_record.ProgramRecord.newest
    monkeypatch.setattr(program_record.ProgramRecord, "newest", lambda record, root, gpu=records.REFERENCE_GPU: {
        name: ns for name, ns in newest(record, root, gpu).items() if gpu == records.REFERENCE_GPU or name != "barrier"})
    lines = tables.render("table", "latency", [], pages.ROOT / "docs/measuring.md")
    assert ["barrier" in line and line.endswith("| - |") for line in lines].count(True) == 1

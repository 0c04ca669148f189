"""A small repository with made-up measurements, for the tests of plots/."""

import json
import pathlib

import pytest
from ladder import tables
from ladder.figures import plot
from ladder.measured import bench, records
import tree

SIZES = (1024, 150_528, 1 << 20, 1 << 26, 1 << 28)
CHAPTERS = {"01_one_thread_each/relu.cu": 2500, "03_pack/relu.cu": 4000,
            "03_pack/relu.four.cu": 3900}


class MadeUp(tree.Folder):
    """Tests of such a repository."""

    @pytest.fixture(autouse=True)
    def in_a_made_up_repository(self, in_a_folder_of_its_own, capsys):
        self.root, self.capsys = repository(self.root), capsys
        self.source = self.root / "chapters/03_pack/relu.cu"
        self.page = self.source.parent / "README.md"

    def render(self, kind, name, *args, page=None):
        return tables.render(kind, name, list(args), page or self.page)

    def table(self, words, page=None):
        """The lines where a page says `table WORDS`."""
        return self.render("table", *words.split(), page=page)

    def value(self, words):
        return self.render("value", *words.split())[0]

    def refuses(self, message, words):
        """words: 'value NAME ...' or so, of a page."""
        with pytest.raises(ValueError, match=message):
            self.render(*words.split())

    def draw(self):
        plot.draw(self.root, plot.figures(self.root))

    def check(self):
        """What is said of the figures that were drawn."""
        self.capsys.readouterr()
        status, said = plot.check(self.root, plot.figures(self.root)), self.capsys.readouterr().out
        assert status == ("FAIL" in said), said
        return said

    def plant_record(self, gbps=4000, change=lambda data: None, source=None):
        """What was measured of the source, once `change` has been made to it."""
        source = source or self.source
        data = record(self.root, source, gbps)
        change(data)
        write(data_path(self.root, source), data)


def benchmark(series, n, gbps, bytes_=8):
    us = 2.5 + bytes_ * n / gbps * 1e-3
    return {"name": f"{series}/n:{n}/iterations:50/manual_time", "n": float(n),
            "bytes": float(bytes_ * n), "p10_us": us * 0.99, "p50_us": us,
            "p90_us": us * 1.01, "warm_p50_us": us * 0.8,
            "graph_p50_us": us * 0.5, "throttled": 0.0}


def record(root, source, gbps):
    """What `make bench` would have written for `source`."""
    op = records.op_of(source)
    benchmarks = [benchmark("empty kernel", 0, gbps)]
    for n in SIZES:
        benchmarks += [benchmark("copy", n, 4000), benchmark(op, n, gbps)]
        if n >= 1 << 20:
            benchmarks.append(benchmark(op + records.MISALIGNED, n, gbps / 2))
    context = dict.fromkeys(records.CONTEXT, "made up") | {
        "gpu": "NVIDIA H200", "driver": "580.1", "cuda": "13.0",
        "clocks_before": "SM 1980 MHz, memory", "sms": "132", "l2_bytes": str(60 << 20), "datasheet_gbps": "4800",
        "date": "2026-01-02T03:04:05+00:00",
        "commit": "0123456789ab", "dirty": "no",
        "source": str(source.relative_to(root)),
        "tie": records.tie_of(root, source.relative_to(root))}
    return {"context": context, "benchmarks": benchmarks}


def data_path(root, source, gpu=records.REFERENCE_GPU):
    return root / "plots/data" / gpu / "2026-01-02" / records.file_name(source)


def record_below(root, monkeypatch):
    """What is measured comes to lie there."""
    monkeypatch.setattr(bench, "DATA", root / "plots/data")
    monkeypatch.setattr(bench, "SCRATCH", root / "plots/data/recording.json")


def write(path, data):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(records.sealed(data) if isinstance(data, dict) else json.dumps(data))


def repository(root):
    """Chapters, pages and a record for each; returns the root, resolved."""
    root = pathlib.Path(root).resolve()
    plant_harness(root)
    for name, gbps in CHAPTERS.items():
        add_chapter(root, root / "chapters" / name, gbps)
    return root


def plant_harness(root):
    """What times the chapters, as a record's tie has it."""
    for name in ("common/harness/bench.cpp", "common/harness/empty_kernel.cu", "common/harness/read_kernel.cu",
                 *(f"plots/{bench.name}" for bench in tree.REPOSITORY.glob("plots/*_bench.cpp"))):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"// {name}\n")


def add_chapter(root, source, gbps):
    source.parent.mkdir(parents=True, exist_ok=True)
    source.write_text(f"// {source.parent.name}/{source.name}\n")
    page = source.parent / "README.md"
    page.write_text(f"# A title\n\n**Why?**\n\nThe idea of {source.parent.name}\n"
                    "in a sentence. A second one.\n\n`make chapter03 && ./run`\n")
    write(data_path(root, source), record(root, source, gbps))

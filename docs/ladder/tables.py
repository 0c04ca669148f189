"""The tables, figures and single values that weave.py puts into pages.

Each function has the usage by which a page asks for it. A word in capitals stands for what the page
says there, and is an argument of the function; what stands in [brackets] may be left out.

    FILE      a .cu, named as it is seen from the page
    N         how many elements, 150528 or 2^28; N... are several
    SERIES    what a series is called behind the name of its op, `backward` for `OP backward`;
              without it, the op's own is meant
    GPU       another folder of plots/data than the H200's
    CASE      n=1048576 or n=2^20, then offset=1 if arrays start one element too far, and
              kernel=NAME for one kernel of several
    ROWS      of the table that ./run prints without a GPU; without any, all that matter are woven

Counters come from the executor when they are woven. The rest raises ValueError with what to do when
data are missing or older than the .cu.
"""

import collections
import itertools
import os
import re
import statistics

from harness import calculated
from ladder import counts, forms, pages, prose, refused
from ladder.figures import (asked, budget_figure, counters_figure, drawings, error_figure, traces,
                            two_gpus_figure)
from ladder.measured import (all_reduce, cases, latency, moved, parity_data, peers, pitfalls,
                             random_programs, records, sanitizer, speed, sweep)
from ladder.measured.records import HEADLINE, REFERENCE_GPU, parse_size
from ladder.pages import Problem

STALE = set()  # A sentence for each stale record that was shown.
RENDERERS = {}  # (kind, name) -> what is called with the root, the page and its words.

# What an argument looks like, if not like anything at all; and what the function gets of it, if not the text.
PATTERNS = {"file": r"\S+\.cu", "n": r"\S+", "sizes": r"\d\S*(?: \d\S*)*", "count": r"\d\S*", "gpu": r"\S+", "by": r"\S+",
            "op": r"\S+", "case": r"\S+=\S+(?: \S+=\S+)*", "factor": r"\d+", "block": r"\d+", "series": r"(?!on \S+(?: /|$))(?:(?! ?/).)+?"}
READ = {"file": pages.beside, "n": lambda _, text: parse_size(text), "count": lambda _, text: parse_size(text),
        "sizes": lambda _, text: [*map(parse_size, text.split())],
        "case": lambda _, text: counts.parse_case(text.split()), "rows": lambda _, text: text.split(", ")}


def shown(usage):
    """What the function returns, a line or several, is woven where a page asks for it so."""
    kind, name, *_ = usage.split(" ")

    def group(word):
        argument = "sizes" if word[0] == "N..." else word[0].lower()
        return f"(?P<{argument}>{PATTERNS.get(argument, '.+?')})"

    pattern = re.sub(r"\b[A-Z]+\b(?:\.\.\.)?", group, usage.replace("*", r"\*"))
    pattern = re.sub(r" \[([a-z]+)\]", r"(?P<\1> \1)?", pattern)
    pattern = re.compile(re.sub(r" \[(.*?)\]", r"(?: \1)?", pattern))

    def register(function):
        def rendered(root, page, words):
            found = pattern.fullmatch(" ".join([kind, name, *words]))
            if not found:
                raise ValueError(f"write: {usage}")
            given = {argument: text for argument, text in found.groupdict().items() if text is not None}
            return function(root, page, **{argument: READ[argument](page, text) if argument in READ else text
                                           for argument, text in given.items()})
        RENDERERS[kind, name] = rendered
        return function
    return register


def render(kind, name, words, page):
    """The Markdown lines of one woven block."""
    if (kind, name) not in RENDERERS:
        there = sorted(name for of_kind, name in RENDERERS if of_kind == kind)
        raise ValueError(f"there is no {kind} '{name}'; there are {', '.join(there)}")
    records.stale.clear()
    records.missing.clear()
    page = page.resolve()
    try:
        lines = RENDERERS[kind, name](records.root_of(page), page, words)
    except records.Unmeasured as reason:
        STALE.add(str(reason))
        return ["(not measured yet)" if kind == "value" else f"*Not measured yet: {reason}.*"]
    lines = lines if isinstance(lines, list) else [lines]
    STALE.update(records.stale + records.missing)
    return marked(kind, lines, page) if records.stale else lines


def marked(kind, lines, page):
    """What was measured of an earlier version says so, where it stands."""
    about = os.path.relpath(records.root_of(page) / "docs/measuring.md", page.parent)
    if kind == "value":
        return [f"{lines[0]}<sup>[old]({about}#an-earlier-version)</sup>"]
    return [*lines, "", f"*Of an [earlier version]({about}#an-earlier-version).*"]


# ---- Of the chapters' records ------------------------------------------------


@shown("table chapter [FILE] N...")
def table_chapter(root, page, sizes, file=None):
    """This chapter beside the one before and the copy."""
    compared = _with_previous(root, file or _own(page))
    this = compared[-1]
    halves = bool(this.sizes(records.READ))  # A copy writes as much as it reads.
    header = ["n", "copy of half µs" if halves else "copy µs"]
    for record in compared:
        header += [f"{_folder(record)} µs", "of the copy"]
    rows = []
    for n in sizes:
        cells = [f"{n:,}", _us(this.copy_of(this.headline(n)))]
        for record in compared:
            cells += [_us(record.headline(n)), _percent(record, record.headline(n))]
        rows.append([*cells, f"{this.headline(n).gbps:,.0f}"])
    note = "each chapter beside the copy of its own run"
    if halves:
        note += ", which reads and writes half of the array, as many bytes in all"
    return _table([*header, f"{_folder(this)} GB/s"], rows, caption(compared, note))


def _with_previous(root, source):
    """The records of the chapter before, if there is one, and of this."""
    before = records.previous(root, source)
    return [*records.measured(root, [before] if before else []), records.of_source(root, source)]


@shown("table variants N... [SERIES]")
def table_variants(root, page, sizes, series=""):
    """The files of this chapter beside each other."""
    compared = [records.of_source(root, s) for s in records.sources(page.parent)]
    rows = []
    for record in compared:
        found = [record.row(record.series(series), n) for n in sizes]
        cells = [(f"{row.gbps:,.0f}", _percent(record, row)) for row in found]
        name = os.path.basename(record.context["source"])
        rows.append([f"`{name}`", *itertools.chain(*cells)])
    return _table(["file", *_at_each(sizes, "GB/s", "of the copy")], rows,
                  caption(compared, "each file beside the copy of its own run"))


def _at_each(sizes, first, second):
    """The head of two columns for each size."""
    return [words for n in sizes for words in (f"{_power(n)}: {first}", second)]


@shown("table misaligned N...")
def table_misaligned(root, page, sizes):
    """Aligned and one element off, same process."""
    record = records.of_source(root, _own(page))
    rows = []
    for n in sizes:
        good, bad = record.headline(n), record.row(record.op + records.MISALIGNED, n)
        rows.append([f"{n:,}", _us(good), _percent(record, good), _us(bad), _percent(record, bad),
                     f"{bad.us / good.us:.2f} x"])
    header = ["n", "aligned µs", "of the copy", "one element off µs", "of the copy", "takes"]
    return _table(header, rows, caption([record], "every array starts one element too far"))


@shown("table launch N...")
def table_launch(root, page, sizes):
    """Small sizes: cold, warm, and in a CUDA graph."""
    record = records.of_source(root, _own(page))
    floor = record.row(records.FLOOR, 0)
    rows = [["an empty kernel", "", _us(floor), _time(floor.graph_us)]]
    for row in map(record.headline, sizes):
        rows.append([f"{row.n:,}", _us(row), _time(row.warm_us), _time(row.graph_us)])
    return _table(["n", "cold µs", "warm µs", "in a CUDA graph µs"], rows,
                  caption([record], "warm: the same arrays again; in a graph: warm, per call of 64 "
                          "that the GPU launches itself"))


@shown("table ladder")
def table_ladder(root, page):
    """Every chapter, by operation: its idea, speed and gain."""
    families = {}
    for record in records.measured(root, records.main_sources(root)):
        families.setdefault(record.op, []).append(record)
    lines, measured, sizes = [], [], {}
    for op, family in families.items():
        rows = [record.headline() for record in family]
        lines += [f"### {op}: {rows[0].bytes / rows[0].n:.4g} bytes per element", "",
                  *_ladder_of(root, page, family, rows), ""]
        measured += family
        sizes |= dict.fromkeys(_power(row.n) for row in rows)
    return [*lines, caption(measured, f"n = {', '.join(sizes)}{_datasheet(measured)}; each chapter "
                            "beside the copy of its own run")]


def _ladder_of(root, page, family, rows):
    """The chapters of one operation, and what each gains where there are several."""
    header = ["", "chapter", "idea", "GB/s", "of the copy"]
    reached = list(map(records.Record.percent_of_copy, family, rows))
    cells = []
    for record, row in zip(family, rows):
        folder = (root / record.context["source"]).parent
        number, _, title = folder.name.partition("_")
        link = os.path.relpath(folder, page.parent)
        cells.append([number, f"[{title.replace('_', ' ')}]({link}/)", idea(folder / "README.md"),
                      f"{row.gbps:,.0f}", _percent(record, row)])
    if len(family) > 1:
        header += ["this step", "all steps"]
        cells[0] += ["", ""]
        for k, more in enumerate(cells[1:]):
            more += [f"{reached[k + 1] / before:.2f} x" for before in (reached[k], reached[0])]
    return _table(header, cells, align="rll" + "r" * (len(header) - 3))


def idea(page):
    """A chapter's idea: the sentence before its command."""
    paragraphs = page.read_text().split("\n\n") if page.is_file() else []
    for before, paragraph in itertools.pairwise(paragraphs):
        if paragraph.startswith("`make chapter"):
            return prose.sentences(before)[0].replace("|", "\\|")
    raise ValueError(f"{page.parent.name}/README.md has no sentence before its "
                     "command to give the idea")


@shown("table provenance")
def table_provenance(root, page):
    """Every data file and where it comes from."""
    rows = []
    for record in records.measured(root, records.all_sources(root)):
        c = record.context
        rows.append([f"`{c['source']}`", c["gpu"], record.date, _commit(c), c["driver"], c["cuda"],
                     c["clocks_before"], c["clocks_after"]])
    header = ["file", "GPU", "date", "commit", "driver", "CUDA", "clocks before", "clocks after"]
    return _table(header, rows, align="l" * len(header))


def _value_of_row(name, function, suffix=""):
    """Of a row of the op's series, or of the one that the page names."""
    @shown(f"value {name} FILE N [SERIES] [on GPU]")
    def value(root, page, file, n, series="", gpu=REFERENCE_GPU):
        record = records.of_source(root, file, gpu)
        return function(record, record.row(record.series(series) + suffix, n))


_value_of_row("gbps", lambda record, row: f"{row.gbps:,.0f}")
_value_of_row("percent", lambda record, row: _percent(record, row))
_value_of_row("misaligned_percent", lambda record, row: _percent(record, row), records.MISALIGNED)
_value_of_row("us", lambda record, row: _time(row.us))
_value_of_row("read_us", lambda record, row: _time(record.read_of(row).us))
_value_of_row("copy_gbps", lambda record, row: f"{record.copy_of(row).gbps:,.0f}")
_value_of_row("above_floor_us", lambda record, row: _time(row.us - record.floor_us))


def _value_of_record(name, function):
    """Of no row of it."""
    @shown(f"value {name} FILE [on GPU]")
    def value(root, page, file, gpu=REFERENCE_GPU):
        return function(records.of_source(root, file, gpu))


def _clock_ghz(record):
    """Of an SM before it was measured: cycles per nanosecond."""
    mhz = re.match(r"SM (\d+) MHz", record.context["clocks_before"])
    if not mhz:
        raise ValueError(f"{record.path} does not know the SMs' clock")
    return f"{int(mhz[1]) / 1000:.2f}"


_value_of_record("floor_us", lambda record: _time(record.floor_us))
_value_of_record("sms", lambda record: record.context["sms"])
_value_of_record("clock", _clock_ghz)


def _value_of_share(name, unit):
    """A call's time, divided by how often something happens in it."""
    @shown(f"value {name} FILE N [SERIES] [on GPU] / COUNT")
    def value(root, page, file, n, count, series="", gpu=REFERENCE_GPU):
        record = records.of_source(root, file, gpu)
        return _time(unit * (record.row(record.series(series), n).us / count))


_value_of_share("share_us", 1)
_value_of_share("share_ns", 1000)


@shown("value times FILE N SERIES / OTHER")
def value_times(root, page, file, n, series, other):
    """So much longer takes the first."""
    record = records.of_source(root, file)
    a, b = (record.row(record.series(one), n) for one in (series, other))
    return f"{a.us / b.us:.2f}"


@shown("value reckoned NUMBERS")
def value_reckoned(root, page, numbers):
    """What comes out of a calculation such as {us FILE N} / 2 - {latency_us NAME}, with other values
    as a page prints them."""
    def printed(value):
        name, *words = value[1].split()
        if ("value", name) not in RENDERERS:
            raise ValueError(f"{value[0]} is no value")
        return RENDERERS["value", name](root, page, words).replace(",", "").removesuffix(" %")

    while innermost := re.search(r"\{([^{}]+)\}", numbers):
        numbers = numbers.replace(innermost[0], printed(innermost))
    result = calculated(numbers)
    if result <= 0:
        raise ValueError(f"nothing is left: {numbers}")
    return _time(result)


# ---- Counted by the executor -------------------------------------------------


@shown("table counters CASE [ROWS]")
def table_counters(root, page, case, rows=()):
    """Counters, this chapter beside the one before."""
    source = _own(page)
    before = records.previous(root, source)
    counted = {s.parent.name: counts.of_source(root, s, case) for s in (before, source) if s}
    this = counted[source.parent.name]
    names = rows or [row.name for row in this.rows.values() if row.relevant]
    cells = [[name, *(one.row(name).text for one in counted.values()), this.row(name).ideal] for name in names]
    return _table(["counter", *counted, "ideal"], cells,
                  f"*{case}; counted without a GPU, the same on every machine; instructions are "
                  "PTX's.*")


shown("value counter FILE CASE ROW")(
    lambda root, page, file, case, row: counts.of_source(root, file, case).row(row).text)


@shown("table claims")
def table_claims(root, page):
    """How many claims each page has, so that none gets lost unseen."""
    rows = []
    for path in pages.find(root):
        words = [directive.word for directive in pages.Page(path, root).directives]
        counted = [words.count(word) for word in pages.CHECKED]
        if any(counted):
            rows.append([_link(path, page, path.relative_to(root)), *map(str, counted)])
    return _table(["page", *pages.CHECKED], rows)


@shown("table ptx WHAT")
def table_ptx(root, page, what):
    """What the decoder's list holds: a block for each group, or a list of names."""
    accepted = forms.accepted(root)
    if what == "forms":
        return [line for title, lines in accepted.groups.items()
                for line in ["", f"{title}:", "", "```text", *lines, "```"]][1:]
    if what == "words":
        words = (f"{f'<{word}>':12}{meaning}" for word, meaning in accepted.words.items())
        return ["```text", *words, "```"]
    if what in ("specials", "directives"):
        return [", ".join(f"`{name}`" for name in getattr(accepted, what))]
    raise Problem("say which: table ptx forms|words|specials|directives")


@shown("table refused")
def table_refused(root, page):
    """The calls of the runtime that the executor lacks, and the uses of others."""
    calls, uses = refused.calls(root), refused.uses(root)
    rows = [[what, ", ".join([*(f"`{name}`" for name in calls[what]),
                              *(_link(path, page, path.name) for path in uses[what])])]
            for what in [*calls, *(what for what in uses if what not in calls)]]
    return _table(["the executor has no", "missing calls, or the file that says so"], rows, align="ll")


# ---- Beside others -----------------------------------------------------------


@shown("table peers OP N...")
def table_peers(root, page, op, sizes):
    """The chapters of a contract beside its peers."""
    measured, rows = peers.newest(root), []
    for by in measured.by(op, sizes[0]):
        cells = [peers.label(by)]
        for n in sizes:
            time, copy = measured.time(op, by, n), measured.time(op, records.COPY, n)
            cells += [_time(time.p50_us), f"{100 * copy.p50_us / time.p50_us:.1f} %"]
        rows.append(cells)
    return _table(["", *_at_each(sizes, "µs", "of the copy")], rows, peers.caption(measured))


@shown("value peer FILE BY N")
def value_peer(root, page, file, by, n):
    """What BY (CUB, PyTorch, ...) takes, in times of FILE's."""
    measured, op = peers.newest(root), records.op_of(file)
    names = {peers.label(by): by for by in measured.by(op, n)}
    if by not in names:
        raise ValueError(f"{by} was not timed; {', '.join(names)} were")
    ours = measured.time(op, str(file.relative_to(root)), n)
    return f"{measured.time(op, names[by], n).p50_us / ours.p50_us:.2f} x"


@shown("table cases NAME COUNT [large] [beside WHOM]")
def table_cases(root, page, name, count, large="", whom=""):
    """Of what plots/NAME.py times, the slowest beside PyTorch; of large ones, from 2^27 bytes on, those
    that reach least of the roof."""
    compared = cases.newest(root, name)
    beside = [cases.PYTORCH, whom] if whom else [cases.PYTORCH]
    order = sorted(compared.large, key=compared.of_roof) if large else compared.slowest_first
    rows = [[compared.cases[k].name, _time(compared.us(k, cases.ENGINE)),
             *(f"{compared.us(k, by) / compared.us(k, cases.ENGINE):.2f} x" if by in compared.ways[k] else ""
               for by in beside),
             f"{100 * compared.of_roof(k):.0f} %"]
            for k in order[:count]]
    header = ["case", "engine µs", *(f"{by} takes" for by in beside), f"of the {compared.context['roof']}"]
    return _table(header, rows, _caption_of_cases(compared))


def _caption_of_cases(compared):
    c = compared.context
    middle = f"the middle one of {c['rounds']} such medians, " if "rounds" in c else ""
    return (f"*{c['gpu']}, CUDA {c['cuda']}, PyTorch {c['torch']}, {c['date']}, commit "
            f"{_commit(c)}; {len(compared.cases)} cases in one process, median of {c['calls']} "
            f"calls, {middle}L2 cold.*")


shown("figure ratios NAME")(lambda root, page, name: _figure(
    root, page, f"ratios_{name}", "Points, one per case: how many times as long as the engine PyTorch takes, against "
                                  "the bytes that must move", _caption_of_cases(cases.newest(root, name))))


@shown("value cases NAME WHICH")
def value_cases(root, page, name, which):
    """How many cases there are, or how many times as long as the engine others take."""
    compared = cases.newest(root, name)
    ratios = list(map(compared.ratio, range(len(compared.cases))))
    match which.split():
        case ["count"]:
            return str(len(ratios))
        case ["large"]:
            return str(len(compared.large))
        case ["below", part]:
            return str(sum(ratio < float(part) for ratio in ratios))
        case ["large", "below", part]:  # Of the roof.
            return str(sum(compared.of_roof(k) < float(part) for k in compared.large))
        case ["busy", *words]:
            kernel, _, case = " ".join(words).partition(" of ")
            return f"{compared.context['busy_link'][case][kernel]:.1f} %"
        case ["worst"]:
            ratios = [min(ratios)]
        case ["mean"]:
            pass
        case ["mean", "of", *ending]:
            ratios = [ratio for ratio, one in zip(ratios, compared.cases) if one.name.endswith(" ".join(ending))]
        case ["beside", whom]:
            ratios = [compared.worst_beside(whom)]
        case ["mean", "beside", whom]:
            ratios = [ways[whom] / ways[cases.ENGINE] for ways in compared.ways if whom in ways]
        case _:
            raise ValueError("write: value cases NAME mean [of ENDING]|worst|count|large|[large] below PART"
                             "|[mean] beside WHOM|busy KERNEL of CASE")
    if not ratios or None in ratios:
        raise ValueError(f"no case of {name} fits '{which}'")
    return f"{statistics.geometric_mean(ratios):.2f} x"


# ---- Of programs with a main of their own ------------------------------------


# Nanoseconds of one thing alone, NAME as plots/latency.cu prints it; microseconds of so many, one after the other.
shown("value latency NAME")(lambda root, page, name: _recorded(_constant_ns(root, name)))
shown("value latency_us NAME [* COUNT]")(
    lambda root, page, name, count=1: _time(1e-3 * _constant_ns(root, name) * count))


def _constant_ns(root, name):
    return _named(latency.RECORD.newest(root), name, "value latency NAME")


def _recorded(ns):
    """All digits, so that who multiplies them gets what a page says."""
    return f"{ns:,.4g}"


def _named(told, name, usage):
    if name not in told:
        raise ValueError(f"write: {usage}; the names are {'; '.join(told)}")
    return told[name]


@shown("table latency")
def table_latency(root, page):
    """What plots/latency.cu measures, on each GPU that has a record."""
    gpus = latency.RECORD.gpus(root)
    told = [latency.RECORD.newest(root, gpu) for gpu in gpus]
    contexts = [latency.RECORD.context(root, gpu) for gpu in gpus]
    rows = [[name, *(_recorded(of_gpu[name]) if name in of_gpu else "-" for of_gpu in told)]
            for name in told[0]]
    return _table(["ns", *(context["gpu"] for context in contexts)], rows,
                  f"*{'; '.join(_origin([context]) for context in contexts)}.*")


@shown("table meetings")
def table_meetings(root, page):
    """What files that sum over devices take of few numbers, beside NCCL."""
    told = all_reduce.newest(root)
    rows = []
    for name, of_file in told.steps.items():
        for row in of_file:
            rows.append([f"`{name}`", f"{row['devices']}", _time(row["own"]), _time(row["whole"]),
                         _time(all_reduce.meeting_us(row)), _beside_nccl(told, row) if row["devices"] > 1 else ""])
    header = ["file", "devices", "own sums µs", "whole µs", "meeting µs", "of NCCL's smallest"]
    return _table(header, rows, _caption_of_meetings(told))


def _beside_nccl(told, row):
    return f"{all_reduce.meeting_us(row) / told.smallest_us(row['devices']):.2f} x"


@shown("table all_reduce N...")
def table_all_reduce(root, page, sizes):
    """NCCL's all-reduce of so many bytes."""
    told = all_reduce.newest(root)
    rows = []
    for devices, size in itertools.product(told.devices, sizes):
        found = [told.row(devices, size, place) for place in all_reduce.PLACES]
        rows.append([f"{devices}", f"{size:,}", *(cell for row in found for cell in (
            _time(row["us"]), f"{row['bus_gbps']:,.3g}"))])
    header = ["devices", "bytes", "µs", "bus GB/s", "in place µs", "bus GB/s"]
    return _table(header, rows, _caption_of_meetings(told))


def _caption_of_meetings(told):
    return (f"*{_origin([told.context])}; the host's clock over many calls, one after the other, "
            "divided by their number, as in NCCL's own tests.*")


@shown("figure grows")
def figure_grows(root, page):
    told = all_reduce.newest(root)
    return _figure(root, page, "grows", "Lines: the time of an all-reduce around a ring and along "
                                        "a tree, of few bytes and of many, against the number of "
                                        "devices; points: what was measured",
                   f"*Points: {_origin([told.context])}. Lines are computed: "
                   f"{_recorded(told.hop_us)} µs for a message and {_recorded(told.link_gbps)} "
                   "GB/s, both of two devices.*")


@shown("figure moved")
def figure_moved(root, page):
    """What the memory moved for each of this chapter's files."""
    told = moved.newest(root, records.op_of(_own(page)))
    c = told.context
    return _figure(root, page, f"moved_{told.path.stem.removesuffix('_moved')}",
                   "Bars, one per file: bytes that the GPU's memory was read and written for each "
                   "element, and a line at those that are needed",
                   f"*{c['gpu']}, CUDA {c['cuda']}, {c['date']}, commit {_commit(c)}; counted by "
                   f"Nsight Compute, n = {_power(c['n'])}.*")


@shown("value all_reduce WHICH")
def value_all_reduce(root, page, which):
    """What a message between two devices costs, its bandwidth, or a meeting in times of NCCL's smallest."""
    told = all_reduce.newest(root)
    values = {"hop_us": _recorded(told.hop_us), "link_gbps": _recorded(told.link_gbps)} | {
        f"beside {name} {row['devices']}": _beside_nccl(told, row)
        for name, rows in told.steps.items() for row in rows if row["devices"] > 1}
    return _named(values, which, "value all_reduce NAME")


@shown("value pitfall WHICH NAME")
def value_pitfall(root, page, which, name):
    """What docs/how-not-to-measure.md gets `wrong` about NAME, and `right`."""
    pair = _named(pitfalls.RECORD.newest(root), name, "value pitfall wrong|right NAME")
    number = _named(pair, which, "value pitfall WHICH NAME")
    return _time(number) if name.endswith("us") else f"{number:,.0f}"


# ---- Of the executor itself --------------------------------------------------


def _table_of(name, rows_of, align=None):
    @shown(f"table {name}")
    def table(root, page):
        header, rows, caption = rows_of(root)
        return _table(header, rows, caption, align and align * len(header))


_table_of("findings", sanitizer.who_finds_what, "l")
_table_of("speed", speed.time_table)
_table_of("memory", speed.memory_table)
_table_of("coarsening", sweep.counters_table)


@shown("table random_programs")
def table_random_programs(root, page):
    """How many of tests/fuzz do what they did on a GPU; why others do not."""
    found = random_programs.causes((root / random_programs.ASIDE).read_text())
    whole = random_programs.recorded((root / random_programs.RECORD).read_text())
    aside = [sum(map(len, seeds)) for seeds in zip(*((one.results, one.counters) for one in found))]
    rows = [["all that were recorded", *(f"{n:,}" for n in whole)],
            ["equal here", *(f"{n - other:,}" for n, other in zip(whole, aside))]]
    for one in found:
        counted = len(one.results), len(one.counters)
        rows.append([one.words, *(f"{count:,}" if count else "" for count in counted)])
    return _table(["random programs", "results", "counters"], rows)


@shown("table parity WHAT")
def table_parity(root, page, what):
    """How often the executor counts what ncu counts; where it does not, and why."""
    views = {"programs": _parity_programs, "differences": _parity_differences}
    return _named(views, what, "table parity NAME")(root, page)


CHAPTERS = "all chapters and variants"


def _parity_programs(root, page):
    """A row for each test program, and one for the chapters together."""
    compared = parity_data.load(parity_data.newest(root), root)
    groups = {}
    for program in compared.programs:
        is_chapter = program.startswith("chapters/")
        title = CHAPTERS if is_chapter else _link(root / program, page)
        groups.setdefault(title, []).append(program)
    groups[CHAPTERS] = groups.pop(CHAPTERS, [])  # The last one.
    rows = []
    for title, programs in groups.items():
        launches = [(program, one) for program in programs for one in compared.programs[program]]
        differing = [sum(bool(parity_data.differs(*launch, quantity)) for launch in launches)
                     for quantity in parity_data.QUANTITIES]
        rows.append([title, f"{len(launches):,}", *(str(count or "") for count in differing)])
    c = compared.context
    again = collections.Counter((when["date"], when["commit"]) for when in compared.later.values())
    later = "".join(f"; {count} program{'s' * (count > 1)} anew on {date}, commit {commit}"
                    for (date, commit), count in sorted(again.items()))
    return _table(["launches that differ in", "of", *parity_data.QUANTITIES], rows,
                  f"*{c['gpu']}, driver {c['driver']}, CUDA {c['cuda']}, Nsight Compute "
                  f"{c['ncu']}, {c['date']}, commit {c['commit']}{later}; empty: none. Branches and lanes "
                  f"may differ by {parity_data.POINTS} of a hundred, in leaving.cu by "
                  f"{100 * parity_data.RELATIVE:.0f} %; all else is exact.*")


def _parity_differences(root, page):
    found = parity_data.read_exceptions((root / parity_data.EXCEPTIONS).read_text())
    rows = []
    for cause in dict.fromkeys(e.cause for e in found):
        mine = [e for e in found if e.cause == cause]
        quantities = [q for q in parity_data.QUANTITIES if any(q in e.quantities for e in mine)]
        rows.append([cause, ", ".join(quantities), ", ".join(f"`{e.kernel}`" for e in mine)])
    return _table(["cause", "shows in", "kernels"], rows, align="lll")


@shown("table kernel FILE NAME")
def table_kernel(root, page, file, name):
    """What ncu and the executor count of one launch of NAME."""
    found = [one for one in _counted_on_gpu(root, file) if one.kernel == name]
    if len(found) != 1:
        raise ValueError(f"{file.relative_to(root)} has {len(found)} counted launches of {name}; "
                         "make parity on a machine with a GPU counts them")
    sides = found[0].ncu, found[0].executor
    rows = [[word, f"`{metric}`", *(f"{side[metric]:,.10g}" for side in sides)]
            for metric, word in parity_data.WORDS.items() if any(side[metric] for side in sides)]
    return _table(["counter", "as ncu calls it", "ncu", "the executor"], rows, align="llrr")


@shown("value arbitration FILE")
def value_arbitration(root, page, file):
    """What hardware adds to FILE's wavefronts of shared memory."""
    return f"{max(map(parity_data.percent_by_arbitration, _counted_on_gpu(root, file))):.2g} %"


def _counted_on_gpu(root, file):
    """A program's launches."""
    known = parity_data.load(parity_data.newest(root), root).programs
    program = str(file.relative_to(root))
    if program not in known:
        raise ValueError(f"{program} was not counted; {', '.join(known)} were")
    return known[program]


# ---- Of the sweep ------------------------------------------------------------


def _of_chapters_size(root):
    """What was timed, the chapter's own size of block, and the pairs that have it."""
    swept, block = sweep.timed(root), sweep.chapters_own(root).block
    return swept, block, [sweep.Pair(coarse, block) for coarse in sweep.FACTORS]


@shown("table sweep N...")
def table_sweep(root, page, sizes):
    """The kernel that is swept by its factor, timed."""
    swept, block, pairs = _of_chapters_size(root)
    rows = []
    for pair in pairs:
        record = swept.records[pair]
        found = [record.headline(n) for n in sizes]
        rows.append([f"{pair.coarse}", *(cell for row in found for cell in (
            _us(row), f"{record.percent_of_read(row):.1f} %"))])
    return _table(["numbers per thread", *_at_each(sizes, "µs", "of the read")], rows,
                  caption(swept.records.values(), f"blocks of {block} threads, each factor beside "
                          "reading as many bytes in its own run"))


@shown("table turns")
def table_turns(root, page):
    """What two constants explain of each time: the speed of reading, and a turn."""
    swept, block, pairs = _of_chapters_size(root)
    rows = []
    for pair in pairs:
        record, blocks = swept.records[pair], budget_figure.blocks(pair)
        row = record.headline(HEADLINE)
        turned, read = blocks * 1e-3 * _constant_ns(root, "atomic addition"), record.read_of(row).us
        left = _printed(row.us) - max(_printed(turned), _printed(read))
        rows.append([f"{pair.coarse}", f"{blocks:,}", _time(turned), _time(read), _us(row),
                     f"{max(0, left):.0f}"])
    header = ["numbers per thread", "blocks", "their turns µs", "a plain read µs", "measured µs",
              "left over µs"]
    return _table(header, rows, caption(
        swept.records.values(), f"n = {_power(HEADLINE)}, blocks of {block} threads; "
        "left over: beyond the longer of turns and read"))


def _printed(microseconds):
    """As a reader has it who goes on reckoning."""
    return float(_time(microseconds).replace(",", ""))


# The most that an addition to the one sum can take: a block's share of the time, where the shares are smallest.
shown("value turn_ns")(lambda root, page: _time(1000 * min(
    record.headline(HEADLINE).us / budget_figure.blocks(pair) for pair, record in sweep.timed(root).records.items())))
shown("value fastest N")(lambda root, page, n: str(sweep.fastest(sweep.timed(root), n)))


@shown("value tried FACTOR BLOCK N")
def value_tried(root, page, factor, block, n):
    """The time of one pair."""
    pair, swept = sweep.Pair(int(factor), int(block)), sweep.timed(root)
    if pair not in swept.records:
        raise ValueError(f"{pair} were not tried: see sweep.py")
    return _time(swept.records[pair].headline(n).us)


def _figure_of_sweep(name, alt, says="", words=""):
    @shown(f"figure {name}{words}")
    def figure(root, page, file=None):
        timed = sweep.timed(root).records.values()
        told = [f"*{says}*", ""] if says else []
        return _figure(root, page, name, alt, *told, caption(timed, f"n = {_power(HEADLINE)}"))


_figure_of_sweep(
    "sweep", "Lines, one per size of block: time against the numbers that a thread adds up by itself", words=" FILE")
_figure_of_sweep(
    "budget", "Bars, a row per number of floats that a thread adds up by itself: the time per "
              "block, split into reading and the rest",
    "Blue grows with the numbers of a block, orange does not: there is one tree and one place in "
    "the queue per block. Where blue is long, other blocks read meanwhile, and hide the orange.")
_figure_of_sweep(
    "blocks", "Points, one per size of block and coarsening factor: the time of a sum against its "
    "number of blocks",
    "Where blocks of different sizes take the same time, it is their number alone that counts: "
    "each adds once to the one sum.")


# ---- Other figures -----------------------------------------------------------


@shown("figure ladder")
def figure_ladder(root, page):
    measured = records.measured(root, records.main_sources(root))
    sizes = dict.fromkeys(_power(record.headline().n) for record in measured)
    note = f"n = {', '.join(sizes)}; grey: PyTorch and CUB, in a process of their own"
    return _figure(root, page, "ladder", "Bars: each chapter's bandwidth as a part of what a plain "
                                         "copy reaches; PyTorch's and CUB's", caption(measured, note))


@shown("figure gpus")
def figure_gpus(root, page):
    measured = two_gpus_figure.records_of(root)
    origins = "; ".join(_origin([record.context for record in of_gpu]) for of_gpu in measured)
    return _figure(root, page, "gpus", "Bars, two per chapter: its bandwidth as a part of what a "
                                       "plain copy reaches, on two "
                                       "GPUs", f"*{origins}; {_median(sum(measured, []))}; "
                   f"n = {_power(HEADLINE)}; each chapter beside the copy of its own run.*")


@shown("figure by_size [FILE]")
def figure_by_size(root, page, file=None):
    source = file or _own(page)
    measured = _with_previous(root, source)
    roof = "read" if measured[-1].sizes(records.READ) else "copy"
    says = (f"At 100 % the kernel takes exactly as long as a plain {roof} of the same number of bytes, "
            "timed in the same run. The band around a line holds 40 of the 50 calls.")
    return _figure(root, page, f"by_size_{records.figure_name(source)}",
                   "Lines: bandwidth in percent of what a plain copy or read reaches, against the "
                   "number of elements, for this chapter and the one "
                   "before", f"*{says}*", "", caption(measured))


shown("figure error")(lambda root, page: _figure(
    root, page, "error", "Lines: the error of a sum of n floats, one by one, by a tree, and by a tree per block, each "
                         "below the most that it can be"))


@shown("figure error_speed WORDS")
def figure_error_speed(root, page, words):
    alt, titles = error_figure.panels(f"error_speed {words}")
    measured = sum(error_figure.with_errors(root, titles), [])
    note = f"time: n = {_power(HEADLINE)}; error: the worst of all sizes from 2²⁰ on"
    return _figure(root, page, "error_speed", "Points, one per kernel: its worst error against its "
                                              f"time, {alt}", caption(measured, note))


@shown("figure counters")
def figure_counters(root, page):
    """What the executor counts of each chapter, beside times."""
    measured = records.measured(root, records.main_sources(root))
    return _figure(root, page, "counters", "Bars, one row per chapter: bytes moved, requests and "
                                           "instructions per element as the executor counts them, "
                                           "and the time per element that was measured",
                   caption(measured, f"n = {_power(counters_figure.DRAWN)}"))


def _figure_of(kind, drawing):
    """One idea, traced: asked.py says how it is asked for."""
    @shown(f"figure {kind} [WORDS]")
    def figure(root, page, words=""):
        one = asked.parse(f"{kind} {words}", page, root)
        seen = traces.shown(root, one)
        told = [f"*{drawing.caption_of(seen, one.note)}*"] if drawing.says else []
        return _figure(root, page, one.name, drawing.alt_of(seen), *told)


for _kind, _drawing in drawings.KINDS.items():
    _figure_of(_kind, _drawing)


# ---- What they have in common ------------------------------------------------


def _figure(root, page, name, alt, *below):
    """plots/figures/NAME.svg, and the lines below it, its caption the last one."""
    path = root / "plots" / "figures" / f"{name}.svg"
    if not path.is_file():
        raise ValueError(f"plots/figures/{path.name} is not there: run `make plots`")
    picture = f"![{alt}]({os.path.relpath(path, page.parent)})"
    return [picture, "", *below] if below else [picture]


def _table(header, rows, caption="", align=None):
    align = align or "l" + "r" * (len(header) - 1)
    rule = [{"l": "---", "r": "---:"}[a] for a in align]
    lines = ["| " + " | ".join(cells) + " |" for cells in (header, rule, *rows)]
    return [*lines, "", caption] if caption else lines


def caption(measured, note=None):
    """Where the numbers come from: GPU, driver, CUDA, date, commit."""
    text = _origin([record.context for record in measured]) + "; " + _median(measured)
    if note:
        text += "; " + note
    if any(row.throttled for record in measured for row in record.rows.values()):
        text += "; \\* the GPU throttled meanwhile"
    return f"*{text}.*"


def _origin(contexts):
    def unique(texts):
        return ", ".join(dict.fromkeys(texts))

    days = sorted({c["date"][:10] for c in contexts})
    commits = list(dict.fromkeys(map(_commit, contexts)))
    return ", ".join([unique(c["gpu"] for c in contexts),
                      "driver " + unique(c["driver"] for c in contexts),
                      "CUDA " + unique(c["cuda"] for c in contexts),
                      " to ".join(dict.fromkeys([days[0], days[-1]])),
                      # Each of many is named on its chapter's page.
                      f"{len(commits)} commits" if len(commits) > 3
                      else "commit " + " and ".join(commits)])


def _median(measured):
    calls = {row.calls for record in measured for row in record.rows.values()}
    return f"median of {' or '.join(map(str, sorted(calls)))} calls, L2 cold"


def _commit(context):
    return context["commit"] + (" with local changes" if context["dirty"] == "yes" else "")


def _own(page):
    """The chapter's own file, beside its page."""
    return records.chapters_own(page.parent)


def _folder(record):
    return os.path.basename(os.path.dirname(record.context["source"]))


def _link(path, page, title=None):
    return f"[{title or path.name}]({os.path.relpath(path, page.parent)})"


def _power(n):
    """268435456 -> 2^28 with a raised exponent; other sizes with commas."""
    if n & (n - 1):
        return f"{n:,}"
    digits = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
    return "2" + str(n.bit_length() - 1).translate(digits)


def _time(microseconds):
    """Three significant digits, all digits from 100 up."""
    if microseconds is None:
        return ""
    decimals = 0 if microseconds >= 100 else 1 if microseconds >= 10 else 2
    return f"{microseconds:,.{decimals}f}"


def _us(row):
    return _time(row.us) + ("\\*" if row.throttled else "")


def _percent(record, row):
    return f"{record.percent_of_copy(row):.1f} %"


def _datasheet(measured):
    """Nothing where the driver does not know the memory's clock."""
    known = {float(record.context["datasheet_gbps"]) for record in measured} - {0}
    return "".join(f"; datasheet: {gbps:,.0f} GB/s" for gbps in sorted(known))

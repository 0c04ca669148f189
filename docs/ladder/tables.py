"""The tables, figures and single values that weave.py puts into pages.

    table chapter [FILE] N...    this chapter beside the one before and the copy
    table variants N... [SERIES]     the files of this chapter beside each other
    table misaligned N...     aligned and one element off, same process
    table counters CASE [ROW, ROW...]   counters, this chapter beside the one before
    table launch N...         small sizes: cold, warm, and in a CUDA graph
    table ladder              every chapter, by operation: its idea, speed and gain
    table peers OP N...       the chapters of a contract beside its peers
    table cases NAME COUNT    of what plots/NAME.py times, the slowest beside PyTorch
    table cases NAME COUNT large   those from 2^27 bytes on that reach least of the roof
    table provenance          every data file and where it comes from
    table claims              how many claims each page has, so that none gets lost unseen
    table parity programs     how often the executor counts what ncu counts
    table parity differences  where it does not, and why
    table random_programs     how many of tests/fuzz do what they did on a GPU; why others do not
    table kernel FILE NAME    what ncu and the executor count of one launch of NAME
    table ptx forms           the PTX that the executor accepts; words, specials, directives
    table refused             the calls of the runtime that it lacks, and the uses of others
    table findings            wrong programs: what the executor and the sanitizer find
    table speed               the executor's own time a thread, and numba's simulator's
    table memory              the executor's own memory
    table coarsening          the kernel that is swept by its factor, counted
    table sweep N...          the same, timed
    table turns               the same, at 2^28, beside the blocks' turns at the one sum
    table latency             what plots/latency.cu measures, on each GPU that has a record
    table meetings            what files that sum over devices take of few numbers, beside NCCL
    table all_reduce N...     NCCL's all-reduce of so many bytes
    figure ladder             what plot.py drew, with its caption
    figure gpus               each chapter's part of the copy, on two GPUs
    figure by_size [FILE]     the same, for this chapter
    figure error              how the error of a sum grows
    figure error_speed "ALT" OP "TITLE" OP "TITLE"   worst errors beside times, of two contracts
    figure counters           what the executor counts of each chapter, beside times
    figure KIND [as NAME] FILE 'CODE' ...   one idea, traced: asked.py says how it is asked
                              for, drawings.py has the kinds
    figure sweep FILE         this kernel by its factor and its block: the one that is swept
    figure ratios NAME        what plots/NAME.py times: one mark per case
    figure moved              what the memory moved for each of this chapter's files
    figure grows              what an all-reduce takes on ever more devices: the model
    figure budget             what its blocks' time goes to; figure blocks: by their number
    value fastest N           the best pair of those
    value tried FACTOR BLOCK N   239, the time of one pair in µs
    value turn_ns             1.83, the most that one addition to the one sum takes
    value gbps FILE N         4271
    value percent FILE N      99.8 %   of the copy in the same process
    value us FILE N           2011     and misaligned_percent, likewise
    value copy_gbps FILE N    4277     value floor_us FILE: the launch floor
    value read_us FILE N      5.41     a plain read of as many bytes, in the same run
    value above_floor_us FILE N   what a call takes beyond the launch floor
    value share_us FILE N / COUNT   1.82   a call's time, divided; share_ns likewise
    value sms FILE            132      the SMs of the GPU that was measured
    value times FILE N SERIES / SERIES   1.45   so much longer takes the first

SERIES is what a series is called behind the name of its op, `backward` for
`OP backward`; without it, the op's own is meant. These may end with it, too:
gbps, percent, us, copy_gbps. Behind that, `on GPU` names another folder of
plots/data than the H200's; share_us and share_ns take it in front of the slash.

    value counter FILE CASE ROW   16.00
    value peer FILE BY N      1.14 x   what BY (CUB, PyTorch, ...) takes, in times of FILE's
    value cases NAME mean     1.55 x   of all ratios to PyTorch's time; worst, count, below 0.95,
                              large (from 2^27 bytes on), large below 0.9 of the roof,
                              beside CUB: the least of CUB's time over the engine's,
                              mean beside CUB: geometric, of the cases that CUB has
    value arbitration FILE    0.5 %    what hardware adds to FILE's wavefronts of shared memory
    value latency NAME        262.1    ns of one thing alone: NAME as plots/latency.cu prints it
    value latency_us NAME [* COUNT]   1.19   µs of so many, one after the other
    value clock FILE          1.98     GHz of an SM before it was measured: cycles per nanosecond
    value reckoned {us FILE N} / 2 - {latency_us NAME}   what a reader gets from other
                              values: each is taken as rounded as a page prints it
    value all_reduce hop_us   9.1      what a message between two devices costs; link_gbps: its
                              bandwidth; beside FILE: a meeting in times of NCCL's smallest
    value pitfall wrong NAME  what docs/how-not-to-measure.md gets wrong, and `right`

CASE is n=1048576 or n=2^20, then offset=1 if arrays start one element too far,
and kernel=NAME for one kernel of several.
ROW is a row of the table that ./run prints without a GPU; without any, all that
matter are woven. Counters come from the executor when they are woven. The rest:

N is 150528 or 2^28, FILE a .cu beside the page. Everything raises ValueError
with what to do when data are missing or older than the .cu.
"""

import itertools
import math
import os
import re
import statistics

from ladder import counts, forms, pages, prose, refused
from ladder.figures import (asked, budget_figure, counters_figure, drawings, error_figure, traces,
                            two_gpus_figure)
from ladder.measured import (all_reduce, cases, latency, moved, parity_data, peers, pitfalls,
                             random_programs, records, sanitizer, speed, sweep)
from ladder.measured.records import HEADLINE, SIZE, parse_size
from ladder.pages import Problem

STALE = set()  # A sentence for each stale record that was shown.


def render(kind, name, args, page):
    """The Markdown lines of one woven block."""
    renderers = {key[1]: function for key, function in RENDERERS.items() if key[0] == kind}
    if name not in renderers:
        raise ValueError(f"there is no {kind} '{name}'; there are {', '.join(sorted(renderers))}")
    records.stale.clear()
    records.missing.clear()
    page = page.resolve()
    try:
        lines = renderers[name](records.root_of(page), page, args)
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


def table_chapter(root, page, args):
    source, sizes = _source_and_rest(page, args)
    shown = _with_previous(root, source)
    this = shown[-1]
    halves = bool(this.sizes(records.READ))  # A copy writes as much as it reads.
    header = ["n", "copy of half µs" if halves else "copy µs"]
    for record in shown:
        header += [f"{_folder(record)} µs", "of the copy"]
    rows = []
    for n in _sizes(sizes):
        cells = [f"{n:,}", _us(this.copy_of(this.headline(n)))]
        for record in shown:
            cells += [_us(record.headline(n)), _percent(record, record.headline(n))]
        rows.append([*cells, f"{this.headline(n).gbps:,.0f}"])
    note = "each chapter beside the copy of its own run"
    if halves:
        note += ", which reads and writes half of the array, as many bytes in all"
    return _table([*header, f"{_folder(this)} GB/s"], rows, caption(shown, note))


def _with_previous(root, source):
    """The records of the chapter before, if there is one, and of this."""
    before = records.previous(root, source)
    return [*records.measured(root, [before] if before else []), records.of_source(root, source)]


def table_variants(root, page, args):
    shown = [records.of_source(root, s) for s in records.sources(page.parent)]
    if not shown:
        raise ValueError(f"{page.parent.name} has no .cu file")
    sizes, series = _sizes_and_series(args, shown[0].op)
    sizes, rows = _sizes(sizes), []
    for record in shown:
        found = [record.row(series, n) for n in sizes]
        cells = [(f"{row.gbps:,.0f}", _percent(record, row)) for row in found]
        name = os.path.basename(record.context["source"])
        rows.append([f"`{name}`", *itertools.chain(*cells)])
    return _table(["file", *_at_each(sizes, "GB/s", "of the copy")], rows,
                  caption(shown, "each file beside the copy of its own run"))


def _at_each(sizes, first, second):
    """The head of two columns for each size."""
    return [words for n in sizes for words in (f"{_power(n)}: {first}", second)]


def table_misaligned(root, page, args):
    record = records.of_source(root, _source(page))
    off = record.op + records.MISALIGNED
    rows = []
    for n in _sizes(args):
        good, bad = record.headline(n), record.row(off, n)
        rows.append([f"{n:,}", _us(good), _percent(record, good), _us(bad), _percent(record, bad),
                     f"{bad.us / good.us:.2f} x"])
    header = ["n", "aligned µs", "of the copy", "one element off µs", "of the copy", "takes"]
    return _table(header, rows, caption([record], "every array starts one element too far"))


def table_launch(root, page, args):
    record = records.of_source(root, _source(page))
    floor = record.row(records.FLOOR, 0)
    rows = [["an empty kernel", "", _us(floor), _time(floor.graph_us)]]
    for n in _sizes(args):
        row = record.headline(n)
        rows.append([f"{n:,}", _us(row), _time(row.warm_us), _time(row.graph_us)])
    return _table(["n", "cold µs", "warm µs", "in a CUDA graph µs"], rows,
                  caption([record], "warm: the same arrays again; in a graph: warm, per call of 64 "
                          "that the GPU launches itself"))


def table_ladder(root, page, args):
    families = {}
    for record in records.measured(root, records.main_sources(root)):
        families.setdefault(record.op, []).append(record)
    lines, shown, sizes = [], [], {}
    for op, family in families.items():
        rows = [record.headline() for record in family]
        lines += [f"### {op}: {rows[0].bytes / rows[0].n:.4g} bytes per element", "",
                  *_ladder_of(root, page, family, rows), ""]
        shown += family
        sizes |= dict.fromkeys(_power(row.n) for row in rows)
    return [*lines, caption(shown, f"n = {', '.join(sizes)}{_datasheet(shown)}; each chapter "
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


def table_provenance(root, page, args):
    rows = []
    folders = records.chapter_folders(root)
    sources = [source for folder in folders for source in records.sources(folder)]
    for record in records.measured(root, sources):
        c = record.context
        rows.append([f"`{c['source']}`", c["gpu"], record.date, _commit(c), c["driver"], c["cuda"],
                     c["clocks_before"], c["clocks_after"]])
    header = ["file", "GPU", "date", "commit", "driver", "CUDA", "clocks before", "clocks after"]
    return _table(header, rows, align="l" * len(header))


def _value(name, function, suffix=""):
    """Of a row of the op's series, or of the one that the page names."""
    def rendered(root, page, args):
        record, words = _call(root, page, args, f"write: value {name} FILE.cu N [SERIES] [on GPU]")
        sizes, series = _sizes_and_series(words, record.op)
        if len(sizes) != 1:
            raise ValueError(f"write one size: value {name} FILE.cu N [SERIES]")
        return function(record, record.row(series + suffix, parse_size(sizes[0])))
    return rendered


value_gbps = _value("gbps", lambda record, row: f"{row.gbps:,.0f}")
value_percent = _value("percent", lambda record, row: _percent(record, row))
value_misaligned_percent = _value("misaligned_percent", lambda record, row: _percent(record, row),
                                  records.MISALIGNED)
value_us = _value("us", lambda record, row: _time(row.us))
value_read_us = _value("read_us", lambda record, row: _time(record.read_of(row).us))
value_copy_gbps = _value("copy_gbps", lambda record, row: f"{record.copy_of(row).gbps:,.0f}")
value_above_floor_us = _value("above_floor_us", lambda record, row: _time(row.us - record.floor_us))


def _value_of_record(name, function):
    """Of no row of it."""
    def rendered(root, page, args):
        words, gpu = _gpu(args)
        file, = _words(words, f"value {name} FILE.cu [on GPU]")
        return function(records.of_source(root, pages.beside(page, file), gpu))
    return rendered


def _clock_ghz(record):
    mhz = re.match(r"SM (\d+) MHz", record.context["clocks_before"])
    if not mhz:
        raise ValueError(f"{record.path} does not know the SMs' clock")
    return f"{int(mhz[1]) / 1000:.2f}"


value_floor_us = _value_of_record("floor_us", lambda record: _time(record.floor_us))
value_sms = _value_of_record("sms", lambda record: record.context["sms"])
value_clock = _value_of_record("clock", _clock_ghz)


def value_share_us(root, page, args):
    return _time(_share_us(root, page, args))


def value_share_ns(root, page, args):
    return _time(1000 * _share_us(root, page, args))


def _share_us(root, page, args):
    """A call's time, divided by how often something happens in it."""
    call, _, count = " ".join(args).partition(" / ")  # A file may lie in another folder.
    if not re.fullmatch(r"[\d,^]+", count):
        raise ValueError("write: FILE.cu N [SERIES] [on GPU] / COUNT")
    record, (n, *series) = _call(root, page, call.split(), f"'{call}' is no call: write FILE.cu N [SERIES] [on GPU]")
    return record.row(" ".join([record.op, *series]), parse_size(n)).us / parse_size(count)


def value_times(root, page, args):
    words = " ".join(args[2:]).split("/")
    if len(words) != 2 or not args[0].endswith(".cu"):
        raise ValueError("write: value times FILE.cu N SERIES / SERIES")
    record = records.of_source(root, pages.beside(page, args[0]))
    n = parse_size(args[1])
    a, b = (record.row(" ".join([record.op, *series.split()]), n) for series in words)
    return f"{a.us / b.us:.2f}"


def value_reckoned(root, page, args):
    """What comes out of a calculation with numbers that a page prints."""
    def printed(value):
        name, *words = value[1].split()
        if ("value", name) not in RENDERERS:
            raise ValueError(f"{value[0]} is no value")
        return RENDERERS["value", name](root, page, words).replace(",", "").removesuffix(" %")

    numbers = " ".join(args)
    while innermost := re.search(r"\{([^{}]+)\}", numbers):
        numbers = numbers.replace(innermost[0], printed(innermost))
    if not re.fullmatch(r"[\d.+*/() -]+", numbers):
        raise ValueError(f"'{numbers}' is no calculation: write {{us FILE.cu N}} / 2 and the like")
    try:
        result = eval(numbers)  # Digits and operators, as checked above.
    except (SyntaxError, TypeError, ZeroDivisionError) as error:
        raise ValueError(f"'{numbers}' has no result: {error}") from error
    if result <= 0:
        raise ValueError(f"nothing is left: {numbers}")
    return _time(result)


# ---- Counted by the executor -------------------------------------------------


def table_counters(root, page, args):
    source = _source(page)
    case, names = _case_and_rest(args)
    before = records.previous(root, source)
    shown = {s.parent.name: counts.of_source(root, s, case) for s in (before, source) if s}
    this = shown[source.parent.name]
    names = names or [row.name for row in this.rows.values() if row.relevant]
    rows = [[name, *(counted.row(name).text for counted in shown.values()), this.row(name).ideal]
            for name in names]
    return _table(["counter", *shown, "ideal"], rows,
                  f"*{case}; counted without a GPU, the same on every machine; instructions are "
                  "PTX's.*")


def value_counter(root, page, args):
    if len(args) < 3:
        raise ValueError("write: value counter FILE.cu n=2^20 ROW")
    case, names = _case_and_rest(args[1:])
    if len(names) != 1:
        raise ValueError("write one row: value counter FILE.cu n=2^20 ROW")
    return counts.of_source(root, pages.beside(page, args[0]), case).row(names[0]).text


def _case_and_rest(args):
    """['n=2^20', 'load', 'requests,', ...] -> Case, ['load requests', ...]"""
    words = [arg for arg in args if "=" in arg]
    rest = " ".join(arg for arg in args if "=" not in arg)
    return counts.parse_case(words), rest.split(", ") if rest else []


def table_claims(root, page, args):
    rows = []
    for path in pages.find(root):
        words = [directive.word for directive in pages.Page(path, root).directives]
        counted = [words.count(word) for word in pages.CHECKED]
        if any(counted):
            rows.append([_link(path, page, path.relative_to(root)), *map(str, counted)])
    return _table(["page", *pages.CHECKED], rows)


def table_ptx(root, page, args):
    """What the decoder's list holds: a block for each group, or a list of names."""
    accepted = forms.accepted(root)
    what = " ".join(args)
    if what == "forms":
        return [line for title, lines in accepted.groups.items()
                for line in ["", f"{title}:", "", "```text", *lines, "```"]][1:]
    if what == "words":
        words = (f"{f'<{word}>':12}{meaning}" for word, meaning in accepted.words.items())
        return ["```text", *words, "```"]
    if what in ("specials", "directives"):
        return [", ".join(f"`{name}`" for name in getattr(accepted, what))]
    raise Problem("say which: table ptx forms|words|specials|directives")


def table_refused(root, page, args):
    calls, uses = refused.calls(root), refused.uses(root)
    rows = [[what, ", ".join([*(f"`{name}`" for name in calls[what]),
                              *(_link(path, page, path.name) for path in uses[what])])]
            for what in [*calls, *(what for what in uses if what not in calls)]]
    return _table(["the executor has no", "missing calls, or the file that says so"], rows, align="ll")


# ---- Beside others -----------------------------------------------------------


def table_peers(root, page, args):
    measured = peers.newest(root)
    if not args:
        ops = dict.fromkeys(op for op, _, _ in measured.times)
        raise ValueError(f"write: table peers {'|'.join(ops)} N...")
    op, sizes, rows = args[0], _sizes(args[1:]), []
    for by in measured.by(op, sizes[0]):
        cells = [peers.label(by)]
        for n in sizes:
            time, copy = measured.time(op, by, n), measured.time(op, records.COPY, n)
            cells += [_time(time.p50_us), f"{100 * copy.p50_us / time.p50_us:.1f} %"]
        rows.append(cells)
    return _table(["", *_at_each(sizes, "µs", "of the copy")], rows, peers.caption(measured))


def value_peer(root, page, args):
    file, by, n = _words(args, "value peer FILE.cu BY N")
    source, n = pages.beside(page, file), parse_size(n)
    measured, op = peers.newest(root), records.op_of(source)
    names = {peers.label(by): by for by in measured.by(op, n)}
    if by not in names:
        raise ValueError(f"{by} was not timed; {', '.join(names)} were")
    ours = measured.time(op, str(source.relative_to(root)), n)
    return f"{measured.time(op, names[by], n).p50_us / ours.p50_us:.2f} x"


def table_cases(root, page, args):
    name, words = _name_and(args, r"\d+( large)?( beside \w+)?", "table cases NAME COUNT [large] [beside WHOM]")
    compared = cases.newest(root, name)
    words, _, whom = words.partition(" beside ")
    count, _, large = words.partition(" ")
    beside = [cases.PYTORCH, whom] if whom else [cases.PYTORCH]
    order = sorted(compared.large, key=compared.of_roof) if large else compared.slowest_first
    rows = [[compared.cases[k].name, _time(compared.us(k, cases.ENGINE)),
             *(f"{compared.us(k, by) / compared.us(k, cases.ENGINE):.2f} x" if by in compared.ways[k] else ""
               for by in beside),
             f"{100 * compared.of_roof(k):.0f} %"]
            for k in order[:int(count)]]
    header = ["case", "engine µs", *(f"{by} takes" for by in beside), f"of the {compared.context['roof']}"]
    return _table(header, rows, _caption_of_cases(compared))


def _caption_of_cases(compared):
    c = compared.context
    middle = f"the middle one of {c['rounds']} such medians, " if "rounds" in c else ""
    return (f"*{c['gpu']}, CUDA {c['cuda']}, PyTorch {c['torch']}, {c['date']}, commit "
            f"{_commit(c)}; {len(compared.cases)} cases in one process, median of {c['calls']} "
            f"calls, {middle}L2 cold.*")


def figure_ratios(root, page, args):
    name, = args or [""]
    compared = cases.newest(root, name)
    return _figure(root, page, f"ratios_{name}", "Points, one per case: how many times as long as "
                                                 "the engine PyTorch takes, against the bytes that "
                                                 "must move", _caption_of_cases(compared))


def value_cases(root, page, args):
    usage = ("value cases NAME mean [of ENDING]|worst|count|large|[large] below PART|[mean] beside WHOM"
             "|busy KERNEL of CASE")
    wanted = r"mean( of .+)?|worst|count|large|(large )?below [\d.]+|(mean )?beside \w+|busy .+ of .+"
    name, words = _name_and(args, wanted, usage)
    compared = cases.newest(root, name)
    which, beside, whom = words.partition("beside ")
    if beside:
        ratio = compared.worst_beside(whom)
        if ratio is None:
            raise ValueError(f"no case of {name} has a time of {whom}'s")
        if which:
            ratio = statistics.geometric_mean(
                ways[whom] / ways[cases.ENGINE] for ways in compared.ways if whom in ways)
        return f"{ratio:.2f} x"
    what, _, rest = words.partition(" ")
    if what == "busy":
        kernel, _, case = rest.partition(" of ")
        return f"{compared.context['busy_link'][case][kernel]:.1f} %"
    if what == "mean":
        ending = rest.removeprefix("of ")
        ratios = [compared.ratio(k) for k, case in enumerate(compared.cases) if case.name.endswith(ending)]
        if not ratios:
            raise ValueError(f"no case of {name} ends with '{ending}'")
        return f"{statistics.geometric_mean(ratios):.2f} x"
    if what == "worst":
        return f"{compared.ratio(compared.slowest_first[0]):.2f} x"
    _, _, part = words.partition("below ")  # Without a bound, all are counted.
    some, measure = range(len(compared.cases)), compared.ratio
    if what == "large":
        some, measure = compared.large, compared.of_roof
    return f"{sum(measure(k) < float(part or math.inf) for k in some)}"


def _name_and(args, wanted, usage):
    """[NAME, words ...] -> NAME, the words"""
    rest = " ".join(args[1:])
    if not re.fullmatch(wanted, rest):
        raise ValueError(f"write: {usage}")
    return args[0], rest


# ---- Of programs with a main of their own ------------------------------------


def value_latency(root, page, args):
    return _recorded(_constant_ns(root, " ".join(args)))


def _recorded(ns):
    """All digits, so that who multiplies them gets what a page says."""
    return f"{ns:,.4g}"


def value_latency_us(root, page, args):
    return _time(_constant_us(root, " ".join(args)))


def _constant_us(root, words):
    """'tree step * 10' -> so many of them, one after the other"""
    name, _, count = words.partition(" * ")
    return 1e-3 * _constant_ns(root, name) * (parse_size(count) if count else 1)


def _constant_ns(root, name):
    told = latency.RECORD.newest(root)
    if name not in told:
        raise ValueError("write: value latency NAME; the names are " + "; ".join(told))
    return told[name]


def table_latency(root, page, args):
    gpus = latency.RECORD.gpus(root)
    told = [latency.RECORD.newest(root, gpu) for gpu in gpus]
    contexts = [latency.RECORD.context(root, gpu) for gpu in gpus]
    rows = [[name, *(_recorded(of_gpu[name]) if name in of_gpu else "-" for of_gpu in told)]
            for name in told[0]]
    return _table(["ns", *(context["gpu"] for context in contexts)], rows,
                  f"*{'; '.join(_origin([context]) for context in contexts)}.*")


def table_meetings(root, page, args):
    told = all_reduce.newest(root)
    rows = []
    for name, of_file in told.steps.items():
        for row in of_file:
            meeting, devices = all_reduce.meeting_us(row), row["devices"]
            beside = f"{meeting / told.smallest_us(devices):.2f} x" if devices > 1 else ""
            rows.append([f"`{name}`", f"{devices}", _time(row["own"]), _time(row["whole"]),
                         _time(meeting), beside])
    header = ["file", "devices", "own sums µs", "whole µs", "meeting µs", "of NCCL's smallest"]
    return _table(header, rows, _caption_of_meetings(told))


def table_all_reduce(root, page, args):
    told = all_reduce.newest(root)
    rows = []
    for devices, size in itertools.product(told.devices, map(parse_size, args)):
        found = [told.row(devices, size, place) for place in all_reduce.PLACES]
        rows.append([f"{devices}", f"{size:,}", *(cell for row in found for cell in (
            _time(row["us"]), f"{row['bus_gbps']:,.3g}"))])
    header = ["devices", "bytes", "µs", "bus GB/s", "in place µs", "bus GB/s"]
    return _table(header, rows, _caption_of_meetings(told))


def _caption_of_meetings(told):
    return (f"*{_origin([told.context])}; the host's clock over many calls, one behind the other, "
            "divided by their number, as in NCCL's own tests.*")


def figure_grows(root, page, args):
    told = all_reduce.newest(root)
    return _figure(root, page, "grows", "Lines: the time of an all-reduce around a ring and along "
                                        "a tree, of few bytes and of many, against the number of "
                                        "devices; points: what was measured",
                   f"*Points: {_origin([told.context])}. Lines are computed: "
                   f"{_recorded(told.hop_us)} µs for a message and {_recorded(told.link_gbps)} "
                   "GB/s, both of two devices.*")


def figure_moved(root, page, args):
    told = moved.newest(root, records.op_of(_source_and_rest(page, args)[0]))
    c = told.context
    return _figure(root, page, f"moved_{told.path.stem.removesuffix('_moved')}",
                   "Bars, one per file: bytes that the GPU's memory was read and written for each "
                   "element, and a line at those that are needed",
                   f"*{c['gpu']}, CUDA {c['cuda']}, {c['date']}, commit {_commit(c)}; counted by "
                   f"Nsight Compute, n = {_power(c['n'])}.*")


def value_all_reduce(root, page, args):
    told = all_reduce.newest(root)
    if args in (["hop_us"], ["link_gbps"]):
        return _recorded(getattr(told, args[0]))
    if len(args) == 3 and args[0] == "beside" and args[1] in told.steps:
        for row in told.steps[args[1]]:
            if str(row["devices"]) == args[2]:
                return f"{all_reduce.meeting_us(row) / told.smallest_us(row['devices']):.2f} x"
    raise ValueError("write: value all_reduce hop_us|link_gbps, or beside FILE DEVICES")


def value_pitfall(root, page, args):
    told = pitfalls.RECORD.newest(root)
    which, name = args[0] if args else "", " ".join(args[1:])
    if which not in ("wrong", "right") or name not in told:
        raise ValueError("write: value pitfall wrong|right NAME; the names are " + "; ".join(told))
    number = told[name][which]
    return _time(number) if name.endswith("us") else f"{number:,.0f}"


# ---- Of the executor itself --------------------------------------------------


def _table_of(rows_of, align=None):
    def rendered(root, page, args):
        header, rows, caption = rows_of(root)
        return _table(header, rows, caption, align and align * len(header))
    return rendered


table_findings = _table_of(sanitizer.who_finds_what, "l")
table_speed = _table_of(speed.time_table)
table_memory = _table_of(speed.memory_table)
table_coarsening = _table_of(sweep.counters_table)


def table_random_programs(root, page, args):
    found = random_programs.causes((root / random_programs.ASIDE).read_text())
    whole = random_programs.recorded((root / random_programs.RECORD).read_text())
    aside = [sum(map(len, seeds)) for seeds in zip(*((one.results, one.counters) for one in found))]
    rows = [["all that were recorded", *(f"{n:,}" for n in whole)],
            ["equal here", *(f"{n - other:,}" for n, other in zip(whole, aside))]]
    for one in found:
        counted = len(one.results), len(one.counters)
        rows.append([one.words, *(f"{count:,}" if count else "" for count in counted)])
    return _table(["random programs", "results", "counters"], rows)


def table_parity(root, page, args):
    views = {"programs": _parity_programs, "differences": _parity_differences}
    if len(args) != 1 or args[0] not in views:
        raise ValueError(f"write: table parity {' or '.join(views)}")
    return views[args[0]](root, page)


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
    return _table(["launches that differ in", "of", *parity_data.QUANTITIES], rows,
                  f"*{c['gpu']}, driver {c['driver']}, CUDA {c['cuda']}, Nsight Compute "
                  f"{c['ncu']}, {c['date']}, commit {c['commit']}; empty: none. Branches and lanes "
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


def table_kernel(root, page, args):
    file, name = _words(args, "table kernel FILE.cu NAME")
    program, launches = _counted_on_gpu(root, page, file)
    found = [one for one in launches if one.kernel == name]
    if len(found) != 1:
        raise ValueError(f"{program} has {len(found)} counted launches of {name}; "
                         "make parity on a machine with a GPU counts them")
    sides = found[0].ncu, found[0].executor
    rows = [[word, f"`{metric}`", *(f"{side[metric]:,.10g}" for side in sides)]
            for metric, word in parity_data.WORDS.items() if any(side[metric] for side in sides)]
    return _table(["counter", "as ncu calls it", "ncu", "the executor"], rows, align="llrr")


def value_arbitration(root, page, args):
    file, = _words(args, "value arbitration FILE.cu")
    _, launches = _counted_on_gpu(root, page, file)
    return f"{max(map(parity_data.percent_by_arbitration, launches)):.2g} %"


def _counted_on_gpu(root, page, file):
    """A program's name, and its launches."""
    known = parity_data.load(parity_data.newest(root), root)
    program = str(pages.beside(page, file).relative_to(root))
    if program not in known.programs:
        raise ValueError(f"{program} was not counted; {', '.join(known.programs)} were")
    return program, known.programs[program]


# ---- Of the sweep ------------------------------------------------------------


def _of_chapters_size(root):
    """What was timed, the chapter's own size of block, and the pairs that have it."""
    swept, block = sweep.timed(root), sweep.chapters_own(root).block
    return swept, block, [sweep.Pair(coarse, block) for coarse in sweep.FACTORS]


def table_sweep(root, page, args):
    swept, block, pairs = _of_chapters_size(root)
    sizes, rows = _sizes(args), []
    for pair in pairs:
        record = swept.records[pair]
        found = [record.headline(n) for n in sizes]
        rows.append([f"{pair.coarse}", *(cell for row in found for cell in (
            _us(row), f"{record.percent_of_read(row):.1f} %"))])
    return _table(["numbers per thread", *_at_each(sizes, "µs", "of the read")], rows,
                  caption(swept.records.values(), f"blocks of {block} threads, each factor beside "
                          "reading as many bytes in its own run"))


def table_turns(root, page, args):
    """What two constants explain of each time: the speed of reading, and a turn."""
    swept, block, pairs = _of_chapters_size(root)
    rows = []
    for pair in pairs:
        record, blocks = swept.records[pair], budget_figure.blocks(pair)
        row = record.headline(HEADLINE)
        turned, read = blocks * _constant_us(root, "atomic addition"), record.read_of(row).us
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


def value_turn_ns(root, page, args):
    """The most that an addition to the one sum can take: a block's share of the time,
    where the shares are smallest."""
    return _time(1000 * min(record.headline(HEADLINE).us / budget_figure.blocks(pair)
                            for pair, record in sweep.timed(root).records.items()))


def value_fastest(root, page, args):
    n, = _words(args, "value fastest N")
    return str(sweep.fastest(sweep.timed(root), parse_size(n)))


def value_tried(root, page, args):
    if len(args) != 3 or not all(arg.isdecimal() for arg in args[:2]):
        raise ValueError("write: value tried FACTOR BLOCK N")
    pair, swept = sweep.Pair(int(args[0]), int(args[1])), sweep.timed(root)
    if pair not in swept.records:
        raise ValueError(f"{pair} were not tried: see sweep.py")
    return _time(swept.records[pair].headline(parse_size(args[2])).us)


def _figure_of_sweep(name, alt, says=""):
    def rendered(root, page, args):
        timed = sweep.timed(root).records.values()
        told = [f"*{says}*", ""] if says else []
        return _figure(root, page, name, alt, *told, caption(timed, f"n = {_power(HEADLINE)}"))
    return rendered


figure_sweep = _figure_of_sweep(
    "sweep", "Lines, one a size of block: time against the numbers that a thread adds up by itself")
figure_budget = _figure_of_sweep(
    "budget", "Bars, a row per number of floats that a thread adds up by itself: the time per "
              "block, split into reading and the rest",
    "Blue grows with the numbers of a block, orange does not: there is one tree and one place in "
    "the queue per block. Where blue is long, other blocks read meanwhile, and orange hides behind "
    "it.")
figure_blocks = _figure_of_sweep(
    "blocks", "Points, one per size of block and coarsening factor: the time of a sum against its "
    "number of blocks",
    "Where blocks of different sizes take the same time, it is their number alone that counts: "
    "each adds once to the one sum.")


# ---- Other figures -----------------------------------------------------------


def figure_ladder(root, page, args):
    shown = records.measured(root, records.main_sources(root))
    sizes = dict.fromkeys(_power(record.headline().n) for record in shown)
    note = f"n = {', '.join(sizes)}; grey: PyTorch and CUB, in a process of their own"
    return _figure(root, page, "ladder", "Bars: each chapter's bandwidth as a part of what a plain "
                                         "copy reaches; PyTorch's and CUB's", caption(shown, note))


def figure_gpus(root, page, args):
    shown = two_gpus_figure.records_of(root)
    origins = "; ".join(_origin([record.context for record in of_gpu]) for of_gpu in shown)
    return _figure(root, page, "gpus", "Bars, two per chapter: its bandwidth as a part of what a "
                                       "plain copy reaches, on two "
                                       "GPUs", f"*{origins}; {_median(sum(shown, []))}; "
                   f"n = {_power(HEADLINE)}; each chapter beside the copy of its own run.*")


def figure_by_size(root, page, args):
    source, _ = _source_and_rest(page, args)
    return _figure(root, page, f"by_size_{records.figure_name(source)}",
                   "Lines: bandwidth in percent of what a plain copy or read reaches, against the "
                   "number of elements, for this chapter and the one "
                   "before", caption(_with_previous(root, source)))


def _asked_for(kind):
    def rendered(root, page, args):
        one = asked.parse(" ".join([kind, *args]), page, root)
        shown, drawing = traces.shown(root, one), drawings.KINDS[kind]
        told = [f"*{drawing.caption_of(shown, one.note)}*"] if drawing.says else []
        return _figure(root, page, one.name, drawing.alt_of(shown), *told)
    return rendered


def figure_error(root, page, args):
    return _figure(root, page, "error", "Lines: the error of a sum of n floats, one by one, by a "
                                        "tree, and by a tree a block, each below the most that it "
                                        "can be")


def figure_error_speed(root, page, args):
    alt, titles = error_figure.panels(" ".join(["error_speed", *args]))
    shown = sum(error_figure.with_errors(root, titles), [])
    note = f"time: n = {_power(HEADLINE)}; error: the worst of all sizes from 2²⁰ on"
    return _figure(root, page, "error_speed", "Points, one a kernel: its worst error against its "
                                              f"time, {alt}", caption(shown, note))


def figure_counters(root, page, args):
    shown = records.measured(root, records.main_sources(root))
    return _figure(root, page, "counters", "Bars, a row a chapter: bytes moved, requests and "
                                           "instructions per element as the executor counts them, "
                                           "and the time per element that was measured",
                   caption(shown, f"n = {_power(counters_figure.DRAWN)}"))


# (kind, name) -> what is called so, joined by an underscore.
RENDERERS = {tuple(name.split("_", 1)): function for name, function in list(globals().items())
             if re.match("(table|figure|value)_", name)}
RENDERERS |= {("figure", kind): _asked_for(kind) for kind in drawings.KINDS}


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


def _gpu(args):
    """['2^28', 'on', 'tesla-t4'] -> ['2^28'], 'tesla-t4'"""
    return (args[:-2], args[-1]) if args[-2:-1] == ["on"] else (args, records.REFERENCE_GPU)


def _call(root, page, args, usage):
    """FILE.cu N [SERIES] [on GPU] -> the file's record, and what is said behind it."""
    words, gpu = _gpu(args)
    if len(words) < 2 or not words[0].endswith(".cu"):
        raise ValueError(usage)
    return records.of_source(root, pages.beside(page, words[0]), gpu), words[1:]


def _words(args, usage):
    """As many as there are capital words in the usage, which is said otherwise."""
    wanted = re.findall(r"\b[A-Z]+\S*", usage.partition(" [")[0])
    if len(args) != len(wanted) or any(
            w == "FILE.cu" and not a.endswith(".cu") for a, w in zip(args, wanted)):
        raise ValueError(f"write: {usage}")
    return args


def idea(page):
    """A chapter's idea: the sentence before its command."""
    paragraphs = page.read_text().split("\n\n") if page.is_file() else []
    for before, paragraph in itertools.pairwise(paragraphs):
        if paragraph.startswith("`make chapter"):
            return prose.sentences(before)[0].replace("|", "\\|")
    raise ValueError(f"{page.parent.name}/README.md has no sentence before its "
                     "command to give the idea")


def caption(shown, note=None):
    """Where the numbers come from: GPU, driver, CUDA, date, commit."""
    text = _origin([record.context for record in shown]) + "; " + _median(shown)
    if note:
        text += "; " + note
    if any(row.throttled for record in shown for row in record.rows.values()):
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


def _median(shown):
    calls = {row.calls for record in shown for row in record.rows.values()}
    return f"median of {' or '.join(map(str, sorted(calls)))} calls, L2 cold"


def _commit(context):
    return context["commit"] + (" with local changes" if context["dirty"] == "yes" else "")


def _source(page):
    """The chapter's own file, beside its page."""
    return records.chapters_own(page.parent)


def _source_and_rest(page, args):
    """FILE N... or N... of the chapter's own."""
    if args and args[0].endswith(".cu"):
        return pages.beside(page, args[0]), args[1:]
    return _source(page), args


def _sizes(args):
    if not args:
        raise ValueError("say for how many elements: 150528 or 2^28")
    return [parse_size(arg) for arg in args]


def _sizes_and_series(args, op):
    """['6422528', '2^28', 'backward'] -> ['6422528', '2^28'], 'OP backward'"""
    words = list(itertools.dropwhile(lambda arg: SIZE.fullmatch(arg), args))
    return args[:len(args) - len(words)], " ".join([op, *words])


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


def _datasheet(shown):
    """Nothing where the driver does not know the memory's clock."""
    known = {float(record.context["datasheet_gbps"]) for record in shown} - {0}
    return "".join(f"; datasheet: {gbps:,.0f} GB/s" for gbps in sorted(known))

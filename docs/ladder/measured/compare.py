"""Your GPU beside those whose results are recorded, chapter by chapter.

    python -m ladder.measured.compare [N]     `make compare` calls it so; N as in 2^28, its default

Times of different GPUs cannot be compared, so each is given as a part of what the
same GPU takes for a plain copy of as many bytes: 100 % is as fast as that copy.
Of each GPU the newest record of each chapter is taken, at N elements or at the
largest size that it was measured at.
"""

import sys

from ladder.measured import bench, records
from ladder.pages import ROOT, script

MISSING = "-"


def cell(root, source, gpu, n):
    """'99.8 %', with the size where it is another one, or MISSING."""
    try:
        record = records.of_source(root, source, gpu)
    except records.RecordError:
        return MISSING  # Never measured there, or from another version.
    size = max((m for m in record.sizes(record.op) if m <= n), default=None)
    if size is None:
        return MISSING
    percent = record.percent_of_copy(record.row(record.op, size))
    return f"{percent:.1f} %" + ("" if size == n else f" at {size:,}")


def table(root, mine, n):
    """The lines of the comparison; raises RecordError where there is nothing."""
    columns = bench.gpus(root, first=mine)
    if not columns:
        raise records.RecordError("plots/data holds no record: run `make bench` on a GPU")
    rows = [["part of the copy", *(f"{gpu} (here)" if gpu == mine else gpu for gpu in columns)]]
    rows += [[str(source.relative_to(root / "chapters")),
              *(cell(root, source, gpu, n) for gpu in columns)] for source in records.all_sources(root)]
    widths = [max(map(len, column)) for column in zip(*rows)]
    return ["  ".join([f"{row[0]:{widths[0]}}",
                       *(f"{text:>{width}}" for text, width in zip(row[1:], widths[1:]))])
            for row in rows]


def main(n="2^28"):
    n = records.parse_size(n)
    mine = bench.this_gpu()
    print("\n".join(table(ROOT, mine, n)))
    if not list(ROOT.glob(f"plots/data/{mine}/*/*.json")):
        print("\nNone of these is this machine. `make bench` on a GPU adds a column of your own.")
    print(f"n = {n:,}. {MISSING} is not measured, or measured before the file changed.")


if __name__ == "__main__":
    script("compare", main, *sys.argv[1:])

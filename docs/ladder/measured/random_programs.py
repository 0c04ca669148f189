"""How many of the random programs of tests/fuzz do here what they did on a GPU.

tests/fuzz/h200.txt holds what a GPU gave; tests/fuzz/aside.txt what cannot be compared with
that, by cause. `make test-all` runs some of the programs, and tests/fuzz/fuzz.py all.
"""

import dataclasses
import re

RECORD = "tests/fuzz/h200.txt"
ASIDE = "tests/fuzz/aside.txt"


@dataclasses.dataclass(frozen=True)
class Cause:
    words: str
    results: frozenset  # Seeds whose results differ,
    counters: frozenset  # and seeds whose counters do.


def causes(text):
    """Those of aside.txt, whose ## begins a cause."""
    found = []
    for part in re.split(r"^## ", text, flags=re.M)[1:]:
        words, _, rest = part.partition("\n")
        lists = dict(re.findall(r"^(result|counters):([\d\s]+)", rest, re.M))
        if not lists:
            raise ValueError(f"{ASIDE}: '{words}' lists no seeds behind 'result:' or 'counters:'")
        found.append(Cause(words, *(frozenset(map(int, lists.get(kind, "").split())) for kind in ("result", "counters"))))
    return found


def recorded(text):
    """How many programs have a result in h200.txt, and how many have counters."""
    rows = re.findall(r"^\d+: (.*)$", text, re.M)
    return sum(one != "-" for row in rows for one in row.split()), len(re.findall(r"^\d+ = ", text, re.M))

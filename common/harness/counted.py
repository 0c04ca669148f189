"""What programs count of their calls, as --record writes it."""

import dataclasses

from harness import Problem


@dataclasses.dataclass(frozen=True)
class Row:
    """A row of the table that ./run prints."""

    name: str
    metric: str
    value: float
    text: str
    ideal: str
    relevant: bool


@dataclasses.dataclass
class Counted:
    launches: list  # (kernel, blocks, threads of each)
    rows: dict  # name -> Row
    parts: list = dataclasses.field(default_factory=list)  # the rows of each launch
    metrics: list = dataclasses.field(default_factory=list)  # of each launch, as ncu calls them: name -> value

    def of(self, kernel):
        """What one kernel does of it; a template may be named without its arguments."""
        names = [(launch[0], launch[0].partition("<")[0]) for launch in self.launches]
        found = [k for k, both in enumerate(names) if kernel in both]
        if len(found) != 1:
            names = ", ".join(launch[0] for launch in self.launches)
            raise Problem(f"{kernel} is launched {len(found)} times, need exactly 1; "
                          f"launched: {names or 'nothing'}")
        only = found[0]
        return Counted([self.launches[only]], self.parts[only], metrics=[self.metrics[only]])

    def row(self, name):
        if name not in self.rows:
            raise Problem(f"nothing is counted as '{name}'; there are {', '.join(self.rows)}")
        return self.rows[name]


def read(path):
    """(n, offset) of each call -> Counted"""
    cases = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        word, *rest = line.split("\t")
        if word == "case":
            counted = cases[int(rest[0]), int(rest[1])] = Counted([], {})
        elif word == "launch":
            counted.launches.append((rest[0], int(rest[1]), int(rest[2])))
            counted.parts.append({})
            counted.metrics.append({})
        elif word == "metric":
            counted.metrics[-1][rest[0]] = float(rest[1])
        elif word in ("part", "row"):
            name, metric, value, text, ideal, relevant = rest
            rows = counted.parts[-1] if word == "part" else counted.rows
            rows[name] = Row(name, metric, float(value), text, ideal, relevant == "1")
    return cases

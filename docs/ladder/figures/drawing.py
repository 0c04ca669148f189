"""What a kind of figure traces, who draws it, and what its caption says."""

import dataclasses
import pathlib


@dataclasses.dataclass(frozen=True)
class Printed:
    """What a program printed, in its .expected file."""
    path: pathlib.Path

    @property
    def text(self):
        return self.path.read_text()

    @property
    def source(self):
        return self.path.with_suffix(".cu").name


@dataclasses.dataclass(frozen=True)
class Kind:
    """Functions take what was traced or printed, file by file; {...} is replaced by `words`."""
    traced: str  # By which tracer; '': it is what a program printed.
    draw: object
    alt: str
    says: object = ""  # The caption, or a function that gives it; '': there is none.
    origin: str = "{file}, traced by the executor, n = {n}."

    def alt_of(self, shown):
        return self.alt.format(**words(shown))

    def caption_of(self, shown, note):
        says = self.says(shown) if callable(self.says) else self.says
        return " ".join(filter(None, (says, note, self.origin.format(**words(shown)))))


def words(shown):
    sizes = dict.fromkeys(f"{one.n:,}" for one in views(shown) if hasattr(one, "n"))
    return {"n": ", ".join(sizes), "sizes": " and ".join(list(sizes)[1:]),
            "count": number(len(views(shown))), "source": shown[0].source,
            "file": file(shown[0]), "other": file(shown[-1]),
            "chapters": " and ".join(map(chapter, shown))}


def file(one):
    """Of a trace its .cu file; of what was printed the program."""
    return one.source.removeprefix("chapters/")


def views(shown):
    """What was traced, of all files."""
    return [one for trace in shown for one in getattr(trace, "views", [])]


def chapter(trace):
    """07 of chapters/07_name/op.cu"""
    return pathlib.Path(trace.source).parent.name[:2]


def number(count):
    words = "no one two three four five six".split()
    return words[count] if count < len(words) else str(count)

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
    """Both functions take what was traced or printed, file by file."""
    traced: str  # By which tracer; '': it is what a program printed.
    draw: object
    alt: str  # {...} is replaced, see alt_of.
    caption: object = None  # What it says, and where it comes from.

    def alt_of(self, shown):
        sizes = dict.fromkeys(f"{one.n:,}" for one in views(shown) if hasattr(one, "n"))
        chapters = " and ".join(map(chapter, shown))
        return self.alt.format(n=", ".join(sizes), chapters=chapters, count=number(len(views(shown))))

    def caption_of(self, shown, note):
        says, origin = self.caption(shown)
        return " ".join(filter(None, (says, note, origin)))


def views(shown):
    """What was traced, of all files."""
    return [one for trace in shown for one in getattr(trace, "views", [])]


def chapter(trace):
    """07 of chapters/07_name/op.cu"""
    return pathlib.Path(trace.source).parent.name[:2]


def number(count):
    words = "no one two three four five six".split()
    return words[count] if count < len(words) else str(count)

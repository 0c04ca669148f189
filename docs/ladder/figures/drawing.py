"""What a figure of one idea needs, who draws it, and what its caption says."""

import dataclasses
import pathlib

from ladder.figures import traces


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
class Drawing:
    """needs: .cu files that were traced, or .expected ones; draw and caption take them."""
    name: str
    needs: list
    draw: object
    alt: str
    caption: object

    def shown(self, root):
        return [Printed(root / need) if need.endswith(".expected")
                else traces.of_source(root, root / need) for need in self.needs]

    def recorded(self, root):
        """Is all there that it is drawn from?"""
        return all((root / need if need.endswith(".expected")
                    else traces.path_of(root, root / need)).is_file() for need in self.needs)

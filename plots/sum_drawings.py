"""The figures of the sum's chapters: what each needs, who draws it, and what to see in it.

Each is one idea of one page, `<!-- figure NAME -->`; its caption holds for whatever was
traced.
"""

import dataclasses
import pathlib

import bank_figures
import budget_figure
import race_figures
import sweep
import traces
import tree_figures
from records import RecordError

SIMPLE = "chapters/06_sum_simple/sum.cu"
CONVERGENT = "chapters/07_sum_convergent/sum.cu"
SHARED = "chapters/08_sum_shared/sum.cu"
COARSENED = sweep.SOURCE
SEGMENTED = "chapters/09_sum_segmented/sum.cu"
NEIGHBOURS = "plots/examples/neighbours.cu"
LOST = "plots/examples/lost_update.cu"

TRACED = "Traced by the executor"


@dataclasses.dataclass(frozen=True)
class Drawing:
    """load: root -> what it is drawn from, each with a path; draw and caption take that."""
    name: str
    alt: str
    needs: list
    load: object
    draw: object
    caption: object

    def shown(self, root):
        return self.load(root, self.needs)


def drawings(root):
    """Those whose files this repository has."""
    return [one for one in DRAWINGS if all((root / need).is_file() for need in one.needs)]


def traced(root, needs):
    return [traces.of_source(root, root / need) for need in needs]


def swept(root, _):
    return [sweep.timed(root), budget_figure.counts(root)]


def views(shown, kind):
    """What was traced of that kind, of all files."""
    return [one for trace in shown for one in trace.views[kind]]


def tree(name, source):
    return Drawing(
        name, "Eight numbers, and below them a row per step: arrows lead from two numbers to "
        "the thread that adds them", [source], traced,
        lambda shown: tree_figures.draw_tree(*views(shown, "tree")),
        lambda shown: tree_caption(*views(shown, "tree")))


def tree_caption(tree):
    grows = tree.strides() == sorted(tree.strides())
    sees = ("Neighbours meet first. The threads that add move apart from step to step, and so "
            "do their numbers." if grows else
            "Numbers far apart meet first. The threads that add stay side by side, and so do "
            "their numbers.")
    return f"{sees} {TRACED}, n = {tree.n}; the numbers are an example."


def of_chapter(trace):
    """chapters/07_sum_convergent/sum.cu -> chapter 07"""
    return f"chapter {pathlib.Path(trace.source).parent.name[:2]}"


def memory_caption(shown):
    n = views(shown, "traffic")[0].n
    return ("An arrow that crosses the thick line asks global memory; compare how many do. "
            f"{TRACED}, n = {n:,}, one block. Where fewer than 32 lanes of a warp add, "
            "`make profile08` still shows 32 active ones: it counts those that are switched "
            "off, too.")


def race_caption(race):
    if race_figures.replay(race)[0] == race_figures.WHOLE:
        raise RecordError(f"{LOST} loses nothing any more, so there is nothing to draw")
    return ("On the left both threads load the sum before either has stored. Which store comes "
            f"last is not defined. Two blocks would do as these threads do. {TRACED}: `{LOST}`.")


DRAWINGS = [
    tree("tree_simple", SIMPLE),
    tree("tree_convergent", CONVERGENT),
    Drawing(
        "memory", "Arrows between the threads of a block and the memories, a column per step, "
        "for chapters 07 and 08", [CONVERGENT, SHARED], traced,
        lambda shown: tree_figures.draw_traffic(
            *[(of_chapter(trace), trace.views["traffic"]) for trace in shown]),
        memory_caption),
    Drawing(
        "conflicts", "Shared memory as rows of 32 words, a column per bank, three times: which "
        "words the lanes of a warp want, and how many of them each bank holds", [SHARED, NEIGHBOURS],
        traced, lambda shown: bank_figures.draw_conflicts(views(shown, "banks")[:3]),
        lambda shown: "Count the coloured words of a column: its bank hands them out one after "
                      "the other. “Neighbours first” is the tree of chapter 06 in shared memory "
                      f"(`{NEIGHBOURS}`). {TRACED}: loads of the first "
                      "warp."),
    Drawing(
        "padding", "Shared memory as rows of 32 words, a column per bank: which words a warp "
        "wants, without and with padding", [NEIGHBOURS], traced,
        lambda shown: bank_figures.draw_padding(views(shown, "banks")[1:]),
        lambda shown: "One unused word behind every 32 numbers moves each row on by one bank. "
                      f"{TRACED}: loads of the first warp in `{NEIGHBOURS}`."),
    Drawing(
        "race", "A sum in memory over time, and what two threads do to it, with += and with "
        "atomicAdd", [LOST], traced,
        lambda shown: race_figures.draw_race(views(shown, "race")),
        lambda shown: race_caption(views(shown, "race")[0])),
    Drawing(
        "queue", "A staircase: the sums of all blocks come at once, and each waits until those "
        "before it have been added", [SEGMENTED], traced,
        lambda shown: race_figures.draw_queue(*views(shown, "queue")),
        lambda shown: "The order of the blocks is an example. "
                      f"{TRACED}, n = {views(shown, 'queue')[0].n:,}: one addition per block, "
                      "all to the same address."),
    Drawing(
        "budget", "Bars, a row per number of floats that a thread adds up by itself: the time "
        "per block, split into reading and the rest", [COARSENED, sweep.COUNTED], swept,
        lambda shown: budget_figure.draw_budget(*shown),
        lambda shown: "Blue grows with the numbers of a block, orange does not: there is one tree "
                      "and one place in the queue per block. Where blue is long, other blocks "
                      "read meanwhile, and orange hides behind it."),
    Drawing(
        "blocks", "Points, one per size of block and coarsening factor: the time of a sum "
        "against its number of blocks", [COARSENED, sweep.COUNTED], swept,
        lambda shown: budget_figure.draw_blocks(shown[0]),
        lambda shown: "Where blocks of different sizes take the same time, it is their "
                      "number alone that counts: each adds once to the one sum."),
]

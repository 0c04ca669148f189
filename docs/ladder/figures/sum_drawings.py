"""The drawings of the sum's chapters, which drawings.py lists with the others."""

import pathlib

from ladder.figures import bank_figures, budget_figure, race_figures, tree_figures
from ladder.figures.drawing import Drawing
from ladder.measured import sweep
from ladder.measured.records import RecordError

SIMPLE = "chapters/06_sum_simple/sum.cu"
CONVERGENT = "chapters/07_sum_convergent/sum.cu"
SHARED = "chapters/08_sum_shared/sum.cu"
SEGMENTED = "chapters/09_sum_segmented/sum.cu"
NEIGHBOURS = "plots/examples/neighbours.cu"
LOST = "plots/examples/lost_update.cu"


class Swept(Drawing):
    """Drawn from what chapter 10's kernel was counted and timed to do, by its constants."""

    def shown(self, root):
        return [sweep.timed(root), budget_figure.counts(root)]

    def recorded(self, root):
        return (root / sweep.COUNTED).is_file()


def views(shown, kind):
    """What was traced of that kind, of all files."""
    return [one for trace in shown for one in trace.views[kind]]


def draw_tree(shown):
    return tree_figures.draw_tree(*views(shown, "tree"))


def draw_memory(shown):
    """Each panel is called after its chapter: 07 of chapters/07_sum_convergent/sum.cu."""
    return tree_figures.draw_traffic(*[
        (f"chapter {pathlib.Path(trace.source).parent.name[:2]}", trace.views["traffic"])
        for trace in shown])


# ---- Captions ----------------------------------------------------------------


def of_tree(shown):
    tree, = views(shown, "tree")
    grows = tree.strides() == sorted(tree.strides())
    sees = ("Neighbours meet first. The threads that add move apart from step to step, and so "
            "do their numbers." if grows else
            "Numbers far apart meet first. The threads that add stay side by side, and so do "
            "their numbers.")
    return f"{sees} Traced by the executor, n = {tree.n}; the numbers are an example."


def of_memory(shown):
    n = views(shown, "traffic")[0].n
    return ("An arrow that crosses the thick line asks global memory; compare how many do. "
            f"Traced by the executor, n = {n:,}, one block.")


def of_conflicts(_):
    return ("Count the coloured words of a column: its bank hands them out one after the other. "
            "“Neighbours first” stands above chapter 06's pairs, which "
            f"`{NEIGHBOURS}` adds in shared memory. Traced by the "
            "executor: loads of the first warp.")


def of_padding(_):
    return ("One unused word behind every 32 numbers moves each row on by one bank. Traced by "
            f"the executor: loads of the first warp in `{NEIGHBOURS}`.")


def of_race(shown):
    race = views(shown, "race")[0]
    if race_figures.replay(race)[0] == race_figures.WHOLE:
        raise RecordError(f"{LOST} loses nothing any more, so there is nothing to draw")
    return ("On the left both threads load the sum before either has stored. Which store comes "
            "last is not defined. Two blocks would do as these threads do. Traced by the "
            f"executor: `{LOST}`.")


def of_queue(shown):
    queue, = views(shown, "queue")
    return ("In which order the blocks come is an example. Traced by the executor, "
            f"n = {queue.n:,}: all blocks add to the same address.")


def of_budget(_):
    return ("Blue grows with the numbers of a block, orange does not: there is one tree and one "
            "place in the queue per block. Where blue is long, other blocks read meanwhile, and "
            "orange hides behind it.")


def of_blocks(_):
    return ("Where blocks of different sizes take the same time, it is their number alone that "
            "counts: each adds once to the one sum.")


TREE = ("Eight numbers, and below them a row per step: arrows lead from two numbers to the "
        "thread that adds them")
DRAWINGS = [
    Drawing("tree_simple", [SIMPLE], draw_tree, TREE, of_tree),
    Drawing("tree_convergent", [CONVERGENT], draw_tree, TREE, of_tree),
    Drawing("memory", [CONVERGENT, SHARED], draw_memory,
            "Arrows between the threads of a block and the memories, a column per step, for "
            "chapters 07 and 08", of_memory),
    Drawing("conflicts", [SHARED, NEIGHBOURS],
            lambda shown: bank_figures.draw_conflicts(views(shown, "banks")[:3]),
            "Shared memory as rows of 32 words, a column per bank, three times: which words the "
            "lanes of a warp want, and how many of them each bank holds", of_conflicts),
    Drawing("padding", [NEIGHBOURS],
            lambda shown: bank_figures.draw_padding(views(shown, "banks")[1:]),
            "Shared memory as rows of 32 words, a column per bank: which words a warp wants, "
            "without and with padding", of_padding),
    Drawing("race", [LOST], lambda shown: race_figures.draw_race(views(shown, "race")),
            "A sum in memory over time, and what two threads do to it, with += and with "
            "atomicAdd", of_race),
    Drawing("queue", [SEGMENTED], lambda shown: race_figures.draw_queue(*views(shown, "queue")),
            "A staircase: the sums of all blocks come at once, and each waits until those before "
            "it have been added", of_queue),
    Swept("budget", [], lambda shown: budget_figure.draw_budget(*shown),
          "Bars, a row per number of floats that a thread adds up by itself: the time per block, "
          "split into reading and the rest", of_budget),
    Swept("blocks", [], lambda shown: budget_figure.draw_blocks(shown[0]),
          "Points, one per size of block and coarsening factor: the time of a sum against its "
          "number of blocks", of_blocks),
]

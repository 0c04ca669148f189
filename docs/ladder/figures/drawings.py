"""The figures that are drawn by hand, so to speak: what each needs, and who draws it.

Each is one idea of one page, `<!-- figure NAME -->`, with a caption that holds for
whatever was traced.
"""

from ladder.figures import (
    drawings_bits, drawings_memory, drawings_teams, drawings_threads, error_figure, sum_drawings, traces
)
from ladder.figures.drawing import Drawing

CHAPTERS = {"01": "chapters/01_one_thread_each/", "02": "chapters/02_grid_stride/",
            "03": "chapters/03_pack/", "05": "chapters/05_bitmask/"}


def draw_beside(shown):
    return drawings_memory.draw_lanes([trace.views["beside"][0] for trace in shown])


def drawings(root):
    """Those for which all was recorded."""
    return [one for one in DRAWINGS if one.recorded(root)]


# ---- Captions ----------------------------------------------------------------


def of_threads(shown):
    owners = shown[0].views["owners"][0]
    return f"Each thread has one element, number i. {traced(shown[0], owners.n)}"


def of_beside(shown):
    one, other = (trace.views["beside"][0] for trace in shown)
    return (f"The upper load fetches {fetched(one):,} bytes for the {wanted(one)} that its "
            f"lanes want; the lower one fetches {fetched(other):,} for {wanted(other)}. Above "
            f"{file(shown[0])}, below {traced(shown[1], one.n)}")


def wanted(access):
    return len(access.first) * access.bytes


def fetched(access):
    return len(access.touched()) * traces.SECTOR


def of_rounds(shown):
    owners = shown[0].views["owners"][0]
    return ("After a whole grid the colours begin again, because the same threads take the "
            f"next elements. {traced(shown[0], owners.n)}")


def of_waves(shown):
    sizes = " and ".join(f"{one.n:,}" for one in shown[0].views["owners"][1:])
    return ("If all blocks take equally long, a last wave costs the time of a full one, "
            f"however few blocks it has. {file(shown[0])}, its launches for n = {sizes}.")


def of_flight(shown):
    flying = [str(trace.views["order"][0].bytes_before_store()) for trace in shown]
    return (f"Bytes that a thread has asked for when it first has to wait: {', '.join(flying)}. "
            "The executor traced the order of loads and stores; it knows no times.")


def of_half(shown):
    return ("The exponent says where the point is. In all but the smallest halves the digit in "
            f"front of it is 1, and needs no bit. As {file(shown[0])} prints it.")


def of_formulas(shown):
    return ("Two formulas for the same number: the largest error in each quarter of x, computed "
            f"in float by {file(shown[0])}, where tanh and exp are right to the last digit.")


def of_ballot(shown):
    return ("Bit k of the word is the answer of lane k. "
            f"{traced(shown[0], shown[0].views['vote'][0].n)}")


def of_butterfly(shown):
    return ("Each shuffle doubles what a lane has of the word. "
            f"{traced(shown[0], shown[0].views['exchange'][0].n)}")


def traced(trace, n):
    return f"{file(trace)}, traced by the executor, n = {n:,}."


def file(shown):
    """Of a trace its .cu file; of what was printed the program."""
    return shown.source.removeprefix("chapters/")


DRAWINGS = [
    Drawing("threads", [CHAPTERS["01"] + "relu.cu"], drawings_threads.draw_threads,
            "A grid, one of its blocks, and one warp of that: which thread has which element",
            of_threads),
    Drawing("coalesced", [CHAPTERS["01"] + "relu.cu", CHAPTERS["05"] + "relu_mask.sequential.cu"],
            draw_beside, "Rows of 32 floats of an array: what the lanes of a warp want, and "
            "what is fetched with it, for two ways to share out the elements", of_beside),
    Drawing("rounds", [CHAPTERS["02"] + "relu.cu"], drawings_threads.draw_rounds,
            "An array, each element in the colour of its thread, in the two rounds of a loop",
            of_rounds),
    Drawing("waves", [CHAPTERS["02"] + "relu.cu"], drawings_threads.draw_waves,
            "Blocks at work over time, for a launch of few waves and one of many", of_waves),
    Drawing("flight", [CHAPTERS["01"] + "relu.cu", CHAPTERS["03"] + "relu.four.cu",
                       CHAPTERS["03"] + "relu.cu"], drawings_memory.draw_flight,
            "Bytes in flight while a thread loads, waits and stores, in three kernels",
            of_flight),
    Drawing("half", ["tests/programs/half_bits.expected"], drawings_bits.draw_half,
            "The 16 bits of a half: sign, exponent, digits", of_half),
    Drawing("formulas", ["tests/programs/numerics_gelu.expected"], error_figure.draw_formulas,
            "Lines: the error of two formulas for GELU against x, and of rounding to half",
            of_formulas),
    Drawing("ballot", [CHAPTERS["05"] + "relu_mask.cu"], drawings_bits.draw_ballot,
            "32 lanes, the answer of each, and the word that is made of them",
            of_ballot),
    Drawing("butterfly", [CHAPTERS["05"] + "relu_mask.packed.cu"],
            drawings_bits.draw_butterfly,
            "Eight lanes with four bits each, and three shuffles after which each has all 32",
            of_butterfly),
    *drawings_teams.DRAWINGS,
    *sum_drawings.DRAWINGS,
]

"""The kinds of figures that a page can ask for: what each shows, and who draws it.

A figure is one idea of one page, which says in its directive what is traced for it
(asked.py). Its caption holds for whatever was traced.
"""

from ladder.figures import (active_figure, bank_figures, drawings_bits, drawings_memory,
                            drawings_messages, drawings_paths, drawings_teams, drawings_threads,
                            error_figure, meeting_figures, overlap_figure, race_figures,
                            tree_figures)
from ladder.figures.drawing import Kind, chapter, file, views
from ladder.figures.trace_kinds import SECTOR
from ladder.measured.records import RecordError


def draw_traffic(shown):
    """Each panel is called after its chapter."""
    return tree_figures.draw_traffic(*((f"chapter {chapter(one)}", one.views) for one in shown))


# ---- Captions that depend on what was traced ----------------------------------


def of_coalesced(shown):
    one, other = views(shown)
    return (f"The upper load fetches {fetched(one):,} bytes for the {wanted(one)} that its "
            f"lanes want; the lower one fetches {fetched(other):,} for {wanted(other)}.")


def wanted(access):
    return len(access.first) * access.bytes


def fetched(access):
    return len(access.touched()) * SECTOR


def of_sides(shown):
    return (f"The upper left corners of two matrices of {views(shown)[0].side} rows: what the "
            "first warp reads first, and what it writes first.")


def of_flight(shown):
    flying = [str(one.bytes_before_store()) for one in views(shown)]
    return f"Bytes that a thread has asked for when it first has to wait: {', '.join(flying)}."


def of_formulas(shown):
    return ("Two formulas for the same number: the largest error in each quarter of x, computed "
            f"in float by {file(shown[0])}, where tanh and exp are right to the last digit.")


def of_tree(shown):
    tree, = views(shown)
    if tree.strides() == sorted(tree.strides()):
        return ("Neighbours meet first. The threads that add move apart from step to step, and so "
                "do their numbers.")
    return ("Numbers far apart meet first. The threads that add stay side by side, and so do "
            "their numbers.")


def of_race(shown):
    if race_figures.replay(views(shown)[0])[0] == race_figures.WHOLE:
        raise RecordError(f"{shown[0].source} loses nothing any more, so there is nothing to draw")
    return ("On the left both threads load the sum before either has stored. Which store comes "
            "last is not defined. Two blocks would do as these threads do.")


PRINTED = "As tests/programs/{source} prints it."
TEAMS = ("A cell is what one thread reads side by side, with the thread's number; its colour is "
         "the member of the team.")

KINDS = {
    "lanes": Kind("lanes", lambda shown: drawings_memory.draw_lanes(views(shown)),
                  "Rows of 32 numbers of the array: what the lanes of the first warp want, and "
                  "what is fetched with it",
                  "The number in a blue box is that of the lane that loads it. A sector with any "
                  "blue in it is fetched as a whole.", "Traced by the executor, n = {n}."),
    "active": Kind("active", lambda shown: active_figure.draw_active(views(shown)),
                   "A grid: one box per warp of the first block, one row per step; which threads "
                   "add, and how many warps have work; traced by the executor, n = {n}"),
    "threads": Kind("owners", drawings_threads.draw_threads,
                    "A grid, one of its blocks, and one warp of that: which thread has which "
                    "element", "Each thread has one element, number i."),
    "coalesced": Kind("lanes", lambda shown: drawings_memory.draw_lanes(views(shown)),
                      "Rows of 32 floats of an array: what the lanes of a warp want, and what is "
                      "fetched with it, for {count} ways to share out the elements", of_coalesced,
                      "Above {file}, below {other}, traced by the executor, n = {n}."),
    "sides": Kind("sides", lambda shown: drawings_memory.draw_sides(views(shown)),
                  "Two matrices for each of {count} kernels: which elements a warp reads of one "
                  "and writes of the other, and the sectors that they lie in", of_sides,
                  "Traced by the executor, n = {n}."),
    "rounds": Kind("owners", drawings_threads.draw_rounds,
                   "An array, each element in the colour of its thread, in the two rounds of a "
                   "loop",
                   "After a whole grid the colours begin again, because the same threads take the "
                   "next elements."),
    "waves": Kind("owners", drawings_threads.draw_waves,
                  "Blocks at work over time, for a launch of few waves and one of many",
                  "If all blocks take equally long, a last wave costs the time of a full one, "
                  "however few blocks it has.", "{file}, its launches for n = {sizes}."),
    "flight": Kind("order", drawings_memory.draw_flight,
                   "Bytes in flight while a thread loads, waits and stores, in {count} "
                   "kernels", of_flight,
                   "The executor traced the order of loads and stores; it knows no times."),
    "half": Kind("", drawings_bits.draw_half, "The 16 bits of a half: sign, exponent, digits",
                 "The exponent says where the point is. In all but the smallest halves the digit "
                 "in front of it is 1, and needs no bit.", "As {file} prints it."),
    "formulas": Kind("", error_figure.draw_formulas,
                     "Lines: the error of two formulas for GELU against x, and of rounding to half",
                     of_formulas, ""),
    "ballot": Kind("vote", drawings_bits.draw_ballot,
                   "32 lanes, the answer of each, and the word that is made of them",
                   "Bit k of the word is the answer of lane k."),
    "butterfly": Kind("exchange", drawings_bits.draw_butterfly,
                      "Eight lanes with four bits each, and three shuffles after which each has "
                      "all 32",
                      "Each shuffle doubles what a lane has of the word."),
    "joined": Kind("joined", meeting_figures.draw_joined,
                   "Eight lanes with a number each, and three shuffles after which all have the "
                   "same sum",
                   "Two shuffles have joined lanes that are 16 and 8 away, which are not drawn. "
                   "The arrows are those of the last three."),
    "meeting": Kind("meeting", meeting_figures.draw_meeting,
                    "Blocks over time: each leaves a word, and the last one waits for all of them",
                    "In which order the words come is an example; the order of the additions does "
                    "not depend on it."),
    "overlap": Kind("launches", overlap_figure.draw_overlap,
                    "Four places for blocks over time, twice: a second launch behind the first, "
                    "with a gap, and one that begins before the first is done",
                    "A row is a place for one block. Only four are drawn, and how long the blocks "
                    "take is an example.",
                    "Blocks as the executor launched them, n = {n}."),
    "teams": Kind("", drawings_teams.draw_rows,
                  "Two matrices, cut into the loads of their threads: one thread for each short "
                  "row, four for each longer one", TEAMS, PRINTED),
    "columns": Kind("", drawings_teams.draw_columns,
                    "A matrix, cut into the loads of its threads: two take turns with the rows, and "
                    "each load serves four columns", TEAMS, PRINTED),
    "paths": Kind("", drawings_paths.draw_paths,
                  "Pairs of arrays that begin at different addresses, cut into the accesses of "
                  "their threads",
                  "A box is one access, with its thread's number: blue a pack, orange a single "
                  "element. Dotted lines are addresses that are multiples of 16.", PRINTED),
    "messages": Kind("", drawings_messages.draw_messages,
                     "Ranks as rows and steps as columns, for a ring and a tree: which parts of its "
                     "vector each rank sends, and to whom",
                     "A row of cells is the vector of a rank, cut into parts. Blue parts are added "
                     "to the receiver's, orange ones replace them.", PRINTED),
    "tree": Kind("tree", lambda shown: tree_figures.draw_tree(*views(shown)),
                 "Eight numbers, and below them a row per step: arrows lead from two numbers to "
                 "the thread that adds them", of_tree,
                 "Traced by the executor, n = {n}; the numbers are an example."),
    "memory": Kind("traffic", draw_traffic,
                   "Arrows between the threads of a block and the memories, a column per step, "
                   "for chapters {chapters}",
                   "An arrow that crosses the thick line asks global memory; compare how many do.",
                   "Traced by the executor, n = {n}, one block."),
    "conflicts": Kind("banks", lambda shown: bank_figures.draw_conflicts(views(shown)),
                      "Shared memory as rows of 32 words, a column per bank, {count} times: which "
                      "words the lanes of a warp want, and how many of them each bank holds",
                      "Count the coloured words of a column: its bank hands them out one after the "
                      "other.",
                      "Traced by the executor: loads of the first warp."),
    "padding": Kind("banks", lambda shown: bank_figures.draw_padding(views(shown)),
                    "Shared memory as rows of 32 words, a column per bank: which words a warp "
                    "wants, without and with padding",
                    "One unused word after every 32 numbers moves each row on by one bank.",
                    "Traced by the executor: loads of the first warp in `{source}`."),
    "race": Kind("race", lambda shown: race_figures.draw_race(views(shown)),
                 "A sum in memory over time, and what two threads do to it, with += and with "
                 "atomicAdd", of_race, "Traced by the executor: `{source}`."),
    "queue": Kind("queue", lambda shown: race_figures.draw_queue(*views(shown)),
                  "A staircase: the sums of all blocks come at once, and each waits until those "
                  "before it have been added", "In which order the blocks come is an example.",
                  "Traced by the executor, n = {n}: all blocks add to the same address."),
}

"""A sheet of questions to answer before running, whose numbers derive from a name."""

import contextlib
import hashlib
import math
import subprocess
import textwrap

from classroom import workshop
from classroom.assignment import Case, Problem, as_text, filled_in, only

FILE = "predict.toml"
WIDTH = 80


def drawn(assignment, which, name):
    """The numbers of a question that are this name's: word -> number."""

    def pick(word, choices):
        seed = f"{' '.join(name.split()).casefold()}/{assignment.name}/{which}/{word}"
        return choices[int(hashlib.sha256(seed.encode()).hexdigest(), 16) % len(choices)]

    return {word: pick(word, choices) for word, choices in assignment.questions[which].draw.items()}


def put_in(text, numbers, shown=str):
    for word, value in numbers.items():
        text = text.replace(f"{{{word}}}", shown(value))
    return text


def texts(assignment, name):
    return [put_in(question.text, drawn(assignment, which, name), "{:,}".format)
            for which, question in enumerate(assignment.questions)]


def sheet(assignment, name, again):
    """What a student fills in; `again` is the command that checks it."""
    quoted = name.replace("\\", "\\\\").replace('"', '\\"')
    lines = [*comment(f"Predictions of {name}: work each number out before you run anything, write it between "
                      f"the quotes, then check them with {again}."), f'name = "{quoted}"']
    for number, text in enumerate(texts(assignment, name), 1):
        lines += ["", *comment(f"{number}. {text}"), f'answer_{number} = ""']
    return "\n".join(lines) + "\n"


def comment(text):
    return textwrap.wrap(text, WIDTH, initial_indent="# ", subsequent_indent="# ",
                         break_long_words=False, break_on_hyphens=False)


def read(path, assignment):
    """A sheet's name and its answers, None where one is open."""
    filled = filled_in(path)
    if not isinstance(filled.get("name"), str):
        raise Problem(f"{path} does not say whose it is: move it away, and begin a new one")
    answers = [f"answer_{number}" for number in range(1, len(assignment.questions) + 1)]
    only(["name", *answers], filled, path)
    return filled["name"], [as_number(path, answer, str(filled.get(answer, ""))) for answer in answers]


def as_number(path, word, answer):
    if not answer.strip():
        return None
    with contextlib.suppress(ValueError):
        if math.isfinite(number := float(answer.replace(",", ""))):
            return number
    raise Problem(f"{path}: {word} is '{answer}', which is no number")


def edited(assignment, which, numbers):
    """The solution with the question's constants in it."""
    text, edit = assignment.solution.read_text(encoding="utf-8"), assignment.questions[which].edit
    if not edit:
        return text
    old, arrow, new = edit.partition(" -> ")
    if not arrow or text.count(old) != 1:
        raise Problem(f"question {which + 1} of {assignment.name}: write edit = 'old -> new', where old occurs "
                      f"once in {assignment.solution.name}")
    return text.replace(old, put_in(new, numbers))


def right_answers(assignment, name, asked):
    """Those of the questions that are asked for, by the executor: question -> number."""
    if not assignment.solution.is_file():
        raise Problem(f"{assignment.name}'s solution, from which the answers come, is not in this copy: "
                      "hand in the sheet, and your teacher's copy will check it")
    try:
        return counted(assignment, name, asked)
    except (Problem, subprocess.TimeoutExpired) as problem:
        if not assignment.solution.is_symlink():
            raise
        raise Problem("In this copy your own kernel gives the answers. So it has to pass its checks first, with the "
                      "constants that the questions change still in it. Or hand in the sheet: your teacher's copy "
                      "checks it.") from problem


def counted(assignment, name, asked):
    numbers = {which: drawn(assignment, which, name) for which in asked}
    planted = {which: workshop.plant(assignment.op, edited(assignment, which, numbers[which])) for which in asked}
    programs = workshop.build(planted.values())
    for path, program in programs.items():
        if isinstance(program, str):
            raise Problem(f"{path} does not compile:\n{program}")
    return {which: workshop.counter(
                programs[planted[which]], assignment.questions[which],
                Case(numbers[which]["n"], numbers[which].get("offset", 0))) for which in asked}


def is_right(question, answer, right):
    """A whole number is meant exactly."""
    return abs(answer - right) <= (0 if right == int(right) else question.within * abs(right))


def verdicts(assignment, name, answers):
    """A sentence for each question, and how many are right."""
    asked = [which for which, answer in enumerate(answers) if answer is not None]
    right = right_answers(assignment, name, asked) if asked else {}
    lines, hits = [], 0
    for which, (question, answer) in enumerate(zip(assignment.questions, answers)):
        if answer is None:
            lines.append(f"{which + 1}. is still open.")
        elif is_right(question, answer, right[which]):
            hits += 1
            lines.append(f"{which + 1}. right: the executor counts {as_text(right[which])} "
                         f"({question.counter}).")
        else:
            less = "fewer" if right[which] < answer else "more"
            lines.append(f"{which + 1}. wrong: the executor counts {less} than {as_text(answer)} "
                         f"({question.counter}).")
    return lines, hits

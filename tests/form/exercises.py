"""The form of the exercises."""

from classroom import blanks
from classroom.assignment import Problem


def exercise(root, path):
    """The solution, but for its blanks, each with room for what the solution has there."""
    solution = path.with_name(path.name.replace(".exercise", ""))
    if not solution.is_file():
        yield f"has no solution {solution.name} beside it"
        return
    text = path.read_text()
    try:
        found, _ = blanks.split(text)
        answers = blanks.answers(text, solution.read_text())
    except Problem as problem:
        yield str(problem)
        return
    for blank, answer in zip(found, answers):
        if blanks.code_lines(answer) > blank.most:
            yield f"line {blank.first}: at most {blank.most} lines, and the solution has {blanks.code_lines(answer)}"

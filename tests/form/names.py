"""No script knows the name of a chapter or of an operation: a new one adds its own files only."""

import functools
import io
import re
import tokenize

from form.files import chapters, matching, operations, tracked

scripts = matching(
    r"Makefile|\.ci/run|tests/(?:form/|fuzz/)?[^/]*\.py|plots/[^/]*\.(?:json|toml)"
    r"|(?:docs|common)/(?!classroom/tasks/).*(?:\.py|\.sh|\.sbatch|/run_autograder)"
)


EXAMPLES = ("03", "07")  # Chapters in the words of `make help`.


def own_names(root, path):
    """Words are no names: sum() is Python's, and a sum in a sentence is a sum."""
    pattern = _pattern(root) if path.suffix == ".py" else _pattern_of_commands(root)
    for line, kind, text in _pieces(path):
        name = pattern.search(text)
        if kind == tokenize.NAME:
            name = _in_identifier(root, text)
        if kind == tokenize.STRING and (whole := re.fullmatch(r"\w*(['\"])(\w+)\1", text)):
            name = re.search(whole[2], text) if whole[2] in {*operations(root), *chapters(root)} else None
        if name:
            yield f"line {line + text[: name.start()].count(chr(10))}: '{name[0]}' is a name that only its own files know"


def _pattern(root):
    """A folder of a chapter; an operation where it begins a file's name, a function's or a path's part."""
    titles = {name[3:] for name in chapters(root) if "_" in name[3:]}
    folders = rf"(?<!\w)(?:{'|'.join(sorted({*chapters(root), *titles}, reverse=True))})(?!\w)"
    ops = "|".join(sorted(operations(root), reverse=True))
    checked = "|".join(sorted(operations(root) | _engines(root), reverse=True))
    return re.compile(rf"{folders}|(?<![\w.%$<])(?:{ops})(?:(?:[._|]\w+)+|/\w+)|(?<=[/|])(?:{ops})(?![\w-])"
                      rf"|(?:any|test)_(?:{checked})(?![a-z])|(?<=/)(?:{checked})_test")


def _pattern_of_commands(root):
    """A command is a word: there an engine's name is one, too, and so is a chapter's number."""
    numbers = "|".join(sorted({name[:2] for name in chapters(root)} - set(EXAMPLES)))
    words = "".join(rf"|(?<![\w-]){name}(?![\w-])" for name in _engines(root))
    return re.compile(rf"{_pattern(root).pattern}|(?<=chapter )(?:{numbers})\b|(?<=,)(?:{numbers})(?=\)){words}")


@functools.cache
def _engines(root):
    """What several chapters' files are made with, as checks and measurements call them."""
    paths = [path.relative_to(root) for path in tracked(root)]
    return ({path.parts[1].removeprefix("any_") for path in paths if path.match("tests/any_*/*")}
            | {path.stem for path in paths if path.match("plots/*.py") and not path.match("*_peers.py")})


def _in_identifier(root, text):
    """<op>_drawings and <Op>, but not <op>: that may be a word."""
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", text).lower()
    ours = [op for op in operations(root) if re.match(rf"{op}_\w", snake) or snake == op != text]
    return re.search(".+", text) if ours else None


def _pieces(path):
    """(line, kind, text) of all that a script consists of."""
    text = path.read_text(errors="replace")
    if path.suffix != ".py":
        yield from ((number, None, line) for number, line in enumerate(text.splitlines(), 1))
        return
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in (tokenize.OP, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT):
            yield token.start[0], token.type, token.string

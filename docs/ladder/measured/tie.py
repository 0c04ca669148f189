"""Ties what was recorded to the code that it was recorded of.

A digest of files and of all files of the project that they include: of their tokens,
so that comments, layout and the place of a file do not count, and everything that
decides what runs and how it is timed does, on the device and on the host.
"""

import functools
import hashlib
import pathlib
import re

TOKEN = re.compile(r"""
    (?P<comment> //[^\n]* | /\*.*?\*/ )
  | (?P<include> ^[ \t]*\#[ \t]*include[ \t]*"(?P<path>[^"\n]+)" )
  | (?P<directive> ^[ \t]*\#(?: \\\n | [^\n/] | /(?![/*]) )* )
  | (?P<string> "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*' )
  | (?P<word> \w+ )
  | (?P<mark> \S )
""", re.M | re.S | re.X)


def tie(root, *sources):
    """A digest of these files, paths below `root`; the same whatever their order."""
    found, todo = {}, [pathlib.Path(source) for source in sources]
    while todo:
        path = todo.pop()
        if path not in found:
            # A header that is not there is told of by the compiler.
            there = (root / path).is_file() or path in map(pathlib.Path, sources)
            found[path], included = _code(root / path) if there else (path.name, ())
            todo += [_below(root, path, name) for name in included]
    whole = hashlib.sha256()
    for tokens in sorted(found.values()):
        whole.update(tokens.encode() + b"\0")
    return whole.hexdigest()[:16]


def _code(path):
    return _read(path, path.stat().st_mtime_ns)


@functools.cache
def _read(path, _):
    """Its tokens, and what it includes of the project."""
    text = path.read_text()
    if path.suffix == ".py":  # Line by line: what Python's parser gives depends on its version.
        lines = (line.rstrip() for line in text.splitlines())
        return "\n".join(line for line in lines if line and not line.lstrip().startswith("#")), ()
    tokens, included = [], []
    for found in TOKEN.finditer(text):
        if found["path"]:
            included.append(found["path"])
        elif not found["comment"]:
            tokens.append(" ".join(found[0].split()) if found["directive"] else found[0])
    return "\n".join(tokens), tuple(included)


def _below(root, path, name):
    beside = path.parent / name
    return beside if (root / beside).is_file() else pathlib.Path(name)

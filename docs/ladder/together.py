"""Compile many .cu files as one: most of nvcc's time goes into reading headers.

Each file is included in a namespace of its own, behind the headers of all of them. A chapter's
headers are in there with it: of an engine, several versions may be compiled as one.
"""

import os
import re

from harness import built, contracts
from ladder import toolchain

AT_MOST = 30  # Files in one: several are compiled at once.
FOLDER = "build/together"
TASKS = "common/classroom/tasks"
OPTIONAL = "<curand_kernel.h>"  # Not in all packages of the toolkit: who includes it asks for it.
CHOICE = "KERNEL"  # The environment says with this which file a program is to run.
NAMESPACE = re.compile(r"\bfile_\d+::")
MAIN = [("int", "main", "")]
MAIN_WITH_ARGUMENTS = [("int", "main", "int argc, char** argv")]
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"][^>"]+[>"])', re.M)
OF_CHAPTER = re.compile(r'^#include "(\S*\bchapters/\S+\.h)".*\n', re.M)


def headers(root, path):
    """What a file includes, as seen from the root; of a chapter's headers, what they include."""
    for header in dict.fromkeys(INCLUDE.findall(pasted(root, path.relative_to(root), set()))):
        beside = path.parent / header[1:-1]
        if header.startswith('"') and not (root / header[1:-1]).is_file():
            header = f'"{beside.relative_to(root)}"'
        yield header


def has_engine(path):
    """Includes a chapter's headers."""
    return bool(OF_CHAPTER.search(path.read_text()))


def pasted(root, name, seen):
    """A file's text with its chapter's headers in it, each once, and named as -I. finds it."""
    text = (root / name).read_text().replace("#pragma once\n", "\n")

    def paste(include):
        if include[1] in seen:
            return "\n"
        seen.add(include[1])
        next_line = text.count("\n", 0, include.end()) + 1
        return f'{pasted(root, include[1], seen)}#line {next_line} "./{name}"\n'

    return f'#line 1 "./{name}"\n{OF_CHAPTER.sub(paste, text)}'


def stands_alone(path):
    """Includes another .cu, which would be there twice."""
    return any(header.endswith('.cu"') for header in INCLUDE.findall(path.read_text()))


def gather(files, key=lambda _: ""):
    """Lists of files of one key, none too long."""
    found = {}
    for path in files:
        found.setdefault(key(path), []).append(path)
    return [group[i:i + AT_MOST] for group in found.values() for i in range(0, len(group), AT_MOST)]


def contract(root, op):
    """The header of a contract, a chapter's or an open task's; None if there is none."""
    headers = root / "common" / f"{op}.h", root / TASKS / op / f"{op}.h"
    return next((header for header in headers if header.is_file()), None)


def declarations(root, path):
    """(type, name, parameters) of each function that a file is there for."""
    code = path.read_text()
    header = contract(root, op(path))
    if header and "int main(" not in code:  # A program fulfils no contract, whatever its name.
        return contracts.functions(header.read_text())
    return MAIN_WITH_ARGUMENTS if "int main(int" in code else MAIN


def text(root, files):
    """A file that compiles them all."""
    wanted = dict.fromkeys(h for path in files for h in headers(root, path))
    lines = [f"#include {header}" for header in wanted if header != OPTIONAL]
    if OPTIONAL in wanted:
        lines += [f"#if __has_include({OPTIONAL})", f"#include {OPTIONAL}", "#endif"]
    for number, path in enumerate(files):
        declared = declarations(root, path)
        # A stream's type is global: through it a call would find the contract's, too.
        lines += [f"#define {function} {function}_{number}" for _, function, _ in declared]
        lines += [f"namespace file_{number} {{"]
        lines += [f"{result} {function}({parameters});" for result, function, parameters in declared]
        name = path.relative_to(root)
        lines += [pasted(root, name, set()) if has_engine(path) else f'#include "{name}"', "}"]
        lines += [f"#undef {function}" for _, function, _ in declared]
    return "\n".join(lines) + "\n"


def program(root, files):
    """The same for files of one kind; what runs is the one that $KERNEL names."""
    lines = ["#include <cstdlib>", "#include <cstring>",  # <string> takes nvcc as long as all the rest.
             f'static bool chosen(const char* file) {{ return !std::strcmp(std::getenv("{CHOICE}"), file); }}']
    of_first = declarations(root, files[0])
    for result, name, parameters in MAIN_WITH_ARGUMENTS if of_first == MAIN else of_first:
        lines += [f"{result} {name}({parameters}) {{"]
        for number, path in enumerate(files):
            given = next(p for _, n, p in declarations(root, path) if n == name)
            call = f"file_{number}::{name}_{number}({', '.join(contracts.arguments(given))})"
            lines += [f'  if (chosen("{path.relative_to(root)}")) return {call};']
        lines += ["  std::abort();", "}"]
    return text(root, files) + "\n".join(lines) + "\n"


def plant(root, stem, content, folder=""):
    """Write the file where the Makefile can build it; its name tells contents apart."""
    return built.plant(root / FOLDER / folder, stem, content).relative_to(root)


def build(root, backend, groups, kind, folder="", besides=()):
    """File -> the program that runs it, or what the compiler said.

    A program of a group runs the file that the environment's $KERNEL names. Where a
    group cannot be built, each of its files is tried alone. Other targets can be made
    besides, at the same time: target -> the same.
    """
    joined = _plan(root, backend, groups, kind, folder)
    alone = [path for group in groups for path in group if not returns(path)]
    built = {}
    for target, said in toolchain.make_each(root, backend, [*joined, *besides]).items():
        if target not in joined or said is None:
            built |= dict.fromkeys(joined.get(target, [target]), said or root / target)
        else:
            alone += joined[target]
    return built | build_alone(root, backend, alone, kind)


def _plan(root, backend, groups, kind, folder):
    """What make is to build for that: target -> the files that are in it."""
    joined = {}
    for group in groups:
        if members := [path for path in group if returns(path)]:
            planted = plant(root, op(members[0]), program(root, members), folder)
            joined[_target(backend, planted, kind)] = members
    return joined


def build_alone(root, backend, files, kind):
    """The same, each file as a program of its own."""
    targets = {path: _target(backend, path.relative_to(root), kind) for path in files}
    said = toolchain.make_each(root, backend, targets.values())
    return {path: root / target if said[target] is None else said[target] for path, target in targets.items()}


def _target(backend, path, kind):
    return f"{toolchain.folder(backend)}/{path.with_suffix(kind)}"


def returns(path):
    """Only a main may end without a return; no other function that it becomes here."""
    main = re.search(r"^int main\(.*?^}", path.read_text(), re.M | re.S)
    return not main or re.search(r"\n  return [^;{}]*;\n}\Z", main[0])


def environment(root, path):
    return os.environ | {CHOICE: str(path.relative_to(root))}


def plain(messages):
    """Without the namespace that the file got here."""
    return NAMESPACE.sub("", messages)


def op(path):
    """chapters/NN_name/<op>.four.cu -> <op>"""
    return path.name.split(".")[0]

#!/usr/bin/env python3
"""Check the form of the repository: folders, chapter files, pages.

Each check names the things it looks at; looking at nothing is a failure.
docs/style.md describes the form, form/ holds the checks.
"""

import argparse
import pathlib
import sys


from form import exercises, files, folders, names, sources, typed, writing
from ladder import pages
from ladder.pages import Problem

# What is checked, and the function that lists what to look at.
CHECKS = [
    (folders.top_level, files.whole),
    (folders.numbering, files.whole),
    (folders.chapter_folder, files.chapter_folders),
    (folders.contract, files.chapter_sources),
    (sources.size, files.contract_sources),
    (sources.header, files.chapter_sources),
    (sources.vocabulary, files.contract_sources),
    (sources.symbols, files.contract_sources),
    (sources.linked_symbols, files.chapter_sources),
    (sources.formatting, files.formatted),
    (sources.marking, files.shared_code),
    (sources.purpose, files.machinery),
    (sources.layer, files.executor),
    (sources.wrong_kernel, files.wrong_kernels),
    (sources.change, files.later_chapters),
    (exercises.exercise, files.exercises),
    *[(check, files.chapter_pages) for check in writing.PAGE_FORM],
    (writing.long_sentences, files.plain_pages),
    (writing.phrases, files.plain_pages),
    (writing.command, files.chapter_pages),
    (writing.change_is_woven, files.chapter_pages),
    (writing.results_are_woven, files.chapter_pages),
    (writing.break_items, files.chapter_pages),
    (writing.links, pages.find),
    (writing.errata_rows, files.errata),
    (writing.typed_numbers, pages.find),
    (typed.identifiers, files.chapter_pages),
    (typed.gpu, files.chapter_pages),
    (typed.markup, files.chapter_pages),
    (typed.targets, pages.find),
    (typed.chapter_links, pages.find),
    (typed.versions, pages.find),
    (writing.terms, files.whole),
    (writing.entries, files.glossary),
    (names.own_names, names.scripts),
    (folders.machine, files.everything),
    (folders.fast_math, files.everything),
]


def run(root):
    tally, unreadable = pages.Tally(), set()
    for check, items in CHECKS:
        if check is sources.formatting and not sources.clang_format():
            print(f"note  no clang-format {sources.FORMATTER}: formatting was not checked")
            continue
        title = check.__name__.replace("_", " ")
        things = items(root)
        if not things:
            tally.fail(f"{title}: found nothing to look at")
        for thing in things:
            try:
                report(f"{named(root, thing)}{title}", list(check(root, thing)), tally)
            except Problem as problem:
                unreadable.add(str(problem))
    for problem in sorted(unreadable):  # Once, not once a check.
        tally.fail(problem)
    return tally.close("check")


def named(root, thing):
    path = thing[-1] if isinstance(thing, tuple) else thing
    return "" if path == root else f"{path.relative_to(root)}: "


def report(title, problems, tally):
    for problem in problems:
        tally.fail(f"{title}: {problem}")
    if not problems:
        tally.ok()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("root", nargs="?", type=pathlib.Path, default=pages.ROOT)
    try:
        return run(parser.parse_args().root.resolve())
    except Problem as problem:
        sys.exit(f"layout: {problem}")


if __name__ == "__main__":
    sys.exit(main())

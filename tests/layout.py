#!/usr/bin/env python3
"""Check the form of the repository: folders, chapter files, pages.

Each check names the things it looks at; looking at nothing is a failure.
docs/style.md describes the form, form/ holds the checks.
"""

import functools

from form import exercises, files, folders, names, sources, typed, writing
from ladder import pages
from ladder.pages import Problem


def of_pages(items, *checks):
    """Of what looks at a page: the same for the page's path, which is read once."""
    def of_path(check):
        return functools.wraps(check)(lambda root, path: check(page(path, root)))
    return [(of_path(check), items) for check in checks]


@functools.cache
def page(path, root):
    return pages.Page(path, root)


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
    *of_pages(files.chapter_pages, *writing.PAGE_FORM),
    *of_pages(files.plain_pages, writing.long_sentences, writing.phrases),
    *of_pages(files.chapter_pages, writing.command, writing.change_is_woven, writing.results_are_woven,
              writing.break_items, typed.identifiers, typed.gpu, typed.markup),
    *of_pages(pages.find, writing.links, writing.typed_numbers, typed.targets, typed.chapter_links, typed.versions),
    *of_pages(files.errata, writing.errata_rows),
    (writing.terms, files.whole),
    *of_pages(files.glossary, writing.entries),
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


main = pages.tool("layout", __doc__, run)

if __name__ == "__main__":
    main()

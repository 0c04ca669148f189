"""The form of the pages."""

import os
import re

from ladder import pages, prose
from form.files import is_tracked, later_chapters

HEADINGS = ["The change", "Why it works", "Predict", "What happened", "Where the time goes", "Break it",
            "Your turn", "Read along"]
LEAST_WORDS, MOST_WORDS = 700, 1400
LONGEST_SENTENCE = 28  # In words.
QUESTIONS = (2, 3)  # So many may Predict ask.

ONE = r"(?:load|store|thread|warp|block|request|row|element|lane|step|call|pack|sector)"
MANY = (
    r"(?:sectors|bytes|threads|rows|barriers|numbers|floats?|halves|instructions|wavefronts|atomics?"
    r"|(?:\d+|one|two|three|four|eight|sixteen) (?:loads?|stores?|requests?|packs?|blocks?|sums?))"
)
# What a reader stumbles over, and what to write.
PHRASES = [
    (rf"\b{MANY} an? (?:load |store )?{ONE}\b", "write 'per'"),
    (r"^(?:Had|Were|Should) (?:each|every|one|an?|the)\b(?!.*\?\W*$)", "write 'If ...'"),
    (r"(?:^|[:;] )[Ww]ho (?:has|is|adds|reads|writes|wants|comes)\b(?!.*\?\W*$)", "give it a noun"),
    (r"\bshall\b", "write 'will', 'must' or 'should'"),
    (r"\bonly so (?:many|much)\b", "write 'a limited number'"),
    (r"\bout of (?:the )?L2\b", "write 'L2 cold'"),
    (r"\bas good as\b", "write 'at best'"),
    (r"\b(?:own(?:s|ed)? up|own affair|nobody's|for the ones)\b", "say it plainly"),
]

ENTRY = r"^### +(.*?) *$"
# Words of every page: a link at each would say nothing.
EVERYDAY = {"host", "device", "kernel", "thread", "block", "grid", "half"}

ERRATA = ["The text", "What is true", "Done right in", "Shown by"]
NOT_SHOWN = "read, not shown"

UNIT = r"(?:[kKMGT]i?B/s|us|µs|μs|ms|ns|(?:micro|milli|nano)seconds?|[MG]Hz|[GT]FLOPS?)"
ROOF = r"(?:an?\s+|the\s+)?(?:plain\s+)?(?:copy|roof|datasheet|peak)"
TYPED_NUMBER = re.compile(
    rf"(?<![\w.])\d[\d,.]*\s*(?:{UNIT}(?![\w/])"
    rf"|(?:%|percent)\s+(?:of\s+{ROOF}|faster|slower)"
    rf"|(?:x|×|times)\s+(?:{ROOF}|faster|slower|as\s+fast))"
)
LINK = re.compile(
    r"\]\(\s*<?([^)\s>]+)>?[^)]*\)|\b(?:src|href)=[\"']([^\"']+)|^\s*\[[^\]]+\]:\s*(\S+)",
    re.M,
)


def headings(page):
    titles = re.findall(r"^##? .*?(?= *$)", page.prose(), re.M)
    number = page.path.parent.name[:2]
    if not titles or not re.fullmatch(rf"# {number} · \S.*", titles[0]):
        yield f"the first heading is '# {number} · Title'"
    if titles[1:] != [f"## {title}" for title in HEADINGS]:
        found = ", ".join(title.lstrip("# ") for title in titles[1:]) or "none"
        yield f"the headings are {', '.join(HEADINGS)}; found {found}"


def opening(page):
    """Begins with a question; a reader goes on for the answer."""
    start = prose.text(page).split("\n## ")[0]
    if not any(bold.endswith("?") for bold in prose.BOLD.findall(start)):
        yield "asks no **question?** before its first heading"


def sections(page):
    for title in HEADINGS:
        start, end = span(page, title)
        if not page.text[start:end].strip():
            yield f"nothing stands below '{title}'"


def picture(page):
    """A figure before the argument: at the end of the change, or first below the heading."""
    start, end = span(page, "Why it works")
    argument = re.search(r"\S", page.prose()[start:end])
    before = page.prose()[: start + argument.start()] if argument else ""
    rest = re.sub(r"^## .*", lambda heading: " " * len(heading[0]), before, flags=re.M)
    seen = [b for b in page.blocks if b.end <= len(before) and b.directive.word == "figure"]
    if not seen or rest[seen[-1].end :].strip() or seen[-1].start < span(page, "The change")[0]:
        yield "no figure stands between the change and the first words of 'Why it works'"


def predictions(page):
    """Questions whose answers fold out, and are counted or measured."""
    start, end = span(page, "Predict")
    text, asked_from = page.prose(), start
    answers = list(re.finditer(r"<details>.*?</details>", text[start:end], re.S))
    if not QUESTIONS[0] <= len(answers) <= QUESTIONS[1]:
        yield f"'Predict' has {len(answers)} answers in <details>, need {QUESTIONS[0]} or {QUESTIONS[1]}"
    for answer in answers:
        first, last = (start + at for at in answer.span())
        inside = [d.word for d in page.directives if first < d.start < last]
        if "?" not in text[asked_from:first]:
            yield f"line {page.line(first)}: no question stands before this answer"
        if not {"value", "table", "count"} & set(inside):
            yield f"line {page.line(first)}: this answer holds no woven value or table, and no count"
        asked_from = last


def length(page):
    count = sum(prose.words(s) for _, s in sentences(page))
    if not LEAST_WORDS <= count <= MOST_WORDS:
        yield f"{count} words of prose, need {LEAST_WORDS} to {MOST_WORDS}"


def long_sentences(page):
    for line, sentence in sentences(page):
        count = prose.words(sentence)
        if count > LONGEST_SENTENCE:
            start = " ".join(sentence.split()[:6])
            yield f"line {line}: {count} words, at most {LONGEST_SENTENCE}: '{start} ...'"


def phrases(page):
    for line, sentence in sentences(page):
        plain = prose.LINK.sub(r"\1", prose.CODE.sub("`", sentence)).replace("*", "")
        for phrase, instead in PHRASES:
            if found := re.search(phrase, plain):
                yield f"line {line}: '{found[0].strip()}': {instead}"


def sentences(page):
    """(the line that its paragraph begins in, the sentence)"""
    for start, found in prose.paragraphs(prose.text(page)):
        for sentence in found:
            yield page.line(start), sentence


def command(page):
    paragraphs = page.text.split("\n## ")[0].split("\n\n")
    wanted = f"`make chapter{page.path.parent.name[:2]} && ./run`"
    if wanted not in map(str.strip, paragraphs[2:]):
        yield f"{wanted} is no paragraph of its own, behind the one with the idea"


def change_is_woven(page):
    words = [d.word for d in section(page, "The change")]
    follows = any(after.parent == page.path.parent for _, after in later_chapters(page.root))
    wanted = ("diff",) if follows else ("diff", "code")
    if not set(wanted) & set(words):
        yield f"'The change' holds no woven {' or '.join(wanted)}"


def results_are_woven(page):
    words = {d.word for d in section(page, "What happened")}
    for wanted in ("table", "figure"):
        if wanted not in words:
            yield f"'What happened' holds no woven {wanted}"


def break_items(page):
    start, end = span(page, "Break it")
    items = [start + m.start() for m in re.finditer(r"^(?:[-*+]|\d+\.) ", page.prose()[start:end], re.M)]
    if not items:
        yield "'Break it' has no list items"
    breaks = [d.start for d in page.directives if d.word == "break"]
    for item, following in zip(items, [*items[1:], end]):
        if not any(item <= b < following for b in breaks):
            yield f"line {page.line(item)}: this item has no break directive"


def links(page):
    for match in LINK.finditer(page.visible()):
        target = next(t for t in match.groups() if t)
        file, _, anchor = target.partition("#")
        if re.match(r"\w+:", target):
            continue
        line = page.line(match.start())
        there = (page.path.parent / file).resolve() if file else page.path
        if not is_tracked(page.root, there):
            yield f"line {line}: there is no {target}"
        elif anchor and anchor not in anchors(there, page.root):
            yield f"line {line}: {there.name} has no heading for #{anchor}"


def anchors(path, root):
    """The anchors that GitHub gives a page's headings."""
    if path.suffix != ".md":
        return set()
    titles = re.findall(r"^#{1,6} +(.*?) *$", pages.Page(path, root).visible(), re.M)
    return set(map(pages.anchor, titles))


def errata_rows(page):
    """Each row of the errata shows what it says, or owns up that it does not.

    A link in the last column leads to code; where its words are `code`, they
    are the file's name or stand in the file."""
    rows = [(page.line(m.start()), [cell.strip() for cell in m[1].split("|")])
            for m in re.finditer(r"^\|(.*)\|[ \t]*$", page.visible(), re.M)]
    rows = [(line, cells) for line, cells in rows if set("".join(cells)) != {"-"}]
    for line, cells in rows:
        if len(cells) != len(ERRATA) or not all(cells):
            yield f"line {line}: a row has {len(ERRATA)} cells: {', '.join(ERRATA)}"
        elif cells != ERRATA and cells[-1] != NOT_SHOWN:
            for problem in shown(page.path, cells[-1]):
                yield f"line {line}: {problem}"
    if all(cells == ERRATA for _, cells in rows):
        yield "has no row"


def shown(path, cell):
    links = re.findall(r"\[([^\]]*)\]\(([^)\s]+)\)", cell)
    if not links:
        yield f"links nothing that shows it: link it, or say '{NOT_SHOWN}'"
    for words, target in links:
        file = path.parent / target
        if file.suffix not in (".cu", ".patch", ".cpp", ".py"):
            yield f"{target} shows nothing: link a kernel, a check or a program"
        elif (code := re.fullmatch(r"`(.+)`", words)) and file.is_file():
            if code[1] != file.name and code[1] not in file.read_text():
                yield f"'{code[1]}' does not stand in {target}"


def typed_numbers(page):
    for match in TYPED_NUMBER.finditer(page.prose()):
        number = " ".join(match[0].split())
        line = page.line(match.start())
        yield f"line {line}: '{number}' is a measurement typed by hand: weave it as a 'value'"


def terms(root, _):
    """A term is bold once, in the sentence that defines it."""
    seen = {}
    for term in prose.terms(root):
        if term.name.lower() in seen:
            yield f"{term.where}: '{term.name}' is bold already in {seen[term.name.lower()]}"
        seen.setdefault(term.name.lower(), term.where)
        if begins := prose.POINTS_BACK.match(term.definition):
            yield (f"{term.where}: what defines '{term.name}' begins with '{begins[0]}', and "
                   "no sentence stands before it in its paragraph")
    if not seen:
        yield "no chapter defines a **term**"


def entries(page):
    """The page of terms has each bold term, and no other without a text."""
    woven = {term.name: term.where for term in prose.terms(page.root)}
    shown = set(re.findall(ENTRY, page.visible(), re.M))
    for name in sorted(woven.keys() - shown):
        yield f"{woven[name]} defines '{name}', which has no entry: run `make weave`"
    for match in re.finditer(rf"{ENTRY}(.*?)(?=^#|\Z)", page.prose(), re.M | re.S):
        name, line = match[1], page.line(match.start())
        if name in woven:
            yield f"line {line}: '{name}' is defined here and in {woven[name]}"
        elif not match[2].strip():
            yield f"line {line}: '{name}' is bold in no chapter, and nothing is said of it here"


def linked_terms(page):
    """A page links each term that it uses and an earlier chapter defines, once at least."""
    links, words = [], prose.text(page)
    for match in [*re.finditer("^#.*", words, re.M), *prose.CODE.finditer(words)]:
        words = pages.blank(words, *match.span())
    for match in prose.LINK.finditer(words):
        links.append(os.path.relpath(page.path.parent / match[2], page.root / "docs"))
        words = pages.blank(words, match.end(1), match.end())
    for term in prose.terms(page.root):
        if term.chapter >= page.path or singular(term.name) in EVERYDAY:
            continue
        used = re.search(rf"\b{re.escape(singular(term.name))}(?:s|es)?\b", words, re.I)
        if used and f"terms.md#{term.anchor}" not in links:
            yield (f"line {page.line(used.start())}: '{used[0]}', which {term.where} defines, is "
                   f"linked nowhere: link it to docs/terms.md#{term.anchor}")


def singular(name):
    return name.removesuffix("s")


def section(page, title):
    """The directives below a heading."""
    start, end = span(page, title)
    return [d for d in page.directives if start <= d.start < end]


def span(page, title):
    found = re.search(rf"^## +{re.escape(title)} *$(.*?)(?=^##? |\Z)", page.prose(), re.M | re.S)
    return found.span(1) if found else (0, 0)


PAGE_FORM = [headings, opening, sections, picture, predictions, length, long_sentences, phrases,
             linked_terms]

"""CSV files: of the class, and of Canvas' gradebook."""

import csv
import io
import re

from classroom.formats import text
from classroom.result import CORRECTNESS, EFFICIENCY, SAFETY

# A spreadsheet takes a cell that begins so for a formula; one with a semicolon or a tab it may split.
FORMULA = re.compile(r"(^|[;,|\t])(\s*)(?=[=+\-@＝＋－＠])")
KINDS = (CORRECTNESS, SAFETY, EFFICIENCY)
SUMMARY = ("student", "id", "assignment", "status", "points", "of", *KINDS,
           "message", "file", "sha256", "seed", "contained")
# Canvas' gradebook_importer.rb finds students by SIS User ID, by SIS Login ID, then by name.
CANVAS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
POSSIBLE = "Points Possible"  # A line whose first cell holds this says what assignments are worth.


def cell(value):
    """Text that no spreadsheet runs; numbers stay numbers."""
    return FORMULA.sub(r"\1\2'", text.line(value)) if isinstance(value, str) else value


def csv_text(rows):
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows([cell(value) for value in row] for row in rows)
    return file.getvalue()


def summary(results):
    return csv_text([SUMMARY, *map(summary_row, results)])


def summary_row(result):
    of_kind = [text.points(sum(check.points for check in result.checks if check.kind == kind)) for kind in KINDS]
    return (result.student, result.id, result.assignment, result.status, text.points(result.points),
            text.points(result.of), *of_kind, next(text.reasons(result), ""), result.file, result.sha256,
            result.seed, result.contained)


def canvas(by_folder, on_roster):
    """A column for each assignment, of (folder, result). Where there is a roster, folder -> Student,
    nobody else has a row: Canvas could take him for a student whose id he is called by."""
    worth, students = {}, {}
    for folder, result in by_folder:
        worth[result.assignment] = text.points(result.of)
        if folder in on_roster or not on_roster:
            section = on_roster[folder].section if on_roster else ""
            row = students.setdefault((folder, result.id, result.student, section), {})
            row[result.assignment] = text.points(result.points)
    titles = sorted(worth)
    rows = [(*CANVAS, *titles), (POSSIBLE, *[""] * (len(CANVAS) - 1), *map(worth.get, titles))]
    for (_, number, name, section), points in students.items():
        harmless = name.replace(POSSIBLE, "(points possible)")
        rows.append((harmless, "", number, number, section, *(points.get(t, "") for t in titles)))
    return csv_text(rows)

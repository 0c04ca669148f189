"""Who handed in which folder: a CSV file with the columns folder, name, id and, at will, section."""

import csv
import dataclasses
import io

from classroom.assignment import Problem

COLUMNS = ("folder", "name", "id")
OPTIONAL = ("section",)


@dataclasses.dataclass(frozen=True)
class Student:
    folder: str  # Below the folder of hand-ins.
    name: str
    id: str
    section: str = ""


def read(path):
    """Folder -> Student."""
    try:
        return students(path, path.read_text(encoding="utf-8-sig"))  # Spreadsheets begin with a BOM.
    except OSError as error:
        raise Problem(f"the roster {path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise Problem(f"{path}: byte {error.start} is not UTF-8: save the roster as 'CSV UTF-8'") from error


def students(path, text):
    rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    found, lines = {}, {}  # Where each folder and each id stands.
    try:
        columns = header(path, next(rows, []))
        for row in rows:
            if any(map(str.strip, row)):
                student = student_of(f"{path}, line {rows.line_num}", columns, row)
                for column, value in (("folder", student.folder), ("id", student.id)):
                    same = value if column == "folder" else value.casefold()  # A login is the same in capitals.
                    before = lines.setdefault((column, same), rows.line_num)
                    if before != rows.line_num:
                        raise Problem(f"{path}, line {rows.line_num}: the {column} '{value}' stands in line {before} already")
                found[student.folder] = student
    except csv.Error as error:
        raise Problem(f"{path}, line {rows.line_num}: {error}") from error
    if not found:
        raise Problem(f"{path} names no student: below its header stands a line for each")
    return found


def header(path, row):
    columns = [cell.strip().lower() for cell in row]
    if not set(COLUMNS) <= set(columns) <= {*COLUMNS, *OPTIONAL} or len(set(columns)) < len(columns):
        raise Problem(f"{path}, line 1: the header is '{','.join(row)}', but should be "
                      f"'{','.join(COLUMNS)}' or '{','.join(COLUMNS + OPTIONAL)}'")
    return columns


def student_of(where, columns, row):
    if len(row) != len(columns):
        raise Problem(f"{where}: there are {len(row)} cells under {len(columns)} columns; "
                      'a cell with a comma stands in "quotes"')
    student = Student(**dict(zip(columns, map(str.strip, row))))
    for column in COLUMNS:
        if not getattr(student, column):
            raise Problem(f"{where}: the {column} is empty")
    if student.folder in (".", "..") or "/" in student.folder:
        raise Problem(f"{where}: '{student.folder}' is no name of a folder: write it without slashes")
    return student

"""Canvas's and Moodle's readers of grades, as their published sources have them: what they find in a file, and whose.

Written anew from ``lib/gradebook_importer.rb`` (instructure/canvas-lms), ``lib/csvlib.class.php`` and
``mod/assign/feedback/offline/importgradeslib.php`` (moodle/moodle). They know nothing of the code under test.
"""

import csv
import io
import re
from dataclasses import dataclass

Person = dict[str, str]


def strictly(data: bytes) -> list[list[str]]:
    """RFC 4180, and nothing forgiven."""
    text = data.decode("utf-8")
    return list(csv.reader(io.StringIO(text, newline=""), strict=True))


@dataclass
class CanvasUpload:
    assignment: str
    assignment_id: str | None
    points_possible: str
    scores: dict[str, str]
    unknown: list[str]


def canvas(data: bytes, people: list[Person]) -> CanvasUpload:
    """people: with id, sis_user_id, login and name, as Canvas has them."""
    header, *rows = strictly(data)
    assert len(header) > 3
    assert "Student" in header[0]
    assert "ID" in header[1]
    width, sis, login = 3, None, None
    if re.search(r"SIS\s+Login\s+ID", header[2]):
        login, width = 2, 4
    elif re.search(r"SIS\s+User\s+ID", header[2]) and re.search(r"SIS\s+Login\s+ID", header[3]):
        sis, login, width = 2, 3, 5
        width += bool(re.search(r"Integration\s+ID", header[4]))
    assert "Section" in header[width - 1], f"Invalid header row: {header}"
    (title,) = header[width:]
    named = re.fullmatch(r"(.*)\s\((\d+)\)", title)
    upload = CanvasUpload(named[1] if named else title, named[2] if named else None, "", {}, [])
    for row in rows:
        if "Points Possible" in row[0]:
            upload.points_possible = row[width]
            continue
        signs = [("id", 1)] + [(key, at) for key, at in (("sis_user_id", sis), ("login", login)) if at is not None]
        found = next((one for key, at in signs for one in people if row[at] and one[key] == row[at]), None)
        found = found or next((one for one in people if one["name"] == row[0]), None)
        if found is None:
            upload.unknown.append(row[0])
        else:
            upload.scores[found["login"]] = row[width].strip()
    return upload


def moodle_worksheet(data: bytes, people: list[Person]) -> dict[str, tuple[str, str]]:
    """Username -> (grade, feedback) for every line that Moodle would take. people: with participant and username."""
    columns, *rows = strictly(data.removeprefix(b"\xef\xbb\xbf"))
    columns = [column.strip() for column in columns]
    at = {name: columns.index(name) for name in ("Identifier", "Grade", "Last modified (grade)")}
    comments = columns.index("Feedback comments") if "Feedback comments" in columns else None
    taken = {}
    for row in rows:
        assert len(row) == len(columns), "csvweirdcolumns"
        user = next((one for one in people if f"Participant {one['participant']}" == row[at["Identifier"]]), None)
        if user is not None:
            taken[user["username"]] = (row[at["Grade"]], row[comments] if comments is not None else "")
    return taken


def moodle_gradebook(data: bytes, key: str, people: list[Person], column: str) -> dict[str, str]:
    """Username -> grade. key: the column that the instructor maps users by; an unknown user stops the import."""
    columns, *rows = strictly(data)
    grades = {}
    for row in rows:
        assert len(row) == len(columns), "csvweirdcolumns"
        value = row[columns.index(key)]
        if value:
            (user,) = (one for one in people if one[key] == value)
            grades[user["Username"]] = row[columns.index(column)]
    return grades

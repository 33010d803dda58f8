"""The two pages: all exercises, and one group of answers with the form that marks it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from urllib.parse import urlencode

import jinja2
from nbformat import NotebookNode

from autograder.feedback.page import page_style
from autograder.feedback.words import points as in_words
from autograder.gradebook.read import EARLIER, Key
from autograder.gradebook.remarks import remarks
from autograder.marking.answers import ClassAnswer, ReadClass
from autograder.marking.desk import Desk, Marker, member
from autograder.marking.exercises import MarkedExercise
from autograder.marking.groups import AnswerGroup, differing_words, form
from autograder.marking.slices import rendered

FOLDER = Path(__file__).parent / "page"
#: So many of the comments that were given before are offered.
OFFERED = 12
_MAX_LABEL, _MAX_DIFFERING = 40, 12


def group_address(key: Key, group: str = "", row: str = "") -> str:
    """Relative to the marker's own address. row: of the one answer that is shown; "" for the whole group."""
    asked = {"x": "/".join(key)} | ({"g": group} if group else {}) | ({"a": row} if row else {})
    return f"group?{urlencode(asked)}"


def start_page(desk: Desk, marker: Marker, read: ReadClass) -> str:
    rows: list[dict[str, object]] = []
    for key, answers in read.answers.items():
        exercise, waiting = desk.reader.exercises[key], sum(one.waits for one in answers)
        row = {
            "address": group_address(key), "title": exercise.title, "notebook": key[0], "answers": len(answers),
            "max_points": exercise.max_points, "marked": len(answers) - waiting, "waiting": waiting,
            "first": bool(waiting) and not any(one["waiting"] for one in rows),
        }  # fmt: skip
        rows.append(row)
    left_out: dict[str, list[str]] = defaultdict(list)
    for student, reason in read.left_out.items():
        left_out[reason].append(desk.name(student))
    return _page(desk, marker, exercise=None, rows=rows, left_out=sorted(left_out.items()))


def group_page(desk: Desk, marker: Marker, read: ReadClass, key: Key, group: AnswerGroup, row: str = "") -> str:
    """row: the one answer that is shown, which can be marked again; "" for the group, of which those are that wait."""
    exercise, answers = desk.reader.exercises[key], read.answers[key]
    groups = desk.groups(key, answers)
    alone = [one for one in group.answers if one.row == row]
    open_now = alone or list(group.waiting)
    others = desk.claims.take(marker.name, [one.row for one in open_now])
    free = [one for one in open_now if one.row not in others]
    shown = AnswerGroup(group.name, tuple(alone)) if alone else group
    waiting = [one for one in groups if one.waiting]
    following = desk.next_group(key, groups, marker, group.name)
    one = free[0] if alone and free else None
    comment = (one.state.comment or "") if one else ""
    earlier = comment.removeprefix(EARLIER).strip() if comment.startswith(EARLIER) else ""
    return _page(
        desk,
        marker,
        exercise=exercise,
        key="/".join(key),
        group=group.name,
        done=sum(not answer.waits for answer in answers),
        total=len(answers),
        left=len(waiting),
        groups=[_entry(key, other, other.name == group.name) for other in groups],
        skip=group_address(key, following.name) if following else "",
        asked=_shown(exercise.asked),
        others=_told(others),
        texts=_texts(desk, key, group, shown),
        single=row if alone else "",
        split_off=group.split,
        members=[member(answer) for answer in free],
        lines=_lines(desk, exercise),
        comments=bool(exercise.comment_cell),
        points_now="" if one is None or one.state.score is None else in_words(one.state.score),
        comment_now="" if earlier else comment,
        earlier=earlier,
        button=_button(len(free), bool(alone)),
        nothing="Somebody else is reading what waits." if others else "Nothing waits here. A name leads to its mark.",
        model=_shown(exercise.model),
        scheme=_shown(exercise.scheme),
    )  # fmt: skip


def _page(desk: Desk, marker: Marker, **shown: object) -> str:
    said = " ".join(filter(None, (marker.said, desk.problem)))
    marker.said = desk.problem = ""
    return _template().render(
        assignment=desk.assignment, marker=marker.name, said=said, can_undo=bool(marker.stored), **shown
    )


@lru_cache(maxsize=1)
def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER), autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    environment.filters["points"] = in_words
    return environment.get_template("page.html.j2")


def file_of(name: str) -> str:
    """One of the three files that the pages load."""
    return page_style() if name == "answers.css" else (FOLDER / name).read_text(encoding="utf-8")


def _shown(cells: Sequence[NotebookNode]) -> str:
    """Inert HTML, which the template takes as it is."""
    return rendered(cells) if cells else ""


def _entry(key: Key, group: AnswerGroup, current: bool) -> dict[str, object]:
    text = " ".join(group.answers[0].text.split()) or "…"
    label = "nothing answered" if group.name == "blank" else text[:_MAX_LABEL]
    waiting = len(group.waiting)
    count = f"{waiting} of {len(group.answers)}" if waiting else f"✓ {len(group.answers)}"
    return {"address": group_address(key, group.name), "label": label, "count": count, "current": current}


def _texts(desk: Desk, key: Key, group: AnswerGroup, shown: AnswerGroup) -> list[dict[str, object]]:
    first = group.texts[0][0]
    found = []
    for same in shown.texts:
        count = len(same)
        answers = [
            {"address": group_address(key, group.name, one.row), "name": desk.name(one.student), "state": _state(one)}
            for one in same
        ]
        text: dict[str, object] = {
            "heading": "1 answer" if count == 1 else f"{count} equal answers",
            "differs": "" if same[0].digest == first.digest else _differing(same[0].text, first.text),
            "said": same[0].read.said,
            "body": _body(desk, key, same),
            "answers": sorted(answers, key=lambda one: str(one["name"])),
            "form": form(same[0]),
        }
        found.append(text)
    return found


def _body(desk: Desk, key: Key, same: Sequence[ClassAnswer]) -> str:
    for answer in same:
        cells = desk.reader.cells_of(answer, key)
        if cells is not None:
            return _shown(cells) or "Nothing was answered."
    return "The answer is being graded again: load the page again."


def _differing(text: str, first: str) -> str:
    here, there = (", ".join(words[:_MAX_DIFFERING]) for words in differing_words(text, first))
    return "; ".join(filter(None, (f"only here: {here}" if here else "", f"not here: {there}" if there else "")))


def _state(answer: ClassAnswer) -> str:
    state = answer.state
    if state.waits:
        return "waits; the answer changed since its mark" if state.score is not None else "waits"
    given = in_words(state.score if state.score is not None else answer.auto_score)
    return f"{given} points{' by the grader' if state.score is None else ''}"


def _told(others: Mapping[str, str]) -> str:
    names = ", ".join(sorted(set(others.values())))
    return f"{names} is reading {len(others)} of these now; they are left out here." if others else ""


def _button(count: int, alone: bool) -> str:
    return "Store the mark" if alone or count == 1 else f"The same mark for these {count}"


def _lines(desk: Desk, exercise: MarkedExercise) -> list[dict[str, object]]:
    """The mark scheme's lines, then the comments that were given before, the most frequent first."""
    listed = {line.text for line in exercise.lines}
    given = remarks(desk.course.db_url, desk.assignment, exercise.key[0]).get(exercise.comment_cell, [])
    before = [text for text in given if text not in listed][:OFFERED]
    return [{"text": line.text, "points": line.points} for line in exercise.lines] + [
        {"text": text, "points": 0.0} for text in before
    ]

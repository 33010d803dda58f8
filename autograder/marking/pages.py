"""The pages: all exercises, one group of answers with the form that marks it, and a second look at an exercise."""

import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from urllib.parse import urlencode

import jinja2
from nbformat import NotebookNode

from autograder.feedback.page import page_style
from autograder.feedback.words import in_points
from autograder.feedback.words import points as in_words
from autograder.gradebook.marks import given_comments
from autograder.gradebook.read import EARLIER, Key
from autograder.marking.answers import ClassAnswer, ReadClass, rendered
from autograder.marking.desk import Desk, Marker, member
from autograder.marking.exercises import MarkedExercise
from autograder.marking.groups import AnswerGroup, differing_words, form
from autograder.marking.log import LoggedMarks, MarkPair, agreement, pairs

FOLDER = Path(__file__).parent / "page"
#: So many of the comments that were given before are offered.
OFFERED = 12
_MAX_LABEL, _MAX_DIFFERING, _MAX_TEXT = 40, 12, 600


def group_address(key: Key, group: str = "", row: str = "") -> str:
    """Relative to the marker's own address. row: of the one answer that is shown; "" for the whole group."""
    asked = {"x": "/".join(key)} | ({"g": group} if group else {}) | ({"a": row} if row else {})
    return f"group?{urlencode(asked)}"


def look_address(key: Key) -> str:
    return f"look?{urlencode({'x': '/'.join(key)})}"


def start_page(desk: Desk, marker: Marker, read: ReadClass) -> str:
    rows: list[dict[str, object]] = []
    log = desk.log
    waiting_keys = [key for key, answers in read.answers.items() if any(one.waits for one in answers)]
    first = next(iter(desk.own_first(waiting_keys, marker)), None)
    for key, answers in read.answers.items():
        exercise, waiting = desk.reader.exercises[key], sum(one.waits for one in answers)
        row = {
            "address": group_address(key), "title": exercise.title, "notebook": key[0], "answers": len(answers),
            "about": _about(exercise, desk.formed(key), desk.grader_of(key)),
            "marked": len(answers) - waiting, "waiting": waiting,
            "first": key == first, "look": look_address(key),
            "mine": sum((by := log.of(one)) is not None and by.grader == marker.name for one in answers),
            "twice": agreement(pairs(log, key)),
        }  # fmt: skip
        rows.append(row)
    left_out: dict[str, list[str]] = defaultdict(list)
    for student, reason in read.left_out.items():
        left_out[reason].append(desk.name(student))
    return _page(desk, marker, exercise=None, rows=rows, left_out=sorted(left_out.items()), pseudonyms=desk.pseudonyms)


def _about(exercise: MarkedExercise, groups: int, grader: str) -> str:
    """groups: 0 where nobody knows yet."""
    lines = len(exercise.lines)
    counts = (groups, "group", ""), (lines, "line", " in the mark scheme")
    said = [f"{count} {name}{'' if count == 1 else 's'}{where}" for count, name, where in counts if count]
    named = [f"for {grader}"] if grader else []
    return ", ".join([exercise.key[0], in_points(exercise.max_points), *said, *named])


def group_page(desk: Desk, marker: Marker, read: ReadClass, key: Key, group: AnswerGroup, row: str = "") -> str:
    """row: the one answer that is shown, which can be marked again; "" for the group, of which those are that wait."""
    exercise, answers, log = desk.reader.exercises[key], read.answers[key], desk.log
    groups = desk.groups(key, answers, marker)
    alone = [one for one in group.answers if one.row == row]
    open_now = alone or list(group.waiting)
    others = desk.claims.take(marker.name, [one.row for one in open_now])
    free = [one for one in open_now if one.row not in others]
    shown = AnswerGroup(group.name, tuple(alone)) if alone else group
    following = desk.next_group(key, groups, marker, group.name)
    one = free[0] if alone and free else None
    state = one.state if one and not one.second else None  # nothing of the first mark before the second
    comment = (state.comment or "") if state else ""
    earlier = comment.removeprefix(EARLIER).strip() if comment.startswith(EARLIER) else ""
    return _page(
        desk,
        marker,
        exercise=exercise,
        key="/".join(key),
        group=group.name,
        **_progress(groups, answers),
        look=look_address(key),
        groups=[_entry(key, other, other.name == group.name) for other in groups],
        skip=group_address(key, following.name) if following else "",
        asked=_shown(exercise.asked),
        others=_told(others),
        texts=_texts(desk, key, group, shown, log),
        single=row if alone else "",
        tests=_tests(alone[0]) if alone else "",
        own="" if not group.own else "joined" if group.joined else "split",
        joinable=[_entry(key, other, False) for other in groups if other.name not in ("blank", group.name)],
        both=_both(key, log, one),
        changed=len(desk.new_points(key, answers)),
        can_take_back=bool(state and one and log.of(one)),
        members=[member(answer) for answer in free],
        lines=_lines(desk, exercise),
        comments=bool(exercise.comment_cell),
        points_now="" if state is None or state.score is None else in_words(state.score),
        comment_now="" if earlier else comment,
        earlier=earlier,
        button="Store the mark" if alone or len(free) == 1 else f"The same mark for these {len(free)}",
        nothing="Somebody else is reading what waits." if others else "Nothing waits here. A name leads to its mark.",
        model=_shown(exercise.model),
        scheme=_shown(exercise.scheme),
    )  # fmt: skip


def _progress(groups: Sequence[AnswerGroup], answers: Sequence[ClassAnswer]) -> dict[str, int]:
    return {
        "done": sum(not answer.waits for answer in answers), "total": len(answers),
        "left": sum(bool(one.waiting) for one in groups),
    }  # fmt: skip


def look_page(desk: Desk, marker: Marker, read: ReadClass, key: Key, groups: Sequence[AnswerGroup]) -> str:
    """All marks of an exercise by points, for whoever wants to see whether they are even."""
    log = desk.log

    def shown(answer: ClassAnswer, group: AnswerGroup) -> dict[str, str]:
        return {
            "name": desk.name(answer.student), "text": answer.text[:_MAX_TEXT], "state": _state(answer, log),
            "comment": answer.state.comment or "", "address": group_address(key, group.name, answer.row),
        }  # fmt: skip

    given = pairs(log, key)
    look = None if any(one.second for group in groups for one in group.answers) else second_look(groups, given, shown)
    exercise, whose = desk.reader.exercises[key], {one.row: group for group in groups for one in group.answers}
    changed = [
        shown(one.answer, whose[one.answer.row])
        | {"points": in_words(one.points), "comment": one.comment, "member": member(one.answer)}
        for one in desk.new_points(key, read.answers[key])
        if look
    ]
    return _page(
        desk, marker, exercise=exercise, key="/".join(key), second=look, changed=changed, twice=agreement(given),
        back=group_address(key), **_progress(groups, read.answers[key]),
    )  # fmt: skip


def _page(desk: Desk, marker: Marker, **shown: object) -> str:
    said = " ".join(filter(None, (marker.said, desk.problem)))
    marker.said = desk.problem = ""
    return _template().render(
        assignment=desk.assignment,
        marker=marker.name,
        said=said,
        can_undo=bool(desk.log.last_click(marker.name)),
        **shown,
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
    return {
        "address": group_address(key, group.name), "label": label, "count": count, "current": current,
        "name": group.name,
    }  # fmt: skip


def _texts(desk: Desk, key: Key, group: AnswerGroup, shown: AnswerGroup, log: LoggedMarks) -> list[dict[str, object]]:
    first = group.texts[0][0]
    found = []
    for same in shown.texts:
        count = len(same)
        answers = [
            {
                "address": group_address(key, group.name, one.row),
                "name": desk.name(one.student),
                "state": _state(one, log),
            }
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


def _state(answer: ClassAnswer, log: LoggedMarks) -> str:
    state, mark = answer.state, log.of(answer)
    if answer.second:
        return "waits"
    if state.waits:
        return "waits; the answer changed since its mark" if state.score is not None else "waits"
    given = in_points(state.score if state.score is not None else answer.auto_score)
    return f"{given}{' by the grader' if state.score is None else f' by {mark.grader}' if mark else ''}"


def _tests(answer: ClassAnswer) -> str:
    points, most = answer.tests
    return f"Tests of this notebook: {in_words(points)} of {in_points(most)}." if most else ""


def _both(key: Key, log: LoggedMarks, answer: ClassAnswer | None) -> list[str]:
    """What two people have given an answer, as long as nobody has decided."""
    found = [one for one in pairs(log, key) if answer and not answer.second and one.open and one.row == answer.row]
    return [
        f"{grader}: {in_points(given)}. {comment}"
        for one in found
        for grader, given, comment in zip(one.graders, (one.first, one.second), one.comments, strict=True)
    ]


def _told(others: Mapping[str, str]) -> str:
    names = ", ".join(sorted(set(others.values())))
    return f"{names} is reading {len(others)} of these now; they are left out here." if others else ""


def _lines(desk: Desk, exercise: MarkedExercise) -> list[dict[str, object]]:
    """The mark scheme's lines, then the comments that were given before, the most frequent first."""
    listed = {line.comment for line in exercise.lines}
    given = given_comments(desk.course.db_url, desk.assignment, exercise.key[0]).get(exercise.comment_cell, [])
    before = [text for text in given if text not in listed][:OFFERED]
    return [{"text": line.text, "comment": line.comment, "points": line.points} for line in exercise.lines] + [
        {"text": text, "comment": text, "points": 0.0} for text in before
    ]


#: So many answers of each group are drawn.
DRAWN = 3
Shown = dict[str, str]


@dataclass
class SecondLook:
    """``points``: points to their number and some answers with them. ``uneven``: answers that are equal, with other
    points each. ``undecided``: answers to which two people gave other points."""

    points: dict[str, tuple[int, list[Shown]]] = field(default_factory=dict)
    uneven: list[list[Shown]] = field(default_factory=list)
    undecided: list[Shown] = field(default_factory=list)


def second_look(
    groups: Sequence[AnswerGroup], pairs: Iterable[MarkPair], shown: Callable[[ClassAnswer, AnswerGroup], Shown]
) -> SecondLook:
    """shown: what a page says of an answer in its group."""
    look = SecondLook()
    found: dict[float, list[tuple[AnswerGroup, list[ClassAnswer]]]] = {}
    to_decide = {one.row: one for one in pairs if one.open}
    for group in groups:
        by_points: dict[float, list[ClassAnswer]] = {}
        for answer in group.answers:
            score = answer.state.score if answer.state.score is not None else answer.auto_score
            if not answer.waits and score is not None:
                by_points.setdefault(score, []).append(answer)
        for score, same in by_points.items():
            found.setdefault(score, []).append((group, same))
        look.uneven += _uneven(group, by_points, shown)
        look.undecided += [
            {**shown(one, group), "state": to_decide[one.row].said, "comment": ""}
            for one in group.answers
            if one.row in to_decide
        ]
    for score in sorted(found, reverse=True):
        drawn = [
            shown(one, group) for group, same in found[score] for one in random.sample(same, min(DRAWN, len(same)))
        ]
        count = sum(len(same) for _, same in found[score])
        look.points[in_points(score)] = count, drawn
    return look


def _uneven(
    group: AnswerGroup, by_points: dict[float, list[ClassAnswer]], shown: Callable[[ClassAnswer, AnswerGroup], Shown]
) -> list[list[Shown]]:
    """For each text with several marks one answer of each mark."""
    texts: dict[str, list[ClassAnswer]] = {}
    for same in by_points.values():
        for name, answer in {form(one): one for one in same}.items():
            texts.setdefault(name, []).append(answer)
    return [[shown(one, group) for one in several] for several in texts.values() if len(several) > 1]

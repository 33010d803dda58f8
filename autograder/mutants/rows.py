"""The table of mutants, a row for each part of an assignment's solutions; of a whole course, as a page of Markdown.

What no graded cell rejected is compared with the solution outside these cells: equivalent, or a survivor.
"""

import ast
import contextlib
import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from autograder.assignment.assignment import Assignment
from autograder.authoring.trial import imports_of_trials, needed, solutions
from autograder.errors import GradingError
from autograder.files.temporary import TemporaryFolder
from autograder.model import cells
from autograder.model.cells import tree_of
from autograder.model.course import Course
from autograder.mutants.generate import Mutant, SolutionPart, mutants, parts, sample
from autograder.mutants.run import REJECTED, KeptOutcomes, Outcome, Progress, tried
from autograder.references import loader
from autograder.references.draw import draw
from autograder.references.write import files_of, inputs_among, lay_out

#: Seeds from which cases are drawn anew.
FRESH_SEEDS = (101, 102, 103)
#: So many mutants of a part are compared by one process, which runs the solution first.
MAX_TOGETHER = 16


def compared_with_solution(
    course: Course, assignment: Assignment, left: Sequence[Mutant], workers: int, progress: Progress
) -> dict[str, Outcome]:
    """id -> ``equivalent``, ``message``, ``looks`` or ``survivor``."""
    kept = KeptOutcomes(course, assignment, "compared")
    found = {one.id: outcome for one in left if (outcome := kept.read(one)) is not None}
    parts: dict[SolutionPart, list[Mutant]] = {}
    for one in left:
        if one.id not in found:
            parts.setdefault(one.part, []).append(one)
    groups = [
        versions[start : start + MAX_TOGETHER]
        for versions in parts.values()
        for start in range(0, len(versions), MAX_TOGETHER)
    ]
    if groups:
        progress(len(found), len(left))
    with ThreadPoolExecutor(workers) as pool:
        for said in pool.map(lambda group: list(_compared(assignment, group[0].part, group)), groups):
            for mutant, outcome in said:
                kept.add(mutant, outcome)
                found[mutant.id] = outcome
            progress(len(found), len(left))
    return found


def _compared(
    assignment: Assignment, part: SolutionPart, versions: Sequence[Mutant]
) -> Iterator[tuple[Mutant, Outcome]]:
    with TemporaryFolder("mutants-") as folder:
        task = _task(assignment, part, folder)
        task["versions"] = [{"id": one.id, "text": one.text} for one in versions]
        path = folder / "task.json"
        path.write_text(json.dumps(task), encoding="utf-8")
        command = [sys.executable, "-P", "-m", "autograder.mutants.replay", str(path)]
        environment = {**os.environ, "MPLBACKEND": "agg", "TOKENIZERS_PARALLELISM": "false"}
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=environment)
    said = {found["id"]: found for found in map(json.loads, done.stdout.splitlines())}
    for one in versions:
        if one.id not in said:
            last = (done.stderr.strip().splitlines() or ["no word"])[-1]
            raise GradingError(f"{part.label}: its solution could not be compared with mutants: {last}")
        yield one, _outcome(one, said[one.id])


def _outcome(mutant: Mutant, found: dict[str, Any]) -> Outcome:
    if not found["same"]:
        kind = "message" if mutant.message else "survivor"
        return Outcome(kind, said=f"{found['input']}: {found['differs']}")  # type: ignore[arg-type]
    return Outcome("looks" if found["differs"] else "equivalent", said=found["tried"])


def _task(assignment: Assignment, part: SolutionPart, folder: Path) -> dict[str, Any]:
    """What :mod:`autograder.mutants.replay` is told; writes working folder and inputs below ``folder``."""
    notebook = next(book for book in assignment.source.values() if part.exercises[0] in map(cells.grade_id, book.cells))
    graded = [index for index, cell in enumerate(notebook.cells) if cells.grade_id(cell) in part.exercises]
    before = sorted(set().union(*(needed(notebook, index) for index in graded)) - set(graded))
    solved, imports = solutions(assignment), imports_of_trials(assignment.references.folder.parent)
    return {
        "paths": imports.paths,
        "modules": imports.warm,
        "folder": str(_work(assignment, folder / "work")),
        "cells": [
            [str(cells.grade_id(notebook.cells[index])), _text(notebook.cells[index], solved)] for index in before
        ],
        "place": part.place,
        "file": part.place in assignment.deliverables,
        "text": part.text,
        "names": _names(part),
        "classes": [node.name for node in tree_of(part.text).body if isinstance(node, ast.ClassDef)],
        "hidden": [_graded(notebook.cells[index]) for index in graded],
        "inputs": [str(path) for path in _inputs(assignment, [notebook.cells[index] for index in graded], folder)],
    }


def _text(cell: NotebookNode, solved: dict[str, str]) -> str:
    text: str = solved.get(str(cells.grade_id(cell)), cell.source)
    return text


def _graded(cell: NotebookNode) -> list[str]:
    both = cells.split_hidden(cell.source)
    return [str(cells.grade_id(cell)), both.visible, both.hidden]


def _names(part: SolutionPart) -> list[str]:
    first, last = part.lines
    found = []
    for node in tree_of(part.text).body:
        if first <= node.lineno <= last:
            found += [node.name] if isinstance(node, ast.ClassDef | ast.FunctionDef) else []
            within = ast.walk(node) if isinstance(node, ast.Assign) else ()
            found += [one.id for one in within if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)]
    return found


def _work(assignment: Assignment, folder: Path) -> Path:
    folder.mkdir()
    for path, data in {**assignment.files, **assignment.solutions}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    solved = solutions(assignment)
    for file in assignment.deliverables:
        (folder / file).write_text(solved[file], encoding="utf-8")
    return folder


def _inputs(assignment: Assignment, graded: Sequence[NotebookNode], folder: Path) -> Iterator[Path]:
    """Folders with the exercises' inputs: the stored ones, then some drawn anew."""
    slugs = list(dict.fromkeys(slug for cell in graded for slug in cells.references_of(cell.source)))
    for number, seed in enumerate((None, *FRESH_SEEDS)):
        target = folder / "inputs" / str(number)
        for slug in slugs:
            if seed is None:
                lay_out(assignment.references.inputs(slug), target / slug)
                continue
            made = assignment.references.exercise(slug)
            with contextlib.suppress(GradingError):  # this seed's cases cannot show every mistake: another one does
                lay_out(inputs_among(files_of(made, draw(made, seed))), target / slug)
        yield target


@dataclass(frozen=True)
class MutantRow:
    """What became of the mutants of one part. ``named`` to ``crashed`` together are the rejected ones.

    other: those that change only an error's words or a picture's looks. ticked: rejected ones that the visible check of
    the cell passes. refused: those that the visible check refuses though they get full points. seconds: of trying.
    """

    part: str
    mutants: int
    rejected: int
    named: int
    worded: int
    values: int
    crashed: int
    survivors: int
    equivalent: int
    accepted: int
    other: int
    ticked: int
    refused: int
    seconds: float

    @property
    def numbers(self) -> tuple[int, ...]:
        """All but the name and the seconds, in the order of :data:`COLUMNS`."""
        return tuple(getattr(self, one.name) for one in fields(self)[1:-1])


COLUMNS = ("mutants", "rejected", "by name", "in words", "values differ", "crashed", "survivors", "equivalent",
           "accepted", "words or looks", "rejected with ✓", "full points with ✗")  # fmt: skip


def rows(chosen: Sequence[Mutant], outcomes: Mapping[str, Outcome]) -> list[MutantRow]:
    labels = list(dict.fromkeys(mutant.part.label for mutant in chosen))
    return [row(label, [outcomes[one.id] for one in chosen if one.part.label == label]) for label in labels]


def row(name: str, found: Sequence[Outcome]) -> MutantRow:
    kinds = Counter(outcome.kind for outcome in found)
    return MutantRow(
        part=name,
        mutants=len(found),
        rejected=sum(kinds[kind] for kind in REJECTED),
        named=kinds["named"],
        worded=kinds["property"],
        values=kinds["values"],
        crashed=kinds["crashed"],
        survivors=kinds["survivor"],
        equivalent=kinds["equivalent"],
        accepted=kinds["accepted"],
        other=kinds["message"] + kinds["looks"],
        ticked=sum(one.kind in REJECTED and one.ticked and not one.visible for one in found),
        refused=sum(one.kind not in REJECTED and bool(one.visible) for one in found),
        seconds=round(sum(outcome.seconds for outcome in found), 1),
    )


def total(every: Sequence[MutantRow]) -> MutantRow:
    sums = {one.name: sum(getattr(row, one.name) for row in every) for one in fields(MutantRow)[1:]}
    return MutantRow("all", **sums)


_TOTAL = re.compile(r"^\| all \|(.*)\|$", re.MULTILINE)
_HEAD = """# What the checks reject

A mutant is a solution with one small change: an axis, an operator, a
constant, a name, a dropped term, a skipped layer. The hidden tests graded each. It is rejected where an exercise took
points: *by name* where feedback names a known mistake, *in words* where it says what is wrong. What no exercise
rejected was compared with the solution on freshly drawn cases and on variations of the recorded calls (other lengths,
precision, larger and smaller numbers, training, gradients): it is *equivalent* where nothing differed. Some are
*accepted* by the exercise's author, with a reason. The last two columns compare the visible check of the same cell:
*rejected with ✓* where it prints a ✓ and grading takes points, *full points with ✗* where it refuses what is accepted.
"""


def page(found: "Sequence[tuple[Assignment, Survey]]", before: str = "") -> str:
    """The page with a section on each of these assignments; ``before``: the page whose other sections are kept."""
    sections = _sections(before) | {assignment.name: _section(assignment, one) for assignment, one in found}
    return _HEAD + _in_all(list(sections.values())) + "".join(sections[name] for name in sorted(sections))


def _sections(text: str) -> dict[str, str]:
    """Assignment -> its section of a page."""
    return {part.split("\n", 1)[0]: f"\n## {part.rstrip()}\n" for part in text.split("\n## ")[1:]}


def _in_all(sections: Sequence[str]) -> str:
    every = [[int(number.replace(",", "")) for number in _TOTAL.findall(text)[0].split("|")[:-1]] for text in sections]
    numbers = dict(zip(COLUMNS, map(sum, zip(*every, strict=True)), strict=True))
    ended = numbers["rejected"] - numbers["crashed"]
    told = (numbers["by name"] + numbers["in words"]) / ended if ended else 1.0
    return (
        f"\nIn all {numbers['mutants']:,} mutants: {numbers['rejected']:,} rejected, {numbers['survivors']} survivors. "
        f"Of the rejected ones that ran to their end, {100 * told:.0f} % are told what is wrong. "
        f"The visible check refuses {numbers['full points with ✗']} that get full points.\n"
    )


def _section(assignment: Assignment, found: "Survey") -> str:
    own = rows(found.chosen, found.outcomes)
    head = f"\n## {assignment.name}\n\n"
    lines = [f"| exercise | {' | '.join(COLUMNS)} | seconds |", "|---|" + "---:|" * (len(COLUMNS) + 1)]
    lines += [
        f"| {row.part} | {' | '.join(f'{number:,}' for number in row.numbers)} | {row.seconds:.0f} |"
        for row in (*own, total(own))
    ]
    return head + "\n".join(lines) + "\n" + _excused(found, "equivalent") + _excused(found, "accepted")


def _excused(found: "Survey", kind: str) -> str:
    """The equivalent ones with what was tried, or the accepted ones with the reason."""
    listed = [(one, found.outcomes[one.id]) for one in found.chosen if found.outcomes[one.id].kind == kind]
    if not listed:
        return ""
    why = "reason" if kind == "accepted" else "tried"
    title = f"\n<details><summary>{len(listed)} {kind}</summary>\n\n| mutant | change | {why} |\n|---|---|---|\n"
    cells = [f"| {one.id} | {_plain(one.description)} | {_plain(outcome.said)} |" for one, outcome in listed]
    return title + "\n".join(cells) + "\n\n</details>\n"


def _plain(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


@dataclass(frozen=True)
class Survey:
    """What became of an assignment's mutants. stale: ids that an exercise accepts and that no mutant has."""

    chosen: Sequence[Mutant]
    outcomes: dict[str, Outcome]
    stale: Sequence[str] = ()

    @property
    def survivors(self) -> list[tuple[Mutant, Outcome]]:
        return [(one, self.outcomes[one.id]) for one in self.chosen if self.outcomes[one.id].kind == "survivor"]

    @property
    def refused(self) -> list[tuple[Mutant, Outcome]]:
        """Those that a visible check refuses though they get full points."""
        found = [(one, self.outcomes[one.id]) for one in self.chosen]
        return [(one, outcome) for one, outcome in found if outcome.kind not in REJECTED and outcome.visible]


def survey(
    course: Course, assignment: Assignment, exercise: str, most: int, seed: int, workers: int, progress: Progress
) -> Survey:
    """Try the mutants of an assignment, or of one of its exercises; at most ``most`` of them (0: all).

    Raises GradingError for an exercise that does not exist or has no solution in Python.
    """
    found = parts(assignment, exercise)
    if not found:
        known = sorted({name for part in parts(assignment) for name in part.exercises})
        raise GradingError(
            f"{assignment.name} has no autograded exercise {exercise!r}; those with a solution to change are "
            f"{', '.join(known) or 'none'}"
        )
    every = [mutant for part in found for mutant in mutants(part)]
    chosen = sample(every, most, seed) if most else every
    first = tried(course, assignment, chosen, workers, progress)
    left = [mutant for mutant in chosen if first[mutant.id].kind == "passed"]
    compared = compared_with_solution(course, assignment, left, workers, progress)
    outcomes = first | {name: replace(one, visible=first[name].visible) for name, one in compared.items()}
    reasons = {part: accepted(assignment, part) for part in found}
    for mutant in chosen:
        reason = reasons[mutant.part].get(mutant.id) or reasons[mutant.part].get(mutant.operator)
        if reason and outcomes[mutant.id].kind == "survivor":
            outcomes[mutant.id] = replace(outcomes[mutant.id], kind="accepted", said=reason)
    used = {mutant.id for mutant in every} | {mutant.operator for mutant in every}
    return Survey(chosen, outcomes, sorted({name for own in reasons.values() for name in own} - used))


def accepted(assignment: Assignment, part: SolutionPart) -> dict[str, str]:
    """id or operator -> reason, of the mutants that the authors of the part's exercises accept."""
    found: dict[str, str] = {}
    for name in part.exercises:
        found |= loader.accepted_mutants(assignment.references.folder, f"{assignment.name}/{name}")
    return found

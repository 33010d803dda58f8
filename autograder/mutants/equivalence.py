"""What no graded cell rejected is compared with the solution outside these cells: equivalent, or a survivor."""

import ast
import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
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
from autograder.mutants.generate import Mutant, SolutionPart
from autograder.mutants.run import KeptOutcomes, Outcome, Progress
from autograder.references.draw import draw
from autograder.references.stored_files import inputs_among, lay_out
from autograder.references.write import files_of

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
        "classes": _classes(part),
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
    """The names that the part binds at its top level."""
    first, last = part.lines
    found = []
    for node in tree_of(part.text).body:
        if first <= node.lineno <= last:
            found += [node.name] if isinstance(node, ast.ClassDef | ast.FunctionDef) else []
            found += [one.id for one in ast.walk(node) if isinstance(node, ast.Assign) and _is_stored(one)]  # type: ignore[attr-defined]
    return found


def _is_stored(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def _classes(part: SolutionPart) -> list[str]:
    return [node.name for node in tree_of(part.text).body if isinstance(node, ast.ClassDef)]


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

"""A graded submission, ready to be saved, and digests by which a changed answer is told from an unchanged one."""

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from nbformat import NotebookNode

from autograder.model import cells
from autograder.model.verdict import SubmissionVerdict


@dataclass(frozen=True)
class Graded:
    """A verdict, and the notebooks with the verdict written into them, ready to be saved.

    ``answers``: per notebook what the student answered, as digests; None where nobody could read it.
    ``slowest`` is what the slowest part of a cell took, in seconds; ``cut`` is true where a limit ended one.
    ``ran``: the notebooks that were run for this verdict; the others were judged by an earlier run.
    ``hurried``: whether a test that measures time did not hold, which may be the machine's fault.
    """

    verdict: SubmissionVerdict
    notebooks: Mapping[str, NotebookNode]
    log: tuple[str, ...]
    slowest: float = 0.0
    cut: bool = False
    answers: "Mapping[str, Digests] | None" = None
    ran: tuple[str, ...] = ()
    hurried: bool = False


#: Grade id to digest.
Digests = Mapping[str, str]


def answer_digests(notebook: NotebookNode, files: Mapping[str, bytes], waiting: Collection[str] = ()) -> dict[str, str]:
    """A digest for every answer and every graded cell of a rebuilt notebook.

    A written answer is its own text, with the pictures in it. What a person sees of code depends on the code that ran
    before it and on the student's ``files``, so both are part of it; the answer to a task is everything that the
    student added, and so is an answer that stands outside of its cell (``waiting``: the grade ids of these).
    """
    ran = hashlib.sha256()
    for file, data in sorted(files.items()):
        ran.update(file.encode("utf-8", "replace") + b"\0" + hashlib.sha256(data).digest())
    found: dict[str, str] = {}
    for cell in notebook.cells:
        name = cells.grade_id(cell)
        text = cell.source.strip().encode("utf-8", "replace")
        if cell.get("attachments"):
            text += b"\0" + json.dumps(cell.attachments, sort_keys=True).encode()
        added = not name and cell.get("id", "").startswith("extra-")
        if cell.cell_type == "code" and (added or cells.is_solution(cell)):
            ran.update(hashlib.sha256(text).digest())
        elif added:
            ran.update(b"text" + hashlib.sha256(text).digest())
        if name and cells.is_graded(cell) and cell.cell_type == "code":
            found[name] = ran.hexdigest()
        elif name and cells.is_solution(cell):
            found[name] = hashlib.sha256(text).hexdigest()
    tasks = [cells.grade_id(cell) or "" for cell in notebook.cells if cells.is_task(cell)]
    return found | dict.fromkeys((*tasks, *waiting), ran.hexdigest())

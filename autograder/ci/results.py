"""``results.json`` as Gradescope's autograders write it.

Source: "Autograder Specifications", https://gradescope-autograders.readthedocs.io/en/latest/specs/ (also docs/specs.md
in the repository gradescope/autograder_samples): ``score`` at the top overrides the sum of the tests and lets a test
go without one; ``visibility`` is one of hidden, after_due_date, after_published, visible; while a test is held back,
students do not see their total either. Without a score and without tests Gradescope reports that the autograder
failed, which is what a failure of the grader must look like: no score, never a 0.
"""

from __future__ import annotations

import json
from typing import Any

from autograder.ci.outcome import Disclosure, ExerciseOutcome, SubmissionOutcome
from autograder.feedback.words import readable


def results_json(outcome: SubmissionOutcome, disclosure: Disclosure) -> str:
    """The file's text. ``disclosure`` becomes the visibility of everything that hidden tests decide."""
    results: dict[str, Any] = {"stdout_visibility": "hidden"}
    if about := _about(outcome, disclosure):
        results["output"] = about
    if not outcome.failure:
        results["score"] = outcome.points
        results["tests"] = [
            test
            for number, notebook in enumerate(outcome.notebooks, 1)
            for place, exercise in enumerate(notebook.exercises, 1)
            for test in _tests(f"{number}.{place}", readable(notebook.name), exercise, disclosure)
        ]
    return json.dumps(results, indent=1, ensure_ascii=False) + "\n"


def _about(outcome: SubmissionOutcome, disclosure: Disclosure) -> str:
    if outcome.failure:
        return f"Not graded: {outcome.failure}."
    lines = [note for notebook in outcome.notebooks for note in notebook.notes]
    if outcome.waiting:
        lines.append(f"Up to {outcome.waiting:g} more points are given by a person who reads the written answers.")
    if disclosure is not Disclosure.NOW:
        lines.append("Hidden tests decide over the points; their results are shown later.")
    return "\n".join(lines)


def _tests(number: str, notebook: str, exercise: ExerciseOutcome, disclosure: Disclosure) -> list[dict[str, Any]]:
    name = f"{notebook}: {readable(exercise.cell)}"
    if exercise.points is None:  # a person decides: in Gradescope that is a question of its own, not this test's score
        return [{"number": number, "name": name, "output": exercise.text, "visibility": "visible"}]
    decided_by_hidden_tests = exercise.visible is not None
    test = {
        "number": number,
        "name": name,
        "score": exercise.points,
        "max_score": exercise.max_points,
        "status": "passed" if exercise.status == "passed" else "failed",
        "output": exercise.text,
        "visibility": disclosure.value if decided_by_hidden_tests else "visible",
    }
    if exercise.visible is None or disclosure is Disclosure.NOW:
        return [test]
    seen = {"number": f"{number}.0", "name": f"{name} (visible check)", "visibility": "visible"}
    seen["output"] = exercise.visible.text or "The visible check said nothing; run it yourself."
    if exercise.visible.status != "silent":
        seen["status"] = exercise.visible.status
    return [seen, test]

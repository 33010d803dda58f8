"""What a hidden cell imports: stored inputs in, answers out.

A kernel with student code holds this module and, of the rest of ``autograder``, what starts and confines it and
its line to the grader: ``errors``, ``exercise``, ``files``, ``isolation``, ``kernel``, ``remote``, ``tester``. None of
these knows an expected value, a verdict or where either is kept. Where ``AUTOGRADER_ANSWERS`` names a folder (a grading
run), :meth:`StoredCase.compare` writes the answers there as safetensors for the judge. Elsewhere (the
instructor's own Jupyter) it asks the judge on the spot and raises ``AssertionError``.
"""

import json
import os
from collections.abc import Collection, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from safetensors.numpy import load, save

from autograder.exercise import case_inputs
from autograder.exercise.values import READY_MADE, text_array
from autograder.kernel.ready_made import ReadyMade


class StoredCase(case_inputs.CaseInputs):
    """One stored input of an exercise, whose answers go to the judge, and with them which ready-made parts ran."""

    _ran: Collection[str] = ()

    def compare(self, **answers: Any) -> None:
        super().compare(**answers)
        if self._ran:
            self._answers[READY_MADE] = text_array(sorted(self._ran))
        folder = os.environ.get("AUTOGRADER_ANSWERS")
        if folder:
            target = Path(folder, self.slug, f"{self.index}.safetensors")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(save(self._answers))
        else:
            judge = _of_the_instructor("autograder.pipeline.judge")
            judge.compare_on_the_spot(_stored(self.slug), self.slug, self.index, self._answers)


def reference(slug: str) -> Iterator[StoredCase]:
    """The stored cases of an exercise, say ``distilbert/attention_block``, one after the other."""
    files = _inputs(slug)
    about, arrays = json.loads(files["inputs.json"]), load(files["inputs.safetensors"])
    with ReadyMade(os.environ.get("AUTOGRADER_READY_MADE", "").split()) as noted:
        for index, case in enumerate(about["cases"]):
            prefix, sizes, texts = f"{index}/", case["config"], case["texts"]
            own = {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
            stored = StoredCase(slug, index, about["framework"], sizes, texts, own, about.get("call", ()))
            stored._ran = noted.ran
            yield stored


def _inputs(slug: str) -> Mapping[str, bytes]:
    """The files with the stored inputs, by their names."""
    if folder := os.environ.get("AUTOGRADER_INPUTS"):
        return {path.name: path.read_bytes() for path in Path(folder, slug).iterdir()}
    inputs: Mapping[str, bytes] = (
        _of_the_instructor("autograder.references.store").References(_stored(slug)).inputs(slug)
    )
    return inputs


def _of_the_instructor(module: str) -> Any:
    """A module that only the instructor's own Jupyter needs. Named by a text: it is no part of what kernels run, by
    which the runs of a class are told apart.
    """
    return import_module(module)


def _stored(slug: str) -> Path:
    """The folder ``exercises/`` of the course in whose folder, or below, the instructor's Jupyter works."""
    here, assignment = Path.cwd(), slug.partition("/")[0]
    for folder in (here, *here.parents):
        if (folder / "exercises" / assignment / "manifest.json").is_file():
            return folder / "exercises"
    raise FileNotFoundError(
        f"{slug} has no stored reference in {here} or a folder above it: expected exercises/{assignment}/ in the "
        f"course's folder, with what 'autograder references {assignment}' makes"
    )

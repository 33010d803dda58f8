"""What a hidden cell imports: stored inputs in, answers out.

A kernel with student code holds this module and, of the rest of ``autograder``, what starts and confines it and
its line to the grader: ``errors``, ``exercise``, ``files``, ``isolation``, ``kernel``, ``remote``, ``tester``. None of
these knows an expected value, a verdict or where either is kept. Where ``AUTOGRADER_ANSWERS`` names a folder (a grading
run), :meth:`StoredCase.compare` writes the answers there as safetensors for the judge. Elsewhere (the
instructor's own Jupyter) it asks the judge on the spot and raises ``AssertionError``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from safetensors.numpy import load_file, save

from autograder.exercise import case_inputs


class StoredCase(case_inputs.CaseInputs):
    """One stored input of an exercise, whose answers go to the judge."""

    def compare(self, **answers: Any) -> None:
        super().compare(**answers)
        folder = os.environ.get("AUTOGRADER_ANSWERS")
        if folder:
            target = Path(folder, self.slug, f"{self.index}.safetensors")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(save(self._answers))
        else:
            from autograder.pipeline.judge import compare_on_the_spot

            compare_on_the_spot(_stored(self.slug), self.slug, self.index, self._answers)


def reference(slug: str) -> Iterator[StoredCase]:
    """The stored cases of an exercise, say ``distilbert/attention_block``, one after the other."""
    folder = os.environ.get("AUTOGRADER_INPUTS")
    inputs = Path(folder, slug) if folder else _stored(slug) / slug / "inputs"
    about = json.loads((inputs / "inputs.json").read_text(encoding="utf-8"))
    arrays = load_file(inputs / "inputs.safetensors")
    for index, case in enumerate(about["cases"]):
        prefix = f"{index}/"
        own = {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
        yield StoredCase(slug, index, about["framework"], case["config"], case["texts"], own)


def _stored(slug: str) -> Path:
    """The folder ``exercises/`` of the course in whose folder, or below, the instructor's Jupyter works."""
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / "exercises" / slug / "inputs").is_dir():
            return folder / "exercises"
    raise FileNotFoundError(
        f"{slug} has no stored reference in {here} or a folder above it: expected exercises/{slug}/ in the course's "
        f"folder, made by 'autograder references {slug.partition('/')[0]}'"
    )

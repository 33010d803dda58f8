"""``tests/test_models.py``, which comes with the release: it accepts the solution and rejects stubs and mistakes."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.grading import ROOT
from tests.mistakes import encoder_lab_classes, encoder_lab_stacks
from tests.mistakes.encoder_lab_answer import Answer, models_file, solution_file, stub_file

pytestmark = pytest.mark.slow

CAUGHT = {
    "head_attention: no scaling",
    "head_attention: softmax over the queries",
    "multi_head_init: a plain list",
    "multi_head_attention: stacked in front and reshaped",
    "feed_forward: no activation",
    "embeddings: counted along the batch",
    "encoder_layer: post-LN",
    "encoder_layer: no first skip",
    "encoder: one layer many times",
    "encoder: in reverse order",
    "classification_head: no dropout",
    "classifier: all tokens",
}
WRONG = [a for a in (*encoder_lab_classes.WRONG, *encoder_lab_stacks.WRONG) if str(a) in CAUGHT]


def run_students_tests(models: str, folder: Path) -> dict[str, int]:
    """How many tests passed, failed, …, run as the notebook says: ``python -m pytest tests`` in its folder."""
    shutil.copytree(ROOT / "source" / "encoder_lab" / "tests", folder / "tests", ignore=shutil.ignore_patterns("__py*"))
    (folder / "models.py").write_text(models, encoding="utf-8")
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "tests"], cwd=folder, capture_output=True, text=True)
    return {word: int(count) for count, word in re.findall(r"(\d+) (passed|failed|error)", done.stdout)}


def test_the_solution_passes_all_of_them(tmp_path: Path) -> None:
    assert run_students_tests(solution_file(), tmp_path) == {"passed": 30}


def test_the_untouched_file_passes_none(tmp_path: Path) -> None:
    assert run_students_tests(stub_file(), tmp_path) == {"failed": 30}


@pytest.mark.parametrize("answer", WRONG, ids=str)
def test_a_mistake_fails_some_and_leaves_others(answer: Answer, tmp_path: Path) -> None:
    counts = run_students_tests(models_file(answer.code), tmp_path)
    assert counts.get("failed", 0) >= 1 and counts.get("passed", 0) >= 10


def test_every_mistake_of_this_list_exists() -> None:
    assert len(WRONG) == len(CAUGHT)

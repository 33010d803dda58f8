"""The training notebook's own run: repeatable, short, and better than chance can be."""

from __future__ import annotations

import contextlib
import io
import tempfile
import time
from pathlib import Path

import pytest
import torch

from tests.grading import REFERENCES, assignment, without_markers

CELLS = (
    "imports", "seed-and-device", "earlier", "transformer-answer", "data-load", "grading-guard", "data-batches",
    "sizes", "measure", "train", "model", "run-training",
)  # fmt: skip


def trained(monkeypatch: pytest.MonkeyPatch, **environment: str) -> dict[str, list[float]]:
    monkeypatch.delenv("AUTOGRADER_INPUTS", raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    texts = {
        cell.id: without_markers(cell.source) for cell in assignment("transformer_tutorial").source["3_training"].cells
    }
    space: dict[str, object] = {"__name__": "__main__"}
    silent = contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO())
    with tempfile.TemporaryDirectory() as folder, silent[0], silent[1]:
        Path(folder, "exercises").symlink_to(REFERENCES.folder)
        monkeypatch.chdir(folder)  # empty: earlier parts are the ready-made ones
        for cell in CELLS:
            exec(texts[cell], space)
        monkeypatch.undo()
    history = space["history"]
    assert isinstance(history, dict)
    return history


@pytest.mark.slow
def test_training_takes_less_than_90_seconds_to_an_accuracy_that_guessing_cannot_reach(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    start = time.process_time()
    history = trained(monkeypatch)
    assert time.process_time() - start < 90  # of one core
    standard_deviation = (0.5 * 0.5 / 1000) ** 0.5
    assert history["test_accuracy"][-1] > 0.5 + 8 * standard_deviation
    assert history["train_loss"] == sorted(history["train_loss"], reverse=True)


def test_where_it_is_graded_a_few_steps_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    start = time.process_time()
    history = trained(monkeypatch, AUTOGRADER_INPUTS="/nowhere")
    assert (len(history["test_loss"]), time.process_time() - start < 20) == (1, True)


def test_the_same_seed_gives_the_same_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    threads = torch.get_num_threads()
    first, second = (trained(monkeypatch, AUTOGRADER_INPUTS="/nowhere") for _ in range(2))
    torch.set_num_threads(threads)
    assert first == second

"""The training notebook's own run: repeatable, short, and better than chance can be."""

import contextlib
import io
import math
import tempfile
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.grading import REFERENCES, assignment, without_markers

CELLS = (
    "imports", "seed-and-device", "earlier", "transformer-answer", "data-load", "grading-guard", "data-batches",
    "sizes", "measure", "train", "model", "run-training",
)  # fmt: skip


def trained(monkeypatch: pytest.MonkeyPatch, epochs: int = 0, **environment: str) -> dict[str, Any]:
    """The notebook's names behind its training. epochs: so many in place of the notebook's own number."""
    monkeypatch.delenv("AUTOGRADER_INPUTS", raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    texts = {
        cell.id: without_markers(cell.source) for cell in assignment("transformer_tutorial").source["3_training"].cells
    }
    space: dict[str, Any] = {"__name__": "__main__"}
    silent = contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO())
    threads = torch.get_num_threads()
    with tempfile.TemporaryDirectory() as folder, silent[0], silent[1]:
        Path(folder, "exercises").symlink_to(REFERENCES.folder)
        monkeypatch.chdir(folder)  # empty: earlier parts are the ready-made ones
        for cell in CELLS:
            exec(texts[cell], space)
            if cell == "grading-guard":
                space["EPOCHS of the notebook"] = space["EPOCHS"]
                space["EPOCHS"] = epochs or space["EPOCHS"]
        monkeypatch.undo()
    torch.set_num_threads(threads)
    return space


@pytest.mark.slow
def test_one_epoch_of_three_reaches_an_accuracy_that_guessing_cannot(monkeypatch: pytest.MonkeyPatch) -> None:
    space = trained(monkeypatch, epochs=1)
    assert space["EPOCHS of the notebook"] == 3
    history, standard_deviation = space["history"], (0.5 * 0.5 / 1000) ** 0.5
    assert history["test_accuracy"][-1] > 0.5 + 8 * standard_deviation
    assert history["train_loss"][-1] < math.log(2)  # what knows nothing loses
    assert len(space["train_batches"]) <= 250  # steps of the optimizer: all three epochs stay short on one core


def test_where_it_is_graded_a_few_steps_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    space = trained(monkeypatch, AUTOGRADER_INPUTS="/nowhere")
    assert (len(space["history"]["test_loss"]), len(space["train_batches"])) == (1, 4)


def test_the_same_seed_gives_the_same_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = (trained(monkeypatch, AUTOGRADER_INPUTS="/nowhere")["history"] for _ in range(2))
    assert first == second

"""Models that note how they are called, for the exercises that train: no numbers of these show the mode."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from course.distillation import SentenceClassifier


class Measured(nn.Module):
    """Stands in for model and optimiser of ``fit``: its answers are stored, epoch by epoch.

    right: (epochs, sentences) whether it answers rightly after this epoch. tested: sizes of the test batches.
    """

    def __init__(self, right: Tensor, labels: Tensor, tested: Sequence[int]) -> None:
        super().__init__()
        self.right, self.labels, self.tested = right, labels, tested
        self.steps, self.per_epoch = 0, 1
        self.flags = {"mode": False, "eval_mode": False, "gradients": False}
        self.train(False)

    def step_of(self, losses: Tensor) -> Callable[..., float]:
        """A step that gives the stored losses (epochs, batches), one after the other."""
        self.per_epoch = losses.shape[1]

        def step(model: Any, optimizer: Any, inputs: Tensor, labels: Tensor) -> float:
            self.flags["mode"] |= not self.training
            loss = losses[min(self.steps // self.per_epoch, len(losses) - 1), int(inputs[0, 0])]
            self.steps += 1
            return float(loss)

        return step

    def forward(self, inputs: Tensor) -> Tensor:
        self.flags["eval_mode"] |= self.training
        self.flags["gradients"] |= torch.is_grad_enabled()
        epoch = min(max(self.steps // self.per_epoch - 1, 0), len(self.right) - 1)
        places = inputs[:, 0]
        answers = torch.where(self.right[epoch, places] == 1, self.labels[places], 1 - self.labels[places])
        # the larger logit alone says which: on both sides of 0, and of every other bound
        return nn.functional.one_hot(answers, 2) + 3 * torch.sin(1.0 + 2 * places)[:, None]

    def noted(self) -> dict[str, Any]:
        return {"steps": self.steps, **self.flags}


class Linear(nn.Linear):
    """A linear model that notes whether it is called in eval mode."""

    in_eval = False

    def forward(self, inputs: Tensor) -> Tensor:
        self.in_eval |= not self.training
        return super().forward(inputs)


class Table(nn.Module):
    """A word's vector is a row of a table; logits are read off the mean of a sentence's vectors, padding included."""

    def __init__(self, table: Tensor, head: Tensor) -> None:
        super().__init__()
        self.table, self.head = nn.Parameter(table.clone()), nn.Parameter(head.clone())
        self.was_training = False

    def forward(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        self.was_training |= self.training
        vectors = self.table[ids]  # (batch, tokens, dim)
        return vectors.mean(dim=1) @ self.head.T, vectors


#: Losses in which nothing can be swapped: soft(student, teacher) and hidden(student, teacher, real).
loss_by_hand = (
    lambda logits, wanted: (logits * logits - logits * wanted).mean(),
    lambda vectors, targets, real: (vectors * vectors - vectors * targets)[real].mean(),
)


def state_of(model: SentenceClassifier) -> dict[str, float]:
    """Enough to tell whether a model is still the one it was."""
    sums = {name: float(weight.double().abs().sum()) for name, weight in model.named_parameters()}
    return {"depth": len(model.layers), **sums}

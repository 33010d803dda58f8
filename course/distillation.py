"""What the notebooks of ``distilbert_lab`` train and take apart: ``mini`` as a list of layers, and its measurements.

The layers are those of ``transformers``; the loop over them stands here so that layers can be left out.
"""

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from course import pretrained
from course.parts import ReadyClassifier
from course.reviews import Batches

STORED = Path(__file__).parent / "data" / "distilbert_lab"


class SentenceClassifier(nn.Module):
    """Token ids (batch, tokens), padded with 0 -> logits (batch, 2), and the last layer's vectors (batch, tokens, dim).

    ``layers`` is a ModuleList: any choice of layers, in any order, is a model.
    """

    def __init__(self, config: Any, ready: Any = None) -> None:
        super().__init__()
        model = (ready or ReadyClassifier(config)).wrapped
        self.config = config
        self.embeddings: nn.Module = model.distilbert.embeddings
        self.layers = nn.ModuleList(model.distilbert.transformer.layer)
        self.pre_classifier, self.classifier = model.pre_classifier, model.classifier

    def forward(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        hidden = self.hidden_states(ids)[-1]  # (batch, tokens, dim)
        return self.classifier(self.pre_classifier(hidden[:, 0]).relu()), hidden

    def hidden_states(self, ids: Tensor) -> list[Tensor]:
        """The vectors after the embedding and after each layer, each (batch, tokens, dim)"""
        padding = torch.zeros(ids.shape).masked_fill(ids == 0, float("-inf"))[:, None, None]  # added to the scores
        states = [self.embeddings(ids)]
        for layer in self.layers:
            states.append(layer(states[-1], padding))
        return states


def teacher() -> SentenceClassifier:
    """``mini``: six layers, trained on film reviews, in eval mode."""
    ready = pretrained.load(ReadyClassifier, "mini")
    return SentenceClassifier(ready.config, ready).eval()


@dataclass(frozen=True)
class Measured:
    """What a model gives for sentences in a fixed order."""

    answers: Tensor  # (sentences,) the class with the larger logit
    accuracy: float
    seconds: float  # processor time
    megabytes: float  # of the parameters


@torch.no_grad()
def measure(model: SentenceClassifier, batches: Batches) -> Measured:
    """Accuracy and processor time on the batches, in eval mode."""
    model.eval()
    started = time.process_time()
    pairs = [(model(ids)[0].argmax(dim=-1), labels) for ids, labels in batches.epoch()]
    seconds = time.process_time() - started
    answers, labels = torch.cat([one for one, _ in pairs]), torch.cat([labels for _, labels in pairs])
    size = sum(weight.numel() * weight.element_size() for weight in model.parameters()) / 1e6
    return Measured(answers, float((answers == labels).float().mean()), seconds, size)


def stored(name: str) -> Any:
    """A table of ``data/distilbert_lab``; its README says which script measured it."""
    return json.loads((STORED / f"{name}.json").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Run:
    """One stored model. ``in_int8``: its answers with matrices of whole numbers, where they were asked for."""

    answers: Tensor  # (reviews,) 0 or 1
    in_int8: Tensor | None
    seconds: float  # processor time
    megabytes: float  # of the parameters


def distilled() -> tuple[Tensor, dict[str, list[Run]]]:
    """The test reviews' labels (reviews,), and the runs of each way to make a small model."""

    def classes(digits: str) -> Tensor:
        return torch.tensor([int(bit) for byte in bytes.fromhex(digits) for bit in f"{byte:08b}"])

    def run(kept: dict[str, Any]) -> Run:
        in_int8 = classes(kept["int8 answers"]) if "int8 answers" in kept else None
        return Run(classes(kept["answers"]), in_int8, kept["seconds"], kept["megabytes"])

    table = stored("distilled")
    return classes(table["labels"]), {name: list(map(run, runs)) for name, runs in table["rows"].items()}

"""Fine-tuning with few labels: random weights against pretrained ones, a frozen body against everything trained.

The pretrained body is ``checkpoints/minilm_small``: the first layers of MiniLM as it was published, before this course
(or anybody) trained it on film reviews. It is stored in int8; the model card there says what is left of the original.
"""

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from torch import Tensor, nn

from course.reviews import Batches, Reviews, Split

FOLDER = Path(__file__).parent / "checkpoints" / "minilm_small"
#: The sentences whose words the stored body knows; any other word is [UNK] to it.
N_TRAIN, N_TEST = 1000, 500
N_LABELS = 200
HEAD_RATE = 1e-2  # the head's learning rate: it begins at random, so its steps are larger than the body's
LONGEST = 32  # tokens: longer reviews are cut, so that the cell takes a minute
UNKNOWN = 100  # the id of [UNK]


@dataclass(frozen=True)
class Variant:
    """One way to train. ``frozen``: the head learns alone. ``epochs``: how often each label is seen"""

    name: str
    pretrained: bool
    frozen: bool
    epochs: int
    body_rate: float = 0.0  # the body's learning rate


VARIANTS = (
    Variant("random, frozen", False, True, 100),
    Variant("random, all trained", False, False, 5, 1e-3),
    Variant("pretrained, frozen", True, True, 100),
    Variant("pretrained, all trained", True, False, 5, 1e-4),
)


def make_body(pretrained: bool, seed: int = 0) -> nn.Module:
    """The encoder, with random or with pretrained weights: same sizes, same vocabulary."""
    from transformers import DistilBertConfig, DistilBertModel  # takes seconds to import

    torch.manual_seed(seed)
    make: Any = DistilBertConfig
    body: nn.Module = DistilBertModel(make(**json.loads((FOLDER / "config.json").read_text(encoding="utf-8"))))
    if pretrained:
        body.load_state_dict(stored_state())
    return body


def stored_state(folder: Path = FOLDER) -> dict[str, Tensor]:
    """The stored tensors in float32: a matrix is int8, times one number for each of its rows."""
    stored = load_file(folder / "model.safetensors")
    scales = {name.removesuffix(".scale"): stored.pop(name) for name in list(stored) if name.endswith(".scale")}
    del stored["token_ids"]
    return {
        name: tensor.float() * scales[name].float()[:, None] if name in scales else tensor.float()
        for name, tensor in stored.items()
    }


def encoded(reviews: Reviews, size: int, seed: int | None = None) -> Batches:
    return Batches.of(reviews, size, seed, max_tokens=LONGEST)


def renamed(batches: Batches, folder: Path = FOLDER) -> Batches:
    """The same sentences with the ids of the stored vocabulary, which has only some of the tokenizer's entries."""
    known = {token: row for row, token in enumerate(load_file(folder / "model.safetensors")["token_ids"].tolist())}
    rows = [[known.get(token, known[UNKNOWN]) for token in ids] for ids in batches.ids]
    return Batches(rows, batches.labels, batches.size, batches.seed)


class Classifier(nn.Module):
    """Token ids (batch, tokens) -> logits (batch, 2): a body, the mean of its vectors, one linear layer."""

    def __init__(self, body: nn.Module) -> None:
        super().__init__()
        self.body = body
        self.head = nn.Linear(384, 2)

    def vectors(self, ids: Tensor) -> Tensor:
        """One vector for each sentence (batch, dim): the mean over the tokens that are no padding"""
        real = (ids != 0).float()
        hidden = self.body(input_ids=ids, attention_mask=real).last_hidden_state
        return torch.einsum("btd,bt->bd", hidden, real / real.sum(1, keepdim=True))

    def forward(self, ids: Tensor) -> Tensor:
        logits: Tensor = self.head(self.vectors(ids))
        return logits


def draw(reviews: Reviews, count: int, seed: int) -> Reviews:
    """``count`` of the reviews, as many of each label."""
    generator, places = random.Random(seed), []
    for label in range(reviews.n_classes):
        there = [place for place, one in enumerate(reviews.labels) if one == label]
        places += generator.sample(there, count // reviews.n_classes)
    return Reviews([reviews.texts[i] for i in places], [reviews.labels[i] for i in places], reviews.names)


def first(reviews: Reviews, count: int) -> Reviews:
    return Reviews(reviews.texts[:count], reviews.labels[:count], reviews.names)


def sentence_vectors(model: Classifier, batches: Batches) -> tuple[Tensor, Tensor]:
    """-> vectors (sentences, dim) and labels (sentences,), in the order of the batches, without dropout"""
    model.eval()
    with torch.no_grad():
        pairs = [(model.vectors(ids), labels) for ids, labels in batches.epoch()]
    return torch.cat([one for one, _ in pairs]), torch.cat([labels for _, labels in pairs])


def train_head(model: Classifier, train: Batches, variant: Variant) -> None:
    """The body stays as it is, so each sentence goes through it once; then all vectors are learned from at once."""
    vectors, labels = sentence_vectors(model, train)
    optimizer = torch.optim.AdamW(model.head.parameters(), lr=HEAD_RATE)
    for _ in range(variant.epochs):
        loss = F.cross_entropy(model.head(vectors), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def train_all(model: Classifier, train: Batches, variant: Variant) -> None:
    """Body and head are trained together, batch by batch; the steps become smaller towards the end."""
    groups: list[dict[str, Any]] = [
        {"params": model.body.parameters(), "lr": variant.body_rate},
        {"params": model.head.parameters()},
    ]
    optimizer = torch.optim.AdamW(groups, lr=HEAD_RATE)
    total = variant.epochs * len(train)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 - step / (total + 1))
    model.train()
    for number in range(variant.epochs):
        for ids, labels in train.epoch(number):
            loss = F.cross_entropy(model(ids), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()


def accuracy(variant: Variant, train: Batches, test: Batches, seed: int) -> float:
    """Train in one way; the share of test sentences that the classifier gets right."""
    model = Classifier(make_body(variant.pretrained, seed))
    (train_head if variant.frozen else train_all)(model, train, variant)
    vectors, labels = sentence_vectors(model, test)
    with torch.no_grad():
        return float((model.head(vectors).argmax(1) == labels).float().mean())


def table(
    split: Split,
    seeds: Sequence[int],
    variants: Sequence[Variant] = VARIANTS,
    count: int = N_LABELS,
    tested: int = N_TEST,
) -> str:
    """A line for each variant: accuracies in %, the mean over several draws of labelled reviews and each of them.

    count: labels in a draw; tested: on how many sentences.
    """
    known = first(split.train, N_TRAIN)
    test = renamed(encoded(first(split.test, tested), size=50))
    lines = [f"{count} labels            accuracy in %: mean of {len(seeds)} draws, and each of them"]
    for variant in variants:
        found = []
        for seed in seeds:
            train = renamed(encoded(draw(known, count, seed), size=20, seed=seed))
            found.append(100 * accuracy(variant, train, test, seed))
        lines.append(f"{variant.name:24}{mean(found):6.1f}: {', '.join(f'{one:.1f}' for one in found)}")
    return "\n".join(lines)

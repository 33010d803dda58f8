"""What each part of a Transformer is worth: the same small model trained without it, over several seeds.

Two tasks: reviews, and made-up sentences in which only the order of the words tells the class (``negations``).
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from course.reviews import Batches, Reviews, Split

FILLERS = ("the", "film", "is", "story", "its", "end", "and", "music")
VERDICTS = ("bad", "good")
#: Words of the made-up sentences by their id; 0 is padding.
WORDS = ("", "not", *VERDICTS, *FILLERS)
SIZE = 32  # numbers in a token's vector

#: Makes a model: (k, heads, depth, seq_length, num_tokens, num_classes)
Make = Callable[[int, int, int, int, int, int], nn.Module]


@dataclass(frozen=True)
class Variant:
    """A model with some of its parts left out. ``depth`` 0: no block, so no attention and no feed-forward network"""

    name: str
    depth: int
    heads: int
    positions: bool


VARIANTS = (
    Variant("bag of words", 0, 1, False),
    Variant("depth 0, positions", 0, 1, True),
    Variant("depth 1, no positions", 1, 4, False),
    Variant("depth 1, 1 head", 1, 1, True),
    Variant("depth 1, 4 heads", 1, 4, True),
    Variant("depth 2, 4 heads", 2, 4, True),
)


@dataclass(frozen=True)
class Task:
    """Batches to learn from and to test on, with what the model must know of them."""

    name: str
    train: Batches
    test: Batches
    num_tokens: int
    epochs: int


def negations(n_train: int = 2000, n_test: int = 1000, epochs: int = 4, length: int = 8) -> Task:
    """Sentences of ``length`` words with *not* and one verdict. *not* in front of the verdict turns it round.

    Both classes hold the same words equally often: neither words nor places tell the class by themselves.
    """
    generator = random.Random(0)
    ids, labels = [], []
    for _ in range(n_train + n_test):
        row = [WORDS.index(generator.choice(FILLERS)) for _ in range(length)]
        first, second = sorted(generator.sample(range(length), 2))
        good, turned = generator.randrange(2), generator.randrange(2)
        verdict = WORDS.index(VERDICTS[good])
        row[first], row[second] = (WORDS.index("not"), verdict) if turned else (verdict, WORDS.index("not"))
        ids.append(row)
        labels.append(good ^ turned)
    train = Batches(ids[:n_train], labels[:n_train], size=32, seed=0)
    return Task("order", train, Batches(ids[n_train:], labels[n_train:], size=200), len(WORDS), epochs)


def some_reviews(split: Split, n_train: int = 1500, epochs: int = 2) -> Task:
    """A part of the reviews. Tokens that the training part does not have become one, so that the model is small."""
    train = Batches.of(_first(split.train, n_train), size=32, seed=0, max_tokens=40)
    test = Batches.of(split.test, size=200, max_tokens=40)
    known = {token: place for place, token in enumerate(sorted({id for row in train.ids for id in row}), start=2)}
    renamed = [Batches([[known.get(id, 1) for id in row] for row in one.ids], one.labels, one.size, one.seed)
               for one in (train, test)]  # fmt: skip
    return Task("reviews", renamed[0], renamed[1], len(known) + 2, epochs)


def _first(reviews: Reviews, count: int) -> Reviews:
    return Reviews(reviews.texts[:count], reviews.labels[:count], reviews.names)


def accuracy(make: Make, variant: Variant, task: Task, seed: int) -> float:
    """Train one variant from random weights; the share of test sentences that it classifies correctly."""
    torch.manual_seed(seed)
    longest = max(task.train.longest, task.test.longest)
    model: Any = make(SIZE, variant.heads, variant.depth, longest, task.num_tokens, 2)
    nn.init.normal_(model.token_embedding.weight, std=SIZE**-0.5)
    if not variant.positions:
        model.pos_enc = nn.Identity()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    model.train()
    for number in range(task.epochs):
        for input_ids, labels in task.train.epoch(100 * seed + number):
            loss = F.nll_loss(model(input_ids), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    model.eval()
    with torch.no_grad():
        right = sum(int((model(ids).argmax(1) == labels).sum()) for ids, labels in task.test.epoch())
    return right / len(task.test.ids)


def table(make: Make, tasks: Sequence[Task], seeds: Sequence[int], variants: Sequence[Variant] = VARIANTS) -> str:
    """A line for each variant: for each task accuracies in %, the mean over the seeds and each of them."""
    lines = [f"{'':22}" + "".join(f"{task.name:<30}" for task in tasks).rstrip()]
    for variant in variants:
        cells = []
        for task in tasks:
            found = [100 * accuracy(make, variant, task, seed) for seed in seeds]
            cells.append(f"{f'{mean(found):.1f}: ' + ', '.join(f'{one:.1f}' for one in found):<30}")
        lines.append(f"{variant.name:22}" + "".join(cells).rstrip())
    return "\n".join(lines)

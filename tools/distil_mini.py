"""Distil ``mini`` into models of two and three layers, three seeds each: data/distilbert_lab/distilled.json.

One to three minutes of processor time per run; the teacher answers each review once. What is in the file already is not
trained again; names of rows as arguments train these rows alone. The seconds of all rows are measured at the end (or by
the argument "seconds"), side by side: a machine is not always equally fast. What is kept of a run are its answers to
the test reviews, bit by bit, so that models can be compared review by review.
"""

import copy
import json
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course.distillation import STORED, SentenceClassifier, measure, teacher
from course.reviews import Batches, load_reviews

SEEDS = (0, 1, 2)
REVIEWS, EPOCHS, RATE, TEMPERATURE, LONGEST = 1920, 2, 1e-4, 2.0, 64
FILE = STORED / "distilled.json"
#: A review's ids -> the teacher's logits and vectors
ANSWERED: dict[tuple[int, ...], tuple[Tensor, Tensor]] = {}


#: What is kept of one run: its answers, and what it took.
Run = dict[str, str | float]


def as_bits(classes: Tensor) -> str:
    """(reviews,) of 0 and 1 -> hexadecimal digits, four reviews each"""
    return bytes(np.packbits(classes.numpy().astype(np.uint8))).hex()


def soft_loss(student: Tensor, target: Tensor) -> Tensor:
    logs, wanted = (student / TEMPERATURE).log_softmax(-1), (target / TEMPERATURE).log_softmax(-1)
    return TEMPERATURE**2 * F.kl_div(logs, wanted, reduction="batchmean", log_target=True)


def hidden_loss(student: Tensor, target: Tensor, ids: Tensor) -> Tensor:
    return 1 - F.cosine_similarity(student, target, dim=-1)[ids != 0].mean()


def of_layers(model: SentenceClassifier, layers: tuple[int, ...], random: bool = False) -> SentenceClassifier:
    student = copy.deepcopy(model)
    student.layers = nn.ModuleList(student.layers[i] for i in layers)
    if random:
        for module in student.layers.modules():
            if isinstance(module, nn.Linear):
                module.weight.data.normal_(0, 0.02)
                module.bias.data.zero_()
    return student


def asked(model: SentenceClassifier, ids: Tensor) -> tuple[Tensor, Tensor]:
    """The teacher's logits and vectors, padded with 0; kept for the next time."""
    rows = [tuple(row[row != 0].tolist()) for row in ids]
    new = [i for i, row in enumerate(rows) if row not in ANSWERED]
    if new:
        with torch.no_grad():
            logits, states = model(ids[new])
        for i, answer, state in zip(new, logits, states, strict=True):
            ANSWERED[rows[i]] = answer, state[: len(rows[i])].clone()
    kept = [ANSWERED[row] for row in rows]
    states = nn.utils.rnn.pad_sequence([state for _, state in kept], batch_first=True)
    return torch.stack([logits for logits, _ in kept]), states


def train(student: SentenceClassifier, model: SentenceClassifier, data: Batches, epochs: int, how: str) -> None:
    optimizer = torch.optim.AdamW(student.parameters(), lr=RATE)
    total = epochs * len(data)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 - step / total)
    student.train()
    for epoch in range(epochs):
        for ids, labels in data.epoch(epoch):
            logits, hidden = student(ids)
            if how == "hard":
                loss = F.cross_entropy(logits, labels)
            else:
                wanted, states = asked(model, ids)
                loss = soft_loss(logits, wanted)
                if how == "soft + hidden":
                    loss = loss + hidden_loss(hidden, states, ids)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()


def quantised(model: SentenceClassifier) -> SentenceClassifier:
    """Every matrix as int8 and back, row by row."""
    changed = copy.deepcopy(model)
    for weight in changed.parameters():
        if weight.ndim == 2:
            scale = weight.data.abs().amax(1, keepdim=True).clamp(min=1e-12) / 127
            weight.data = (weight.data / scale).round() * scale
    return changed


def time_side_by_side(found: dict[str, Any], models: list[SentenceClassifier], test: Batches) -> None:
    """The processor time of each size of model, the median of three rounds, in all rows of this size."""
    rounds = [[measure(model, test) for model in models] for _ in range(3)]
    for seen in zip(*rounds, strict=True):
        megabytes, seconds = round(seen[0].megabytes, 1), sorted(one.seconds for one in seen)[1]
        for runs in found.values():
            for run in runs:
                if run["megabytes"] == megabytes:
                    run["seconds"] = round(seconds, 2)


def main() -> None:
    torch.set_num_threads(1)
    split, model = load_reviews(), teacher()
    test = Batches.of(split.test, size=50, max_tokens=LONGEST)
    texts, labels = split.train.texts, split.train.labels
    stored = json.loads(FILE.read_text()) if FILE.exists() else {}
    found: dict[str, Any] = stored.get("rows", {})

    def row(student: SentenceClassifier) -> Run:
        seen = measure(student, test)
        size, seconds = round(seen.megabytes, 1), round(seen.seconds, 2)
        return {"answers": as_bits(seen.answers), "seconds": seconds, "megabytes": size}

    def save() -> None:
        labels = as_bits(torch.tensor(split.test.labels))
        FILE.write_text(json.dumps({"labels": labels, "rows": found}, indent=1) + "\n")

    def keep(name: str, make: Callable[[int], Run], seeds: tuple[int, ...] = SEEDS) -> None:
        if name not in found and (not sys.argv[1:] or name in sys.argv[1:]):
            found[name] = [make(seed) for seed in seeds]
            save()
        for one in found.get(name, []):
            print(name, one, flush=True)

    def trained(layers: tuple[int, ...], how: str, random: bool = False, count: int = REVIEWS, epochs: int = EPOCHS,
                in_int8: bool = False) -> Callable[[int], Run]:  # fmt: skip
        def make(seed: int) -> Run:
            torch.manual_seed(seed)
            started = time.process_time()
            chosen = torch.randperm(len(texts))[:count].tolist()
            few = type(split.train)([texts[i] for i in chosen], [labels[i] for i in chosen])
            data = Batches.of(few, size=32, seed=seed, max_tokens=LONGEST)
            student = of_layers(model, layers, random)
            train(student, model, data, epochs, how)
            spent = round(time.process_time() - started, 1)
            measured = {**row(student), "training": spent}
            if in_int8:
                measured["int8 answers"] = row(quantised(student))["answers"]
            return measured

        return make

    keep("teacher, 6 layers", lambda seed: row(model), (0,))
    keep("layers 0, 3, untrained", lambda seed: row(of_layers(model, (0, 3))), (0,))
    keep("layers 0, 3: soft", trained((0, 3), "soft", in_int8=True))
    keep("layers 0, 3: soft + hidden", trained((0, 3), "soft + hidden"))
    keep("layers 0, 3: hard labels", trained((0, 3), "hard"))
    keep("layers 0, 3: hard, 200 labels", trained((0, 3), "hard", count=200, epochs=17))
    keep("layers 1, 3, 5: soft", trained((1, 3, 5), "soft"))
    if not sys.argv[1:] or "seconds" in sys.argv[1:]:
        time_side_by_side(found, [model, of_layers(model, (0, 3)), of_layers(model, (1, 3, 5))], test)
        save()


if __name__ == "__main__":
    main()

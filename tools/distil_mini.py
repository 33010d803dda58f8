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
#: A review's ids -> the teacher's logits
ANSWERED: dict[tuple[int, ...], Tensor] = {}


#: What is kept of one run: its answers, and what it took.
Run = dict[str, str | float]


def as_bits(classes: Tensor) -> str:
    """(reviews,) of 0 and 1 -> hexadecimal digits, four reviews each"""
    return bytes(np.packbits(classes.numpy().astype(np.uint8))).hex()


def soft_loss(student: Tensor, target: Tensor) -> Tensor:
    logs, wanted = (student / TEMPERATURE).log_softmax(-1), (target / TEMPERATURE).log_softmax(-1)
    return TEMPERATURE**2 * F.kl_div(logs, wanted, reduction="batchmean", log_target=True)


def of_layers(model: SentenceClassifier, layers: tuple[int, ...]) -> SentenceClassifier:
    student = copy.deepcopy(model)
    student.layers = nn.ModuleList(student.layers[i] for i in layers)
    return student


def asked(model: SentenceClassifier, ids: Tensor) -> Tensor:
    """The teacher's logits; kept for the next time."""
    rows = [tuple(row[row != 0].tolist()) for row in ids]
    new = [i for i, row in enumerate(rows) if row not in ANSWERED]
    if new:
        with torch.no_grad():
            logits, _ = model(ids[new])
        ANSWERED.update({rows[i]: answer for i, answer in zip(new, logits, strict=True)})
    return torch.stack([ANSWERED[row] for row in rows])


def train(student: SentenceClassifier, model: SentenceClassifier, data: Batches, how: str) -> None:
    optimizer = torch.optim.AdamW(student.parameters(), lr=RATE)
    total = EPOCHS * len(data)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 - step / total)
    student.train()
    for epoch in range(EPOCHS):
        for ids, labels in data.epoch(epoch):
            logits, _ = student(ids)
            loss = F.cross_entropy(logits, labels) if how == "hard" else soft_loss(logits, asked(model, ids))
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

    def trained(layers: tuple[int, ...], how: str, in_int8: bool = False) -> Callable[[int], Run]:
        def make(seed: int) -> Run:
            torch.manual_seed(seed)
            started = time.process_time()
            chosen = torch.randperm(len(texts))[:REVIEWS].tolist()
            few = type(split.train)([texts[i] for i in chosen], [labels[i] for i in chosen])
            data = Batches.of(few, size=32, seed=seed, max_tokens=LONGEST)
            student = of_layers(model, layers)
            train(student, model, data, how)
            spent = round(time.process_time() - started, 1)
            measured = {**row(student), "training": spent}
            if in_int8:
                measured["int8 answers"] = row(quantised(student))["answers"]
            return measured

        return make

    keep("teacher, 6 layers", lambda seed: row(model), (0,))
    keep("layers 0, 3, untrained", lambda seed: row(of_layers(model, (0, 3))), (0,))
    keep("layers 0, 3: soft", trained((0, 3), "soft", in_int8=True))
    keep("layers 0, 3: hard labels", trained((0, 3), "hard"))
    keep("layers 1, 3, 5: soft", trained((1, 3, 5), "soft"))
    if not sys.argv[1:] or "seconds" in sys.argv[1:]:
        time_side_by_side(found, [model, of_layers(model, (0, 3)), of_layers(model, (1, 3, 5))], test)
        save()


if __name__ == "__main__":
    main()

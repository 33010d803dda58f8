"""Measure what word order is worth to the ``mini`` checkpoint. About five minutes on one core.

    COURSE_DATA=... python -m tools.measure_word_order

Writes ``course/data/encoder_lab/word_order.json``, which ``3_attention_visualization.ipynb`` shows: accuracy on SST-2's
development set, from the folder named by COURSE_DATA, with the position vectors and without; once with the words in
order, and with the words shuffled by each of five seeds ([CLS] and [SEP] stay).
"""

import csv
import json
import os
from pathlib import Path
from typing import Any

import torch

from course.parts import ReadyClassifier
from course.tokenizer import load_tokenizer
from tools.make_lab_attentions import OUT, load_model

DATA = Path(os.environ.get("COURSE_DATA", "../shared/data"))
BATCH = 64
SHUFFLES = 5


def shuffled(ids: list[int], generator: torch.Generator) -> list[int]:
    """The words in another order; [CLS] and [SEP] stay where they are."""
    inner = ids[1:-1]
    return [ids[0], *(inner[i] for i in torch.randperm(len(inner), generator=generator).tolist()), ids[-1]]


@torch.no_grad()
def accuracy(model: ReadyClassifier, sentences: list[list[int]], labels: list[int]) -> float:
    """Sentences of equal length share a batch, so that nothing has to be padded."""
    right = 0
    for length in sorted({len(ids) for ids in sentences}):
        places = [i for i, ids in enumerate(sentences) if len(ids) == length]
        for start in range(0, len(places), BATCH):
            chosen = places[start : start + BATCH]
            logits = model(torch.tensor([sentences[i] for i in chosen]))
            right += int((logits.argmax(-1) == torch.tensor([labels[i] for i in chosen])).sum())
    return right / len(sentences)


def main() -> None:
    tokenizer = load_tokenizer()
    with (DATA / "sst2" / "dev.tsv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))
    labels = [int(row["label"]) for row in rows]
    ordered = [tokenizer(row["sentence"])["input_ids"] for row in rows]
    orders = []
    for seed in range(SHUFFLES):
        generator = torch.Generator().manual_seed(seed)
        orders.append([shuffled(ids, generator) for ids in ordered])
    measured: dict[str, dict[str, Any]] = {}
    for name, positions in (("with positions", True), ("without positions", False)):
        model = load_model(positions)
        # without positions every order gives the same answer: one shuffle is enough to see it
        chosen = orders if positions else orders[:1]
        measured[name] = {
            "in order": accuracy(model, ordered, labels),
            "shuffled": [accuracy(model, order, labels) for order in chosen],
        }
        print(name, measured[name], flush=True)
    result = {"sentences": len(rows), "accuracy": measured}
    (OUT / "word_order.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

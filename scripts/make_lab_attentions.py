"""Make what ``2_attention_visualization.ipynb`` shows, with the ``mini`` checkpoint. About a minute on two cores.

    COURSE_DATA=... python scripts/make_lab_attentions.py

Writes into ``course/data/encoder_lab/``:

``attentions.safetensors``  for "time flies like an arrow" / "fruit flies like a banana":
    attentions (layers, heads, tokens, tokens), queries and keys (layers, heads, tokens, dim per head), and
    attentions_without_positions, of the same model with one vector in place of all position vectors
``word_order.json``  accuracy on SST-2's development set, from the folder named by COURSE_DATA: words in order and
    shuffled ([CLS] and [SEP] stay), with the position vectors and without
"""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor

from course.parts import ReadyClassifier
from course.pretrained import config_of, load_into
from course.tokenizer import load_tokenizer

PAIR = ("time flies like an arrow", "fruit flies like a banana")
OUT = Path(__file__).resolve().parent.parent / "course" / "data" / "encoder_lab"
DATA = Path(os.environ.get("COURSE_DATA", "../shared/data"))
BATCH = 64


def load_model(positions: bool) -> ReadyClassifier:
    """The checkpoint; without positions every place gets one vector, the mean of those of the first 64 places."""
    model = load_into(ReadyClassifier(config_of("mini")), "mini").eval()
    if not positions:
        table = model.embeddings.position_embeddings.weight.data
        table[:] = table[:64].mean(0)
    return model


def queries_and_keys(model: ReadyClassifier, input_ids: Tensor) -> tuple[Tensor, Tensor]:
    """-> each (layers, heads, tokens, dim per head)"""
    hidden_states = model.embeddings(input_ids)
    queries, keys = [], []
    for block in model.attention_layers:
        heads = (len(input_ids[0]), model.config.n_heads, model.config.attention_head_size)
        queries.append(block.q_lin(hidden_states)[0].view(heads).transpose(0, 1))
        keys.append(block.k_lin(hidden_states)[0].view(heads).transpose(0, 1))
        hidden_states, _ = block(hidden_states)
    return torch.stack(queries), torch.stack(keys)


def attentions(model: ReadyClassifier, input_ids: Tensor) -> Tensor:
    """-> (layers, heads, tokens, tokens)"""
    model(input_ids)
    return torch.cat([model.attention_probs[layer] for layer in sorted(model.attention_probs)])


def shuffled(ids: list[int]) -> list[int]:
    """The words in another order; [CLS] and [SEP] stay where they are."""
    inner = ids[1:-1]
    return [ids[0], *(inner[i] for i in torch.randperm(len(inner)).tolist()), ids[-1]]


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
    torch.manual_seed(0)
    tokenizer = load_tokenizer()
    with_positions, without = load_model(True), load_model(False)
    input_ids = tokenizer(*PAIR, return_tensors="pt")["input_ids"]
    with torch.no_grad():
        queries, keys = queries_and_keys(with_positions, input_ids)
        tensors = {
            "attentions": attentions(with_positions, input_ids),
            "attentions_without_positions": attentions(without, input_ids),
            "queries": queries,
            "keys": keys,
        }
        OUT.mkdir(parents=True, exist_ok=True)
        save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, OUT / "attentions.safetensors")

        with (DATA / "sst2" / "dev.tsv").open(encoding="utf-8", newline="") as stream:
            rows = list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))
        labels = [int(row["label"]) for row in rows]
        ordered = [tokenizer(row["sentence"])["input_ids"] for row in rows]
        mixed = [shuffled(ids) for ids in ordered]
        result = {
            "sentences": len(rows),
            "accuracy": {
                name: {"in order": accuracy(model, ordered, labels), "shuffled": accuracy(model, mixed, labels)}
                for name, model in (("with positions", with_positions), ("without positions", without))
            },
        }
    (OUT / "word_order.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()

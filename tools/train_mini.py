"""Make the ``mini`` checkpoint: MiniLM-L6 in DistilBERT's shape, fine-tuned on SST-2.

    python -m tools.train_mini                 # about half an hour on two cores
    python -m tools.train_mini --epochs 1 --limit 2000 --out /tmp/trial

Reads ``minilm-l6-v2/`` and ``sst2/`` from the folder named by ``COURSE_DATA``. A BERT without
token types and without pooler is a DistilBERT: the first token-type vector, which every token of a
single sentence gets, is added to each position's vector once and for all.

Writes ``model.safetensors`` (float16, the course's names), ``tokenizer.json`` and ``config.json``,
and prints the accuracy on SST-2's development set *of the written file*, read back.
"""

import argparse
import csv
import json
import os
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from torch import nn
from transformers import DistilBertConfig, DistilBertForSequenceClassification

from course.names import from_transformers_names, to_transformers_names

HERE = Path(__file__).resolve().parent.parent
PAD_ID = 0


@dataclass(frozen=True)
class Example:
    ids: list[int]
    label: int


def fold_bert(bert: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """A BERT encoder's state dict (transformers' names) -> the same encoder as a DistilBERT's."""
    folded: dict[str, torch.Tensor] = {}
    words = "distilbert.embeddings."
    folded[words + "word_embeddings.weight"] = bert["embeddings.word_embeddings.weight"]
    folded[words + "position_embeddings.weight"] = (
        bert["embeddings.position_embeddings.weight"] + bert["embeddings.token_type_embeddings.weight"][0]
    )
    parts = {
        "attention.self.query": "attention.q_lin",
        "attention.self.key": "attention.k_lin",
        "attention.self.value": "attention.v_lin",
        "attention.output.dense": "attention.out_lin",
        "attention.output.LayerNorm": "sa_layer_norm",
        "intermediate.dense": "ffn.lin1",
        "output.dense": "ffn.lin2",
        "output.LayerNorm": "output_layer_norm",
    }
    for kind in ("weight", "bias"):
        folded[f"{words}LayerNorm.{kind}"] = bert[f"embeddings.LayerNorm.{kind}"]
        n_layers = 1 + max(int(name.split(".")[2]) for name in bert if name.startswith("encoder.layer."))
        for layer in range(n_layers):
            for old, new in parts.items():
                folded[f"distilbert.transformer.layer.{layer}.{new}.{kind}"] = bert[
                    f"encoder.layer.{layer}.{old}.{kind}"
                ]
    return folded


def transformers_config(minilm: dict[str, int]) -> DistilBertConfig:
    return DistilBertConfig(
        vocab_size=minilm["vocab_size"],
        dim=minilm["hidden_size"],
        hidden_dim=minilm["intermediate_size"],
        n_layers=minilm["num_hidden_layers"],
        n_heads=minilm["num_attention_heads"],
        max_position_embeddings=minilm["max_position_embeddings"],
        num_labels=2,
    )


def read_sst2(path: Path, tokenizer: Tokenizer) -> list[Example]:
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))
    encoded = tokenizer.encode_batch([row["sentence"].strip() for row in rows])
    return [Example(enc.ids, int(row["label"])) for enc, row in zip(encoded, rows, strict=True)]


def batches(examples: list[Example], size: int, generator: torch.Generator) -> Iterator[list[Example]]:
    """Shuffled batches of sentences of like length: padding would cost more than the words."""
    order = torch.randperm(len(examples), generator=generator).tolist()
    pool = size * 64
    grouped: list[list[Example]] = []
    for start in range(0, len(order), pool):
        chunk = sorted((examples[i] for i in order[start : start + pool]), key=lambda e: len(e.ids))
        grouped += [chunk[i : i + size] for i in range(0, len(chunk), size)]
    for i in torch.randperm(len(grouped), generator=generator).tolist():
        yield grouped[i]


def collate(batch: list[Example]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """-> input_ids (batch, longest), attention_mask (batch, longest), labels (batch,)"""
    longest = max(len(e.ids) for e in batch)
    ids = torch.full((len(batch), longest), PAD_ID)
    for row, example in enumerate(batch):
        ids[row, : len(example.ids)] = torch.tensor(example.ids)
    return ids, (ids != PAD_ID).long(), torch.tensor([e.label for e in batch])


@torch.no_grad()
def accuracy(model: nn.Module, examples: list[Example]) -> float:
    model.eval()
    right = 0
    ordered = sorted(examples, key=lambda e: len(e.ids))
    for start in range(0, len(ordered), 64):
        ids, mask, labels = collate(ordered[start : start + 64])
        logits = model(input_ids=ids, attention_mask=mask).logits
        right += int((logits.argmax(dim=-1) == labels).sum())
    return right / len(examples)


def train(model: nn.Module, examples: list[Example], dev: list[Example], args: argparse.Namespace) -> None:
    generator = torch.Generator().manual_seed(args.seed)
    decay = [p for p in model.parameters() if p.ndim > 1]
    plain = [p for p in model.parameters() if p.ndim <= 1]
    groups = [{"params": decay, "weight_decay": 0.01}, {"params": plain, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=args.lr, fused=True)
    total = args.epochs * -(-len(examples) // args.batch)
    warmup = max(1, total // 16)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / warmup, max(0.0, (total - step) / max(1, total - warmup)))
    )
    step, started = 0, time.monotonic()
    for epoch in range(args.epochs):
        model.train()
        for batch in batches(examples, args.batch, generator):
            ids, mask, labels = collate(batch)
            logits = model(input_ids=ids, attention_mask=mask).logits
            loss = nn.functional.cross_entropy(logits, labels)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
            schedule.step()
            step += 1
            if step % 100 == 0:
                print(f"step {step}/{total}  loss {loss.item():.3f}  {time.monotonic() - started:.0f} s", flush=True)
        print(f"epoch {epoch + 1}: dev accuracy {accuracy(model, dev):.4f}", flush=True)


def write(model: nn.Module, config: DistilBertConfig, tokenizer: Path, out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    state = from_transformers_names({name: tensor.detach() for name, tensor in model.state_dict().items()})
    save_file({name: tensor.half().contiguous() for name, tensor in state.items()}, out / "model.safetensors")
    (out / "model.safetensors").chmod(0o644)  # safetensors writes for its owner alone; a grading user must read it too
    shutil.copyfile(tokenizer, out / "tokenizer.json")
    sizes = {
        "n_heads": config.n_heads,
        "n_layers": config.n_layers,
        "dim": config.dim,
        "hidden_dim": config.hidden_dim,
        "max_position_embeddings": config.max_position_embeddings,
        "vocab_size": config.vocab_size,
        "pad_token_id": PAD_ID,
        "eps": 1e-12,
        "n_classes": 2,
    }
    (out / "config.json").write_text(json.dumps(sizes, indent=2) + "\n", encoding="utf-8")


def read_back(config: DistilBertConfig, folder: Path) -> nn.Module:
    model = DistilBertForSequenceClassification(config)
    state = {name: tensor.float() for name, tensor in load_file(folder / "model.safetensors").items()}
    model.load_state_dict(to_transformers_names(state))
    return model


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    data = Path(os.environ.get("COURSE_DATA", HERE.parent / "shared" / "data"))
    parser.add_argument("--data", type=Path, default=data)
    parser.add_argument("--out", type=Path, default=HERE / "course" / "checkpoints" / "mini")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--lr", type=float, default=5e-5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--limit", type=int, default=None, help="train on the first so many sentences only")
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    minilm = args.data / "minilm-l6-v2"
    tokenizer_file = args.data / "distilbert-sst2-metadata" / "tokenizer.json"
    tokenizer = Tokenizer.from_file(str(tokenizer_file))
    tokenizer.no_padding()
    tokenizer.enable_truncation(512)
    train_set = read_sst2(args.data / "sst2" / "train.tsv", tokenizer)[: args.limit]
    dev_set = read_sst2(args.data / "sst2" / "dev.tsv", tokenizer)

    config = transformers_config(json.loads((minilm / "config.json").read_text()))
    model = DistilBertForSequenceClassification(config)
    missing, unexpected = model.load_state_dict(fold_bert(load_file(minilm / "model.safetensors")), strict=False)
    heads = {"pre_classifier.weight", "pre_classifier.bias", "classifier.weight", "classifier.bias"}
    assert set(missing) == heads and not unexpected, (missing, unexpected)

    train(model, train_set, dev_set, args)
    write(model, config, tokenizer_file, args.out)
    size = (args.out / "model.safetensors").stat().st_size
    score = accuracy(read_back(config, args.out), dev_set)
    print(f"wrote {args.out}: {size / 1e6:.1f} MB; dev accuracy read back {score:.4f}")


if __name__ == "__main__":
    main()

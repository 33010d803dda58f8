"""Train the masked language model whose answers ``transformer_tutorial/4_bias`` shows. It is not part of the course.

    python -m tools.train_masked_words build/masked_words       # minutes on one core: --epochs says how many
    python -m tools.make_masked_words build/masked_words

Reads ``minilm-l6-v2/``, ``sst2/`` and ``sentence-polarity/`` from the folder named by ``COURSE_DATA``. MiniLM's body
gets BERT's masked-word head, whose output matrix is the word embedding itself, and all of it learns to guess covered
words of sentences from film reviews. Prints how often it is right on sentences kept apart, and writes a folder that
``transformers.AutoModelForMaskedLM`` reads.
"""

import argparse
import csv
import json
import math
import os
import random
import time
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import Tensor
from transformers import BertConfig, BertForMaskedLM

HERE = Path(__file__).resolve().parent.parent
MASK, SPECIAL = 103, (0, 101, 102)
LENGTHS = range(8, 21)  # words
N_HELD_OUT, LONGEST, SHARE = 300, 32, 0.15


def sentences(data: Path) -> list[str]:
    """Sentences and phrases of 8 to 20 words of both sets, each once by its letters"""
    with (data / "sst2" / "train.tsv").open(encoding="utf-8", newline="") as stream:
        rows = [row["sentence"] for row in csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)]
    found = list(rows)
    for name in ("pos", "neg"):
        found += (data / "sentence-polarity" / f"rt-polarity.{name}").read_bytes().decode("latin-1").split("\n")
    once = {_key(text): text.strip() for text in found if len(text.split()) in LENGTHS}
    return sorted(once.values())


def _key(text: str) -> str:
    return "".join(filter(str.isalnum, text.lower()))


def apart(texts: list[str]) -> tuple[list[str], list[str]]:
    """(to learn from, held out). A phrase of SST-2 that is part of a held-out sentence is left out of the first."""
    generator = random.Random(0)
    held_out = generator.sample([text for text in texts if len(text.split()) >= 12], N_HELD_OUT)
    keys = [_key(text) for text in held_out]
    everything = " ".join(keys)
    learn = [text for text in texts if _key(text) not in everything and not any(one in _key(text) for one in keys)]
    generator.shuffle(learn)
    return learn, held_out


def padded(rows: list[list[int]]) -> Tensor:
    width = max(map(len, rows))
    return torch.tensor([row + [0] * (width - len(row)) for row in rows])


def cover(ids: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """-> ids with 15 % of the words replaced by [MASK], and where (batch, tokens)"""
    words = ~torch.isin(ids, torch.tensor(SPECIAL))
    chosen = words & (torch.rand(ids.shape, generator=generator) < SHARE)
    return ids.masked_fill(chosen, MASK), chosen


def guess(model: BertForMaskedLM, ids: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """-> logits of the covered words (words, vocabulary), and which words they are (words,)"""
    covered, chosen = cover(ids, generator)
    hidden = model.bert(input_ids=covered, attention_mask=(ids != 0).long()).last_hidden_state
    return model.cls(hidden[chosen]), ids[chosen]


@torch.no_grad()
def measure(model: BertForMaskedLM, rows: list[list[int]]) -> tuple[float, float]:
    """-> the share of covered words that are guessed, and the perplexity; the same words are covered every time"""
    generator, hits, loss, count = torch.Generator().manual_seed(1), 0, 0.0, 0
    model.eval()
    for start in range(0, len(rows), 50):
        logits, words = guess(model, padded(rows[start : start + 50]), generator)
        hits += int((logits.argmax(-1) == words).sum())
        loss += float(F.cross_entropy(logits, words, reduction="sum"))
        count += len(words)
    return hits / count, math.exp(loss / count)


def begin(minilm: Path, rows: list[list[int]]) -> BertForMaskedLM:
    """MiniLM's body with a new head, whose bias is each word's frequency (as a logarithm)"""
    sizes = json.loads((minilm / "config.json").read_text())
    config = BertConfig(**{name: sizes[name] for name in ("vocab_size", "hidden_size", "num_hidden_layers",
                        "num_attention_heads", "intermediate_size", "max_position_embeddings")},
                        hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)  # fmt: skip
    model = BertForMaskedLM(config)
    body = load_file(minilm / "model.safetensors")
    state = {name: tensor for name, tensor in body.items() if not name.startswith("pooler.")}
    missing, unexpected = model.bert.load_state_dict(state, strict=False)
    assert not missing and set(unexpected) <= {"embeddings.position_ids"}, (missing, unexpected)
    counts = torch.bincount(torch.tensor([token for row in rows for token in row]), minlength=config.vocab_size)
    model.cls.predictions.bias.data.copy_(((counts + 0.1) / counts.sum()).log())
    torch.nn.init.eye_(model.cls.predictions.transform.dense.weight)
    return model


def train(model: BertForMaskedLM, rows: list[list[int]], held_out: list[list[int]], args: argparse.Namespace) -> None:
    head = [*model.cls.predictions.transform.parameters(), model.cls.predictions.bias]
    groups = [{"params": list(model.bert.parameters()), "lr": args.lr}, {"params": head, "lr": 5 * args.lr}]
    optimizer = torch.optim.AdamW(groups, weight_decay=0.01, fused=True)
    total = args.epochs * -(-len(rows) // args.batch)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min((step + 1) / 50, 1 - step / (total + 1)))
    generator, order, step, started = torch.Generator().manual_seed(0), random.Random(0), 0, time.monotonic()
    print("held out, before: guessed {:.3f}, perplexity {:.0f}".format(*measure(model, held_out)), flush=True)
    for epoch in range(args.epochs):
        model.train()
        # batches of sentences of like length, in a random order
        places = sorted(range(len(rows)), key=lambda place: (len(rows[place]), order.random()))
        batches = [places[start : start + args.batch] for start in range(0, len(places), args.batch)]
        for batch in order.sample(batches, len(batches)):
            logits, words = guess(model, padded([rows[place] for place in batch]), generator)
            if len(words):
                F.cross_entropy(logits, words).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
            schedule.step()
            step += 1
            if step % 100 == 0:
                print(f"step {step} of {total}, {time.monotonic() - started:.0f} s", flush=True)
        found = measure(model, held_out)
        print(f"held out, epoch {epoch + 1}: guessed {found[0]:.3f}, perplexity {found[1]:.0f}", flush=True)
        model.save_pretrained(args.out)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    data = Path(os.environ.get("COURSE_DATA", HERE.parent / "shared" / "data"))
    parser.add_argument("out", type=Path)
    parser.add_argument("--data", type=Path, default=data)
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--lr", type=float, default=2e-4)
    parser.add_argument("--limit", type=int, default=None, help="learn from so many sentences only")
    args = parser.parse_args()
    torch.manual_seed(0)
    learn, held_out = apart(sentences(args.data))
    tokenizer = Tokenizer.from_file(str(args.data / "minilm-l6-v2" / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(LONGEST)
    rows = [one.ids for one in tokenizer.encode_batch(learn[: args.limit])]
    print(f"{len(rows):,} sentences and phrases to learn from, {len(held_out)} sentences held out")
    model = begin(args.data / "minilm-l6-v2", rows)
    train(model, rows, [one.ids for one in tokenizer.encode_batch(held_out)], args)
    print(f"wrote {args.out}")


if __name__ == "__main__":
    main()

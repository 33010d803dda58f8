"""Make the ``minilm_small`` checkpoint: the first layers of MiniLM, for the words of 1,500 reviews, in int8.

    python -m tools.make_minilm_small                                  # with the comparison, about a minute
    python -m tools.make_minilm_small --layers 2 --out /tmp/trial

Reads ``minilm-l6-v2/`` from the folder named by ``COURSE_DATA``: the body as it was published. No label is used here,
and ``mini``, which was trained on SST-2, is not touched. A BERT without token types and without pooler is a DistilBERT
(see ``train_mini.py``). Kept are the first layers, the word vectors that the sentences of ``course.finetuning`` need,
and the positions that they reach. A matrix is stored as int8 with one float16 number for each row, the rest as float16.

Prints how close the sentence vectors of the file are to those of the same layers in float32, and the accuracy of a
linear head on the vectors of the file, of the same layers, and of all six layers.
"""

import argparse
import hashlib
import json
import os
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file
from torch import Tensor
from transformers import DistilBertConfig, DistilBertModel

from course import finetuning
from course.reviews import Batches, load_reviews
from tools.train_mini import fold_bert

HERE = Path(__file__).resolve().parent.parent
SPECIAL = (0, 100, 101, 102, 103)  # [PAD], [UNK], [CLS], [SEP], [MASK]
N_POSITIONS = 64


def some_reviews() -> tuple[Batches, Batches]:
    """The sentences to draw from, and those to test on, with the ids of the whole vocabulary"""
    split = load_reviews()
    train = finetuning.first(split.train, finetuning.N_TRAIN)
    test = finetuning.first(split.test, finetuning.N_TEST)
    return finetuning.encoded(train, size=50), finetuning.encoded(test, size=50)


def config_of(minilm: dict[str, int], layers: int, words: int) -> dict[str, float]:
    return {
        "vocab_size": words,
        "dim": minilm["hidden_size"],
        "hidden_dim": minilm["intermediate_size"],
        "n_layers": layers,
        "n_heads": minilm["num_attention_heads"],
        "max_position_embeddings": N_POSITIONS,
        "dropout": 0.1,
        "attention_dropout": 0.1,
    }


def cut(state: dict[str, Tensor], token_ids: Tensor, layers: int) -> dict[str, Tensor]:
    """The tensors that are kept, in float32, under the names of ``transformers.DistilBertModel``"""
    kept = {}
    for name, tensor in state.items():
        name = name.removeprefix("distilbert.")
        if name.startswith("transformer.layer.") and int(name.split(".")[2]) >= layers:
            continue
        if name == "embeddings.word_embeddings.weight":
            tensor = tensor[token_ids]
        if name == "embeddings.position_embeddings.weight":
            tensor = tensor[:N_POSITIONS]
        kept[name] = tensor
    return kept


def rounded(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """Matrices as int8 with one number for each row, everything else as float16"""
    stored = {}
    for name, tensor in state.items():
        if tensor.ndim == 2:
            scale = (tensor.abs().amax(dim=1) / 127).clamp(min=1e-6).half()
            stored[name] = (tensor / scale.float()[:, None]).round().clamp(-127, 127).to(torch.int8)
            stored[f"{name}.scale"] = scale
        else:
            stored[name] = tensor.half()
    return stored


def write(state: dict[str, Tensor], sizes: dict[str, float], token_ids: Tensor, out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    stored = {**rounded(state), "token_ids": token_ids.to(torch.int32)}
    save_file({name: tensor.contiguous() for name, tensor in stored.items()}, out / "model.safetensors")
    (out / "model.safetensors").chmod(0o644)  # safetensors writes for its owner alone
    (out / "config.json").write_text(json.dumps(sizes, indent=2) + "\n", encoding="utf-8")


@torch.no_grad()
def vectors(state: dict[str, Tensor], sizes: dict[str, float], batches: Batches) -> Tensor:
    body = DistilBertModel(DistilBertConfig(**sizes))
    body.load_state_dict(state)
    model = finetuning.Classifier(body).eval()
    return torch.cat([model.vectors(ids) for ids, _ in batches.epoch()])


def head_accuracy(train: Tensor, labels: Tensor, test: Tensor, right: Tensor) -> float:
    """A linear head on standardised vectors, with a little weight decay"""
    mean, spread = train.mean(0), train.std(0)
    train, test = (train - mean) / spread, (test - mean) / spread
    torch.manual_seed(0)
    head = torch.nn.Linear(train.shape[1], 2)
    optimizer = torch.optim.LBFGS(head.parameters(), max_iter=200)

    def closure() -> Tensor:
        optimizer.zero_grad()
        loss: Tensor = F.cross_entropy(head(train), labels) + 0.01 * head.weight.square().sum()
        loss.backward()
        return loss

    optimizer.step(closure)
    return float((head(test).argmax(1) == right).float().mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    data = Path(os.environ.get("COURSE_DATA", HERE.parent / "shared" / "data"))
    parser.add_argument("--data", type=Path, default=data)
    parser.add_argument("--out", type=Path, default=finetuning.FOLDER)
    parser.add_argument("--layers", type=int, default=3)
    args = parser.parse_args()
    minilm = args.data / "minilm-l6-v2"
    original = json.loads((minilm / "config.json").read_text())
    whole = fold_bert(load_file(minilm / "model.safetensors"))
    train, test = some_reviews()
    token_ids = torch.tensor(sorted({*SPECIAL, *(token for row in [*train.ids, *test.ids] for token in row)}))
    sizes = config_of(original, args.layers, len(token_ids))
    state = cut(whole, token_ids, args.layers)
    write(state, sizes, token_ids, args.out)
    file = args.out / "model.safetensors"
    print(f"{file}: {file.stat().st_size:,} bytes, sha256 {hashlib.sha256(file.read_bytes()).hexdigest()}")
    print(f"{len(token_ids):,} words, {sum(tensor.numel() for tensor in state.values()):,} parameters")

    train, test = (finetuning.renamed(batches, args.out) for batches in (train, test))
    labels, right = torch.tensor(train.labels), torch.tensor(test.labels)
    all_layers = config_of(original, original["num_hidden_layers"], len(token_ids))
    found = {
        "the file": (finetuning.stored_state(args.out), sizes),
        f"{args.layers} layers, float32": (state, sizes),
        "all layers, float32": (cut(whole, token_ids, original["num_hidden_layers"]), all_layers),
    }
    made = {}
    for name, (tensors, known) in found.items():
        made[name] = [vectors(tensors, known, batches) for batches in (train, test)]
        score = head_accuracy(made[name][0], labels, made[name][1], right)
        close = F.cosine_similarity(made["the file"][1], made[name][1])
        print(f"{name:22} cosine with the file: mean {float(close.mean()):.4f}, least {float(close.min()):.4f}; "
              f"head on {len(train.ids)} labels: {score:.3f}")  # fmt: skip


if __name__ == "__main__":
    main()

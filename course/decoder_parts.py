"""A small decoder in the shape of GPT-2: its layers, ready-made parts, and how it is trained.

The notebooks' classes inherit their layers from ``BlockLayers`` and ``ModelLayers`` and write ``forward``. The
``Ready…`` classes stand in for parts of earlier exercises, so that no notebook depends on an earlier one being right.
"""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from course.parts import refusal
from course.stories import VOCABULARY, random_windows, windows

CHECKPOINT = Path(__file__).parent / "checkpoints" / "stories"


@dataclass(frozen=True)
class DecoderConfig:
    """The sizes of a decoder. ``context``: the most tokens that it can look at."""

    vocabulary: int = len(VOCABULARY)
    context: int = 64
    dim: int = 64
    heads: int = 4
    layers: int = 2


class BlockLayers(nn.Module):
    """The layers of one pre-norm block, and how vectors are split into heads; ``forward`` is an exercise."""

    def __init__(self, config: Any) -> None:
        super().__init__()
        self.heads = config.heads
        self.norm_1 = nn.LayerNorm(config.dim)
        self.to_qkv = nn.Linear(config.dim, 3 * config.dim)
        self.out = nn.Linear(config.dim, config.dim)
        self.norm_2 = nn.LayerNorm(config.dim)
        self.mlp = nn.Sequential(
            nn.Linear(config.dim, 4 * config.dim), nn.GELU("tanh"), nn.Linear(4 * config.dim, config.dim)
        )

    def split_heads(self, x: Tensor) -> Tensor:
        """(batch, tokens, dim) -> (batch, heads, tokens, dim_per_head)"""
        return x.unflatten(2, (self.heads, -1)).transpose(1, 2)

    def merge_heads(self, x: Tensor) -> Tensor:
        """(batch, heads, tokens, dim_per_head) -> (batch, tokens, dim)"""
        return x.transpose(1, 2).flatten(2)


def ready_causal_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Masked attention by torch's own function; each (batch, heads, tokens, dim_per_head), and so is the result."""
    return F.scaled_dot_product_attention(query, key, value, is_causal=True)


class ReadyBlock(BlockLayers):
    """(batch, tokens, dim) -> the same shape"""

    def forward(self, x: Tensor) -> Tensor:
        query, key, value = (self.split_heads(part) for part in self.to_qkv(self.norm_1(x)).chunk(3, -1))
        x = x + self.out(self.merge_heads(ready_causal_attention(query, key, value)))
        result: Tensor = x + self.mlp(self.norm_2(x))
        return result


class ModelLayers(nn.Module):
    """The layers of the whole decoder, with small random weights as GPT-2 has them; ``forward`` is an exercise.

    block: the class of its blocks, which takes the config.
    """

    def __init__(self, config: Any, block: Callable[[Any], nn.Module] = ReadyBlock) -> None:
        super().__init__()
        self.config = config
        self.token_embedding = nn.Embedding(config.vocabulary, config.dim)
        self.position_embedding = nn.Embedding(config.context, config.dim)
        self.blocks = nn.ModuleList(block(config) for _ in range(config.layers))
        self.final_norm = nn.LayerNorm(config.dim)
        for name, weight in self.named_parameters():
            if weight.ndim == 2:
                nn.init.normal_(weight, std=0.02)
            elif name.endswith("bias"):
                nn.init.zeros_(weight)


class ReadyModel(ModelLayers):
    """ids (batch, tokens) -> logits of the next token (batch, tokens, vocabulary)"""

    def forward(self, ids: Tensor) -> Tensor:
        x = self.token_embedding(ids) + self.position_embedding.weight[: ids.shape[1]]
        for layer in self.blocks:
            x = layer(x)
        logits: Tensor = self.final_norm(x) @ self.token_embedding.weight.T
        return logits


def ready_loss(logits: Tensor, ids: Tensor) -> Tensor:
    """The mean cross-entropy of each next token, a scalar."""
    return F.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten())


def own_or_ready(own: Any, check: Callable[[Any], object], ready: Any) -> Any:
    """``own`` where it passes its visible check, else ``ready``; prints which."""
    if refusal(lambda: check(own)):
        print(f"{ready.__name__}, because {own.__name__} does not pass its check yet.")
        return ready
    print(f"{own.__name__}: your own.")
    return own


def batches(ids: Tensor, length: int, size: int, steps: int, seed: int) -> Iterator[Tensor]:
    """``steps`` batches (size, length) of pieces of the text, drawn with a seed."""
    generator = torch.Generator().manual_seed(seed)
    for _ in range(steps):
        yield random_windows(ids, length, size, generator)


def train(
    model: nn.Module,
    loss: Callable[[Tensor, Tensor], Tensor],
    pieces: Iterator[Tensor],
    steps: int,
    rate: float = 3e-3,
) -> list[float]:
    """AdamW with a warm-up of 20 steps and a linear decline; -> the loss of every step."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=0.01)
    plan = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min((step + 1) / 20, 1 - step / (steps + 1)))
    losses = []
    model.train()
    for ids in pieces:
        optimizer.zero_grad()
        value = loss(model(ids), ids)
        value.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        plan.step()
        losses.append(float(value.detach()))
    model.eval()
    return losses


@torch.no_grad()
def log_probabilities(model: nn.Module, ids: Tensor, length: int) -> Tensor:
    """The log-probability of each word of a text but the first of every window of ``length``: (words,)"""
    pieces = windows(ids, length)
    predicted = model(pieces[:, :-1]).log_softmax(-1)
    return predicted.gather(2, pieces[:, 1:, None]).flatten()


def load_stories_model(model: Callable[[Any], nn.Module] = ReadyModel) -> Any:
    """The small trained model of the course (``checkpoints/stories``), in eval mode.

    model: a class that takes a DecoderConfig and has the layers of ModelLayers.
    """
    from safetensors.torch import load_file

    trained = model(DecoderConfig())
    trained.load_state_dict(load_file(CHECKPOINT / "model.safetensors"))
    return trained.eval()


def save_stories_model(model: nn.Module, config: DecoderConfig, folder: Path = CHECKPOINT) -> None:
    """Writes weights and sizes, which must be those of DecoderConfig()."""
    import json

    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    save_file({name: weight.contiguous() for name, weight in model.state_dict().items()}, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(asdict(config), indent=2) + "\n", encoding="utf-8")

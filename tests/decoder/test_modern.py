"""Notebook 4 of the decoder: its solution is Llama's block, and the oracles' NumPy is Llama's too."""

from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from transformers.models.llama.modeling_llama import LlamaDecoderLayer, LlamaRMSNorm, LlamaRotaryEmbedding

from course.check import decoder as check
from course.modern_parts import ReadyAttention, ReadySwiGLU, causal_mask, llama_config, ready_rotate
from tests.grading import solution

NOTEBOOK = "4_modern_block"
NAMES = ("rms_norm", "rotary_tables", "rotate", "swiglu", "grouped_query_attention", "modern_block")
DIM, HEADS, KV_HEADS, HIDDEN, TOKENS = 48, 6, 2, 40, 9


@pytest.fixture(scope="module")
def space() -> dict[str, Any]:
    """The notebook's own classes and functions."""
    import math

    found: dict[str, Any] = {"torch": torch, "nn": nn, "F": F, "math": math}
    for name in NAMES:
        exec(solution("decoder", NOTEBOOK, f"{name}_answer"), found)
    return found


@pytest.fixture
def x() -> torch.Tensor:
    torch.manual_seed(3)
    return torch.randn(3, TOKENS, DIM)


def tables(space: dict[str, Any]) -> tuple[torch.Tensor, torch.Tensor]:
    cos, sin = space["rotary_tables"](torch.arange(TOKENS), DIM // HEADS)
    return cos, sin


def close(one: torch.Tensor, other: torch.Tensor) -> None:
    torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-5)


def test_the_norm_is_llamas(space: dict[str, Any], x: torch.Tensor) -> None:
    weight = torch.rand(DIM)
    mine, theirs = space["RMSNorm"](DIM, eps=1e-5), LlamaRMSNorm(DIM, eps=1e-5)
    for norm in (mine, theirs):
        norm.weight.data.copy_(weight)
    close(mine(x), theirs(x))


@pytest.mark.parametrize("base", [10000.0, 500000.0])
def test_the_tables_are_llamas(space: dict[str, Any], x: torch.Tensor, base: float) -> None:
    config = llama_config(DIM, HEADS, KV_HEADS)
    config.rope_parameters = {"rope_type": "default", "rope_theta": base}
    theirs = LlamaRotaryEmbedding(config)(x, torch.arange(TOKENS)[None])
    for mine, other in zip(space["rotary_tables"](torch.arange(TOKENS), DIM // HEADS, base), theirs, strict=True):
        close(mine, other[0])


def test_the_rotation_is_llamas_and_keeps_distances(space: dict[str, Any]) -> None:
    q = torch.randn(1, 1, TOKENS, 8)
    cos, sin = tables(space)
    close(space["rotate"](q, cos, sin), ready_rotate(q, cos, sin))
    same = space["rotate"](q[:, :, :1].expand(1, 1, TOKENS, 8), cos, sin)[0, 0]
    close(same[2] @ same[5], same[4] @ same[7])


def test_the_network_is_llamas(space: dict[str, Any], x: torch.Tensor) -> None:
    mine, theirs = space["SwiGLU"](DIM, HIDDEN), ReadySwiGLU(DIM, HIDDEN)
    mine.load_state_dict(theirs.state_dict())
    close(mine(x), theirs(x))


@pytest.mark.parametrize("kv_heads", [1, 2, 3, 6])
def test_the_attention_is_llamas_and_torchs(space: dict[str, Any], x: torch.Tensor, kv_heads: int) -> None:
    mine, theirs = space["GroupedQueryAttention"](DIM, HEADS, kv_heads), ReadyAttention(DIM, HEADS, kv_heads)
    mine.load_state_dict(theirs.state_dict())
    cos, sin = tables(space)
    close(mine(x, cos, sin), theirs(x, cos, sin))
    q, k, v = (layer(x).unflatten(-1, (-1, 8)).transpose(1, 2) for layer in (mine.q_proj, mine.k_proj, mine.v_proj))
    q, k = ready_rotate(q, cos, sin), ready_rotate(k, cos, sin)
    fused = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
    close(mine(x, cos, sin), mine.o_proj(fused.transpose(1, 2).flatten(2)))


def test_the_block_is_llamas(space: dict[str, Any], x: torch.Tensor) -> None:
    theirs = LlamaDecoderLayer(llama_config(DIM, HEADS, KV_HEADS, HIDDEN), 0).eval()
    mine = space["ModernBlock"](DIM, HEADS, KV_HEADS, HIDDEN)
    mine.load_state_dict(theirs.state_dict())
    cos, sin = tables(space)
    close(mine(x, cos, sin), theirs(x, causal_mask(TOKENS), position_embeddings=(cos[None], sin[None])))


def test_a_stretch_goal_that_was_not_begun_is_no_failure(capsys: pytest.CaptureFixture[str]) -> None:
    def untouched(x: torch.Tensor, angles: torch.Tensor) -> torch.Tensor:
        raise NotImplementedError

    check.complex_rotation(untouched)
    assert "not begun" in capsys.readouterr().out


def test_a_stretch_goal_that_is_wrong_is_refused() -> None:
    with pytest.raises(AssertionError, match="that of rotate"):
        check.complex_rotation(lambda x, angles: x)

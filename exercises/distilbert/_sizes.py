"""Sizes of the small models that cases are drawn with, as ``course`` and as ``transformers`` want them.

torch and transformers are imported only where cases are drawn, so that judging starts fast and needs NumPy alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from transformers import DistilBertConfig

EPS = 1e-12


def config(n_heads: int, head_size: int, hidden_dim: int, **others: int) -> dict[str, Any]:
    """The attributes of a ``course.Config`` of this size."""
    dim = n_heads * head_size
    return {
        "n_heads": n_heads,
        "dim": dim,
        "hidden_dim": hidden_dim,
        "attention_head_size": head_size,
        "all_head_size": dim,
        "eps": EPS,
        "n_layers": 2,
        "pad_token_id": 0,
        "max_position_embeddings": 16,
        "vocab_size": 23,
        "n_classes": 2,
        "device": "cpu",
        **others,
    }


def hf_config(sizes: Mapping[str, Any]) -> DistilBertConfig:
    """The same sizes for ``transformers``, without dropout, and with attention weights returned."""
    from transformers import DistilBertConfig

    names = ("n_heads", "dim", "hidden_dim", "n_layers", "max_position_embeddings", "vocab_size")
    picked: dict[str, Any] = {name: sizes[name] for name in names}
    switches: dict[str, Any] = {"num_labels": sizes["n_classes"], "attn_implementation": "eager"}
    return DistilBertConfig(**picked, **switches, dropout=0.0, attention_dropout=0.0, seq_classif_dropout=0.0)

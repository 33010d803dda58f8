"""State-dict names: the course's and those of ``transformers``' DistilBERT.

=============================================================  ======================================
transformers                                                   course
=============================================================  ======================================
``distilbert.embeddings.*``                                    ``embeddings.*``
``distilbert.transformer.layer.{i}.attention.{q,k,v,out}_lin`` ``attention_layers.{i}.{q,k,v,out}_lin``
``distilbert.transformer.layer.{i}.ffn.{lin1,lin2}``           ``attention_layers.{i}.{lin1,lin2}``
``distilbert.transformer.layer.{i}.*_layer_norm``              ``attention_layers.{i}.*_layer_norm``
``pre_classifier``, ``classifier``                             the same
=============================================================  ======================================
"""

import re
from collections.abc import Mapping
from typing import TypeVar

Value = TypeVar("Value")

_LAYER = re.compile(r"distilbert\.transformer\.layer\.(\d+)\.(?:attention\.|ffn\.)?(.+)")
_COURSE_LAYER = re.compile(r"attention_layers\.(\d+)\.(.+)")


def _to_course(name: str) -> str:
    layer = _LAYER.fullmatch(name)
    if layer:
        return f"attention_layers.{layer[1]}.{layer[2]}"
    return name.removeprefix("distilbert.")


def _to_transformers(name: str) -> str:
    layer = _COURSE_LAYER.fullmatch(name)
    if not layer:
        return f"distilbert.{name}" if name.startswith("embeddings.") else name
    part = layer[2]
    if re.match(r"[qkv]_lin|out_lin", part):
        part = f"attention.{part}"
    elif part.startswith(("lin1", "lin2")):
        part = f"ffn.{part}"
    return f"distilbert.transformer.layer.{layer[1]}.{part}"


def from_transformers_names(state: Mapping[str, Value]) -> dict[str, Value]:
    """The same tensors under the course's names."""
    return {_to_course(name): value for name, value in state.items()}


def to_transformers_names(state: Mapping[str, Value]) -> dict[str, Value]:
    """The same tensors under the names of ``transformers.DistilBertForSequenceClassification``."""
    return {_to_transformers(name): value for name, value in state.items()}

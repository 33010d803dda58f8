"""The instructor's classes, as they stand in the source notebooks."""

import ast
import math
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
import torch
from torch import Tensor, nn
from torch.nn import functional

from course import Config
from course.names import from_transformers_names
from course.state_dict import load_checked

SOURCE = Path(__file__).parents[2] / "source" / "distilbert"
CLASSES = {
    "Embeddings": "1_embedding.ipynb",
    "AttentionBlock": "2_attention_block.ipynb",
    "DistilBertClassifier": "3_model_assembly.ipynb",
}


def source_of(notebook: Path, name: str, kind: str = "class") -> str:
    """The text of the last definition of a class, or of a function (kind ``def``), in a notebook's code cells."""
    found = ""
    for cell in nbformat.read(notebook, as_version=4).cells:
        if cell.cell_type != "code" or f"{kind} {name}" not in cell.source:
            continue
        for node in ast.parse(cell.source).body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == name:
                found = ast.unparse(node)
    assert found, f"{notebook.name} defines no {name}"
    return found


@cache
def solution() -> SimpleNamespace:
    """``Embeddings``, ``AttentionBlock`` and ``DistilBertClassifier``, all in one namespace."""
    space: dict[str, Any] = {
        "torch": torch,
        "nn": nn,
        "math": math,
        "F": functional,
        "Tensor": Tensor,
        "Config": Config,
    }
    for name, notebook in CLASSES.items():
        exec(source_of(SOURCE / notebook, name), space)
    return SimpleNamespace(**{name: space[name] for name in CLASSES})


def masked_weights() -> Callable[[Tensor, Tensor], Tensor]:
    """The instructor's function of the padding mask."""
    space: dict[str, Any] = {"torch": torch}
    exec(source_of(SOURCE / "3_model_assembly.ipynb", "masked_weights", "def"), space)
    function: Callable[[Tensor, Tensor], Tensor] = space["masked_weights"]
    return function


def classifier(config: Config, transformers_state: dict[str, Tensor]) -> nn.Module:
    """The instructor's model with the weights of one of ``transformers``' DistilBERT classifiers, in its precision."""
    model: nn.Module = solution().DistilBertClassifier(config)
    state = from_transformers_names(transformers_state)
    model.to(next(iter(state.values())).dtype)
    load_checked(model, state, "transformers")
    return model.eval()


def block_outputs(model: nn.Module, **inputs: Tensor) -> tuple[Tensor, list[Tensor]]:
    """Run the model -> logits, and what the embeddings and each block gave out (layers + 1 tensors)."""
    states: list[Tensor] = []

    def keep(module: nn.Module, args: object, output: Any) -> None:
        states.append(output[0] if isinstance(output, tuple) else output)

    parts = [model.get_submodule("embeddings"), *model.get_submodule("attention_layers").children()]
    hooks = [part.register_forward_hook(keep) for part in parts]
    try:
        with torch.no_grad():
            logits = model(**inputs)
    finally:
        for hook in hooks:
            hook.remove()
    return logits, states

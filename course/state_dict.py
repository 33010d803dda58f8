"""Named tensors of a model: which there must be, and putting them into a student's model."""

import contextlib
import re
from collections.abc import Iterator, Mapping
from unittest.mock import patch

import torch
from torch import Tensor, nn

from course.config import Config
from course.errors import StateDictError
from course.names import from_transformers_names

# The original assignment leaves the name of the encoder's list open: whatever it is called, its members are these.
_BLOCK = re.compile(r"^[A-Za-z_]\w*\.(\d+)\.((?:[qkv]_lin|out_lin|sa_layer_norm|lin[12]|output_layer_norm)\.\w+)$")


def expected_shapes(config: Config) -> dict[str, tuple[int, ...]]:
    """Name -> shape of every parameter of a classifier of these sizes."""
    dim, hidden = config.dim, config.hidden_dim
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (config.vocab_size, dim),
        "embeddings.position_embeddings.weight": (config.max_position_embeddings, dim),
    }

    def norm(name: str) -> None:
        shapes[f"{name}.weight"] = shapes[f"{name}.bias"] = (dim,)

    def linear(name: str, n_in: int, n_out: int) -> None:
        shapes[f"{name}.weight"], shapes[f"{name}.bias"] = (n_out, n_in), (n_out,)

    norm("embeddings.LayerNorm")
    for layer in range(config.n_layers):
        block = f"attention_layers.{layer}"
        for projection in ("q_lin", "k_lin", "v_lin", "out_lin"):
            linear(f"{block}.{projection}", dim, dim)
        norm(f"{block}.sa_layer_norm")
        linear(f"{block}.lin1", dim, hidden)
        linear(f"{block}.lin2", hidden, dim)
        norm(f"{block}.output_layer_norm")
    linear("pre_classifier", dim, dim)
    linear("classifier", dim, config.n_classes)
    return shapes


def to_course_names(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The same tensors under the course's names.

    state: under ``transformers``' names, under the course's, or with another name for the encoder's list.
    Position ids, which old files carry along, are a constant and are left out.
    """
    renamed = from_transformers_names(state)
    return {
        _BLOCK.sub(r"attention_layers.\1.\2", name): tensor
        for name, tensor in renamed.items()
        if not name.endswith("position_ids")
    }


def check_state(state: Mapping[str, Tensor], config: Config, source: str) -> None:
    """Raise StateDictError, naming the first wrong tensor, unless ``state`` is a whole classifier of these sizes.

    source: what to call the checkpoint in the message.
    """
    expected = expected_shapes(config)
    missing = [name for name in expected if name not in state]
    if missing:
        raise StateDictError(
            f"{source}: the tensor {missing[0]} of shape {expected[missing[0]]} is missing{_more(missing)}; "
            f"is this a checkpoint of a DistilBERT classifier?"
        )
    unexpected = [name for name in state if name not in expected]
    if unexpected:
        raise StateDictError(
            f"{source}: the tensor {unexpected[0]} was not expected{_more(unexpected)}; "
            f"a classifier with {config.n_layers} blocks has none of that name."
        )
    for name, shape in expected.items():
        tensor = state[name]
        if tuple(tensor.shape) != shape:
            raise StateDictError(f"{source}: {name} must have shape {shape}, but has {tuple(tensor.shape)}.")
        if not tensor.is_floating_point():
            raise StateDictError(f"{source}: {name} must hold floating-point numbers, but holds {tensor.dtype}.")


def load_checked(model: nn.Module, state: Mapping[str, Tensor], source: str) -> None:
    """Copy ``state`` into the model's parameters of the same names, all of them or none.

    Raises StateDictError where a parameter is missing in the model, is one too many, or has another shape.
    """
    parameters = dict(model.named_parameters())
    missing = [name for name in state if name not in parameters]
    if missing:
        raise StateDictError(
            f"The model has no parameter {missing[0]}, for which {source} brings a tensor of shape "
            f"{tuple(state[missing[0]].shape)}{_more(missing)}. Is the layer named so, and registered?"
        )
    unexpected = [name for name in parameters if name not in state]
    if unexpected:
        raise StateDictError(
            f"The model has a parameter {unexpected[0]} of shape {tuple(parameters[unexpected[0]].shape)}, for which "
            f"{source} brings nothing{_more(unexpected)}. Is it a layer too many, or one under another name?"
        )
    for name, parameter in parameters.items():
        if parameter.shape != state[name].shape:
            raise StateDictError(
                f"{name}: {source} brings shape {tuple(state[name].shape)}, the model's has {tuple(parameter.shape)}. "
                f"Was the model built with the config of {source}?"
            )
    with torch.no_grad():
        for name, parameter in parameters.items():
            parameter.copy_(state[name])


@contextlib.contextmanager
def without_random_weights() -> Iterator[None]:
    """While a model is built whose weights are all loaded next: linear layers and embeddings get any numbers.

    Drawing millions of random ones takes longer than all the rest.
    """
    with (
        patch.object(nn.Linear, "reset_parameters", _nothing),
        patch.object(nn.Embedding, "reset_parameters", _nothing),
    ):
        yield


def _nothing(layer: nn.Module) -> None:
    pass


def _more(names: list[str]) -> str:
    return f" (and {len(names) - 1} more)" if len(names) > 1 else ""

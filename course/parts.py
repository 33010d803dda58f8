"""Earlier parts of the course for later notebooks: the student's own where it passes its check, else a ready-made one.

No notebook depends on an earlier one being right. :func:`earlier` looks into the notebook beside this one; where
that is missing (Colab), unfinished or wrong, a part of ``transformers`` under the course's names takes its place.
"""

import ast
import contextlib
import io
import json
import math
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from functools import lru_cache, reduce
from pathlib import Path
from typing import Any

from torch import Tensor, cdist, nn, stack

from course import colab

#: Under which other names solutions written for the sources of this course call a part.
OTHER_NAMES = {"DistilBertClassifier": ("DistillBertAttention",)}


def earlier(
    notebook: str,
    name: str,
    check: Callable[[Any], object],
    ready: Any,
    given: Mapping[str, Any] | None = None,
) -> Any:
    """The class or function ``name`` from another notebook in this folder, else ``ready``; prints which.

    notebook: file name, say ``1_embedding.ipynb``
    check: the visible check that the part has to pass; it raises where it does not
    given: what the part's code may use besides torch, nn, F, math and its own notebook's imports and definitions
    """
    part, why = _own(Path(notebook), _names(name), dict(given or {}))
    if part is not None and (message := refusal(lambda: check(part))):
        part, why = None, f"yours does not pass its check yet ({message})"
    if part is None:
        missing = "" if Path(notebook).exists() else colab.hint(notebook)
        print(f"{name}: the ready-made part of transformers, because {why}.{missing}")
        return ready
    print(f"{name}: your own, from {notebook}.")
    return part


def written(space: Mapping[str, Any], name: str) -> Any:
    """The class or function ``name`` of a notebook whose names are ``space``, whichever of its names it has."""
    for known in _names(name):
        if known in space:
            return space[known]
    raise NameError(f"{name} is not defined. Run the cell in which you wrote it, then this one.")


def _names(name: str) -> list[str]:
    return [name, *OTHER_NAMES.get(name, ())]


def refusal(check: Callable[[], object]) -> str:
    """The first line of what a visible check says against a part, with nothing printed; empty where it passes."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            check()
    except Exception as error:
        return (str(error).splitlines() or [""])[0].rstrip(".") or type(error).__name__
    return ""


def _own(path: Path, names: list[str], given: dict[str, Any]) -> tuple[Any, str]:
    """(the part, "") or (None, why there is none)"""
    try:
        sources = _code_cells(path)
    except OSError:
        return None, f"{path} is not in this folder"
    except ValueError:
        return None, f"{path} cannot be read as a notebook"
    import torch

    space: dict[str, Any] = {
        "torch": torch,
        "nn": nn,
        "F": nn.functional,
        "math": math,
        "Tensor": Tensor,
        "__name__": path.stem,
        **given,
    }
    definitions = [statement for source in sources for statement in _definitions(source)]
    for statement in definitions:
        # one that fails may be one that is not needed; the check will tell
        with contextlib.suppress(Exception):
            exec(compile(ast.Module([statement], []), str(path), "exec"), space)
    defined = {statement.name for statement in definitions if isinstance(statement, ast.ClassDef | ast.FunctionDef)}
    for name in names:
        if name in defined and name in space:
            return space[name], ""
    return None, f"{path} does not define it"


def _code_cells(path: Path) -> list[str]:
    """The sources of a notebook's code cells. Raises OSError, or ValueError where it is no notebook."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        cells = [cell for cell in document["cells"] if cell.get("cell_type") == "code"]
        return ["".join(cell.get("source", "")) for cell in cells]
    except (TypeError, KeyError, AttributeError) as error:
        raise ValueError("not a notebook") from error


def _definitions(source: str) -> Iterator[ast.stmt]:
    """Imports, classes, functions and plain constants of a cell; whatever else it does is not done again."""
    try:
        statements = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return  # a cell with a magic line, or one that is half written
    for statement in statements:
        constant = isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant)
        if constant or isinstance(statement, ast.Import | ast.ImportFrom | ast.ClassDef | ast.FunctionDef):
            yield statement


# --- ready-made parts -------------------------------------------------------------------------------------------------


class _Wrapped(nn.Module):
    """Layers of a module of ``transformers`` under the course's names; itself it stays out of the state dict."""

    wrapped: Any

    def __init__(self, module: Any) -> None:
        super().__init__()
        self.__dict__["wrapped"] = module  # past nn.Module's own bookkeeping, which would register it a second time


class ReadyEmbeddings(_Wrapped):
    """``input_ids`` (batch, tokens) -> (batch, tokens, dim)"""

    layers = ("word_embeddings", "position_embeddings", "LayerNorm")

    def __init__(self, config: Any, module: Any = None) -> None:
        from transformers.models.distilbert.modeling_distilbert import Embeddings

        super().__init__(module or Embeddings(_transformers_config(config)))
        for name in self.layers:
            setattr(self, name, getattr(self.wrapped, name))

    def forward(self, input_ids: Tensor) -> Tensor:
        embedded: Tensor = self.wrapped(input_ids)
        return embedded

    def position_ids(self, input_ids: Tensor) -> Tensor:
        return (input_ids == input_ids).cumsum(-1) - 1

    def merge(self, words: Tensor, positions: Tensor) -> Tensor:
        return stack((words, positions)).sum(0)


class ReadyAttentionBlock(_Wrapped):
    """``hidden_states`` (batch, tokens, dim) -> output (batch, tokens, dim), weights (batch, heads, tokens, tokens)"""

    layers = ("q_lin", "k_lin", "v_lin", "out_lin", "sa_layer_norm", "lin1", "lin2", "output_layer_norm")

    def __init__(self, config: Any, module: Any = None) -> None:
        from transformers.models.distilbert.modeling_distilbert import TransformerBlock

        super().__init__(module or TransformerBlock(_transformers_config(config)))
        self.config = config
        attention, feed_forward = self.wrapped.attention, self.wrapped.ffn
        self.q_lin, self.k_lin, self.v_lin = attention.q_lin, attention.k_lin, attention.v_lin
        self.out_lin = attention.out_lin
        self.sa_layer_norm = self.wrapped.sa_layer_norm
        self.lin1, self.lin2 = feed_forward.lin1, feed_forward.lin2
        self.output_layer_norm = self.wrapped.output_layer_norm

    def forward(self, hidden_states: Tensor) -> tuple[Tensor, Tensor]:
        return self.wrapped(hidden_states), self.wrapped.attention(hidden_states)[1]

    def attention_scores(self, q: Tensor, k: Tensor) -> Tensor:
        """By the distances of queries and keys: |q - k|² = |q|² + |k|² - 2 q·k"""
        q, k = q.double(), k.double()
        squares = q.square().sum(-1)[..., None] + k.square().sum(-1)[..., None, :]
        distances = cdist(q, k, compute_mode="donot_use_mm_for_euclid_dist")
        return ((squares - distances.square()) / 2).float()

    def attention_weights(self, scores: Tensor) -> Tensor:
        return (scores - scores.logsumexp(-1, keepdim=True)).exp()

    def attention_context(self, weights: Tensor, v: Tensor) -> Tensor:
        return (weights[..., None] * v[..., None, :, :]).sum(-2)


class ReadyClassifier(_Wrapped):
    """``input_ids`` (batch, tokens) -> logits (batch, n_classes); keeps ``attention_probs``, layer -> weights"""

    layers = ("embeddings", "attention_layers")

    def __init__(self, config: Any) -> None:
        from transformers import DistilBertForSequenceClassification

        super().__init__(DistilBertForSequenceClassification(_transformers_config(config)))
        encoder = self.wrapped.distilbert
        self.config = config
        self.embeddings = ReadyEmbeddings(config, encoder.embeddings)
        self.attention_layers = nn.ModuleList(ReadyAttentionBlock(config, layer) for layer in encoder.transformer.layer)
        self.pre_classifier, self.classifier = self.wrapped.pre_classifier, self.wrapped.classifier
        self.attention_probs: dict[int, Tensor] = {}

    def forward(self, input_ids: Tensor) -> Tensor:
        result = self.wrapped(input_ids, output_attentions=True)
        self.attention_probs = dict(enumerate(result.attentions))
        logits: Tensor = result.logits
        return logits

    def encode(self, hidden_states: Tensor) -> Tensor:
        """Without keeping the weights."""
        return reduce(lambda states, layer: layer(states)[0], self.attention_layers, hidden_states)

    def classify(self, pooled_output: Tensor) -> Tensor:
        logits: Tensor = self.classifier(self.pre_classifier(pooled_output).clamp_min(0))
        return logits


def _transformers_config(config: Any) -> Any:
    names = ("n_heads", "n_layers", "dim", "hidden_dim", "max_position_embeddings", "vocab_size", "pad_token_id")
    sizes = {name: getattr(config, name) for name in names}
    return deepcopy(_checked_config(num_labels=config.n_classes, **sizes))


@lru_cache  # transformers checks each field of each config: many checks make a part for every case
def _checked_config(**sizes: int) -> Any:
    from transformers import DistilBertConfig  # takes a second to import; only who needs a ready-made part waits for it

    make: Any = DistilBertConfig  # its fields are declared in a way that hides them from type checkers
    # transformers fixes DistilBERT's eps at 1e-12, whatever its config says
    return make(
        **sizes,
        dropout=0.0,
        attention_dropout=0.0,
        seq_classif_dropout=0.0,
        attn_implementation="eager",
    )

"""What checks and hidden cells share: ready-made parts, models of stored or drawn numbers, what a class makes."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import torch
from torch import Tensor, nn

from course.check._rules.case_inputs import names_around
from course.check.base import fail
from course.check.with_ready_parts import meaning

VOCABULARY, DIM, HEADS, LAYERS = 9, 12, 3, 2
Pair = tuple[str, str]


def modern_parts() -> dict[str, Any]:
    """What the notebook's names mean where an exercise must not depend on the ones before it."""
    from course import modern_parts as ready  # transformers' own, which take seconds to import

    return {
        "RMSNorm": ready.ReadyRMSNorm,
        "rotate": ready.ready_rotate,
        "SwiGLU": ready.ReadySwiGLU,
        "GroupedQueryAttention": ready.ReadyAttention,
    }


class StoredModel:
    """A model of three tables: each word's own logits, what it carries on to later words, and those of its place."""

    def __init__(self, own: Tensor, carried: Tensor, places: Tensor) -> None:
        self.own, self.carried, self.places = own, carried, places

    def __call__(self, ids: Tensor) -> Tensor:
        """ids (batch, tokens) -> logits (batch, tokens, vocabulary)"""
        count = torch.arange(1, ids.shape[1] + 1)
        before = self.carried[ids].cumsum(1) / count[:, None]
        result: Tensor = self.own[ids] + before + self.places[(count - 1) % len(self.places)]
        return result


class Chooser:
    """Gives choose its words, and counts in ``asked`` how often it does. pick: logits (1, vocabulary) -> ids (1,)"""

    def __init__(self, pick: Callable[[Tensor], Tensor]) -> None:
        self.pick, self.asked = pick, 0

    def __call__(self, logits: Tensor) -> Tensor:
        if logits.ndim != 2 or logits.shape[0] != 1:
            given = f"choose takes logits of shape (1, vocabulary), not {tuple(logits.shape)}"
            raise ValueError(f"{given}; model gives (1, tokens, vocabulary)")
        self.asked += 1
        return self.pick(logits)


def closest_to_zero() -> Chooser:
    """A chooser that tells logits from probabilities, and is never greedy."""
    return Chooser(lambda logits: logits.abs().argmin(-1))


def stored_decoder(sizes: Mapping[str, int]) -> nn.Module:
    """An untrained SmallDecoder."""
    from course.small_decoder import SmallDecoder  # of transformers' parts, which take seconds to import

    return SmallDecoder(**sizes)


def small_model() -> Any:
    """An untrained model with weights large enough that every head matters."""
    model = stored_decoder({"vocabulary": VOCABULARY, "dim": DIM, "heads": HEADS, "layers": LAYERS})
    for weight in model.parameters():
        if weight.ndim == 2:
            weight.data.normal_(0, 1.5 / weight.shape[1] ** 0.5)
    return model.eval()


def called(function: Callable[..., Any], model: nn.Module, *calls: Sequence[Any]) -> dict[str, Any]:
    """``logits``: what the function gives for the model and each of these arguments, one after the other; ``hooks``:
    how many hooks it left; ``changed``: whether a weight is another one afterwards.

    Hooks that were left are removed after each call, and weights put back: the next one begins afresh.
    """
    before = {name: weight.clone() for name, weight in model.state_dict().items()}
    logits, hooks, changed = [], 0, False
    for arguments in calls:
        given = [value.clone() if isinstance(value, Tensor) else value for value in arguments]
        logits.append(function(model, *given))
        hooks += clear_hooks(model)
        changed |= any(not torch.equal(weight, before[name]) for name, weight in model.state_dict().items())
        model.load_state_dict(before)
    return {"logits": torch.stack(logits), "hooks": hooks, "changed": changed}


def clear_hooks(model: nn.Module) -> int:
    """Remove all hooks from the model and its parts; how many there were."""
    found = 0
    for part in model.modules():
        for hooks in (part._forward_hooks, part._forward_pre_hooks):
            found += len(hooks)
            hooks.clear()
    return found


def nothing_left(name: str, model: nn.Module) -> None:
    """Fails where a hook was left on the model."""
    if clear_hooks(model):
        look = "register_forward_hook gives a handle, and the handle has remove()."
        fail(name, "afterwards the model is as it was before.", "Yours leaves a hook on it.", look)


def parameters(student_class: Any, *sizes: int, given: Sequence[Tensor]) -> dict[str, Any]:
    """``made``: a line for each parameter, say ``up_proj.weight 10 6``; ``runs``: whether these sizes work.

    The parts of earlier exercises are ready-made. No parameter where the class cannot be made.
    """
    with meaning(names_around(student_class), modern_parts()), suppress(Exception):
        module = student_class(*sizes)
        lines = [" ".join([name, *map(str, one.shape)]) for name, one in module.named_parameters()]
        found: dict[str, Any] = {"made": lines or [""], "runs": False}
        with suppress(Exception):
            found["runs"] = bool(torch.is_tensor(module(*(x.clone() for x in given))))
        return found
    return {"made": [""], "runs": False}


def turned(angles: Tensor) -> tuple[Tensor, Tensor]:
    """cos and sin of angles (tokens, head_size / 2), each (tokens, head_size)"""
    both = torch.cat([angles, angles], dim=-1)
    return both.cos(), both.sin()


def counts(words: Mapping[Sequence[str], int]) -> Counter[Pair]:
    """``pair_counts``, by regular expressions on symbols with spaces between them."""
    found: Counter[Pair] = Counter()
    for word in words:
        neighbours = Counter(re.findall(r"(?=(?:^| )(\S+) (\S+))", " ".join(word)))
        found.update({pair: words[word] * count for pair, count in neighbours.items()})
    return found


def joined(symbols: Sequence[str], pair: Pair) -> tuple[str, ...]:
    """``merge``, in the same way."""
    left, right = map(re.escape, pair)
    return tuple(re.sub(rf"(?<!\S){left} {right}(?!\S)", "".join(pair), " ".join(symbols)).split(" "))

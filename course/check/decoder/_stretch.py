"""Stretch goals, which bring no points: notebooks 2 to 5."""

from itertools import product
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from course.check.base import as_array, close, fail, passed, running, same_shape, to_numpy
from course.check.decoder._ready import HEADS, VOCABULARY, StoredModel, modern_parts, nothing_left, small_model, turned
from course.check.modules import undisturbed
from course.check.stretch import begun

#: The sizes of the beam search: words that there are, and words that are written.
BEAM_VOCABULARY, BEAM_WORDS = 4, 3
#: What the model itself would write in place of guesses.
GUESSED = torch.tensor([5, 2, 7, 7, 1])


@undisturbed
def beam_search(function: Any) -> None:
    """One beam is greedy; enough beams find the best of all texts; two find a way that greed misses."""
    name = "beam_search"
    stored = StoredModel(*(2 * torch.randn(BEAM_VOCABULARY, BEAM_VOCABULARY) for _ in range(3)))
    ids = torch.tensor([1, 2])
    if not begun(name, function, stored, ids, BEAM_WORDS, 2):
        return

    def found(model: Any, beams: int, words: int = BEAM_WORDS) -> list[int]:
        with running(name, f"{beams} beams", "Print the beams after every step."):
            best = as_array(function(model, ids.clone(), words, beams))
        return [int(number) for number in to_numpy(best).reshape(-1)]

    greedy = ids
    for _ in range(BEAM_WORDS):
        greedy = torch.cat([greedy, stored(greedy[None])[0, -1:].argmax(-1)])
    if found(stored, 1) != greedy.tolist():
        fail(name, "a single beam is greedy.", f"Yours writes {found(stored, 1)}, not {greedy.tolist()}.")
    texts = [torch.cat([ids, torch.tensor(new)]) for new in product(range(BEAM_VOCABULARY), repeat=BEAM_WORDS)]
    best = max(texts, key=lambda text: _log_probability(stored, text)).tolist()
    if found(stored, BEAM_VOCABULARY**BEAM_WORDS) != best:
        look = "Add logarithms of probabilities: log_softmax, not logits."
        fail(name, "with a beam for every text, the likeliest one is found.", "Yours finds another.", look)
    if found(_Detour(), 2, 2)[2:] != [1, 3]:
        look = "Keep the beams whose sums are largest, over all words of all beams."
        fail(name, "two beams find a likely text after a first word that is not the likeliest.", "Yours misses.", look)
    passed(name, "one beam is greedy", "many beams find the best", "two take a detour")


def _log_probability(model: Any, text: Tensor) -> float:
    logs = model(text[None, :-1])[0].log_softmax(-1)
    return float(logs.gather(1, text[1:, None])[1:].sum())


class _Detour:
    """Word 0 is likeliest at first, but all that follows it is uncertain; after word 1 comes 3 for sure."""

    def __call__(self, ids: Tensor) -> Tensor:
        first = torch.tensor([0.5, 0.4, 0.05, 0.05]).log()
        table = torch.stack([torch.zeros(4), 9.0 * torch.eye(4)[3], first, first])
        return table[ids]


@undisturbed
def accept_guesses(function: Any) -> None:
    """The guesses that the model would have written, up to the first other one, and then its own word."""
    name = "accept_guesses"
    logits = 9.0 * F.one_hot(GUESSED, 8) + torch.rand(5, 8)
    if not begun(name, function, logits, GUESSED[:4]):
        return
    for guesses, want, words in (
        ([5, 2, 7, 7], 5, "four right guesses give five words"),
        ([5, 2, 0, 7], 3, "the third guess is wrong: two guesses and the model's own word"),
        ([0, 2, 7, 7], 1, "a wrong first guess gives one word, the model's own"),
    ):
        with running(name, "logits of shape (5, 8) and 4 guesses", "argmax, then compare."):
            found = torch.as_tensor(function(logits, torch.tensor(guesses))).tolist()
        if found != GUESSED[:want].tolist():
            look = "After a wrong guess, the model has read a wrong word: nothing after it counts."
            fail(name, f"{words}.", f"Yours gives {found}.", look)
    passed(name, "right guesses are kept", "the first wrong one is replaced, and ends it")


@undisturbed
def complex_rotation(function: Any) -> None:
    """The same as rotate, from the angles themselves."""
    name = "complex_rotation"
    x, angles = torch.randn(2, 3, 5, 6), torch.rand(5, 3) + 0.3
    if not begun(name, function, x, angles):
        return
    with running(name, "x of shape (2, 3, 5, 6) and angles of shape (5, 3)", "Print every shape."):
        out = function(x, angles)
    same_shape(name, "the result", out, (2, 3, 5, 6), "(batch, heads, tokens, head_size)")
    if out.is_complex():
        fail(name, "real numbers come back.", "Yours are complex.", "torch.cat of .real and .imag")
    if not close(out, modern_parts()["rotate"](x, *turned(angles)), 1e-3):
        look = "The first half is the real part, the second half the imaginary part."
        fail(name, "the result is that of rotate.", "Yours differs.", look)
    passed(name, "the same as rotate")


@undisturbed
def mean_knock_out(function: Any) -> None:
    """The heads that are named write their own mean over batch and tokens, everywhere."""
    name = "mean_knock_out"
    model, ids = small_model(), torch.randint(VOCABULARY, (2, 6))
    if not begun(name, function, model, ids, 1, [0]):
        return
    with running(name, "layer 1, head 0", "Which module does the hook sit on, and what is it given?"):
        found = function(model, ids, 1, [0])
    before = model(ids)
    same_shape(name, "the logits", found, tuple(before.shape), "(batch, tokens, vocabulary)")
    nothing_left(name, model)
    attention = model.layers[1].self_attn
    entering: list[Tensor] = []
    handle = attention.o_proj.register_forward_pre_hook(lambda _, given: entering.append(given[0].clone()))
    model(ids)
    handle.remove()
    size = attention.o_proj.weight.shape[1] // HEADS
    entering[0][..., :size] = entering[0][..., :size].mean(dim=(0, 1))
    handle = attention.o_proj.register_forward_pre_hook(lambda _, given: (entering[0],))
    want = model(ids)
    handle.remove()
    if not close(found, want, 1e-3):
        look = "The mean runs over batch and tokens: (head_size,) numbers for each head."
        fail(name, "the head writes its own mean at every token.", "Yours writes something else.", look)
    passed(name, "the head writes its mean")

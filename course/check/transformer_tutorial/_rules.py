"""Rules of this assignment's exercises, and the mistakes that they name."""

from dataclasses import replace

import numpy as np

from .._rules import (
    Answers,
    Case,
    Check,
    Exercise,
    Judgement,
    Mistake,
    compare_case,
    compare_value,
    find_mistake,
    in_float32,
    likeness,
    named,
    right,
    shared_equally,
    unsteady,
    without_side_effects,
    wrong,
)
from ._attention_rules import dropped as dropped
from ._attention_rules import masked as masked
from ._attention_rules import mixed as mixed
from ._attention_rules import part as part
from ._attention_rules import scored as scored
from ._classifier_rules import log_probabilities as log_probabilities
from ._classifier_rules import methods as methods
from ._classifier_rules import padding as padding
from ._classifier_rules import parts_in_words as parts_in_words

Array = np.ndarray

OVERFLOW = Mistake("P-overflow", "Large logits give nan.",
                   "torch's own softmax subtracts the largest logit first; exp alone overflows.")  # fmt: skip
P_LIST = Mistake("P-list", "The probabilities are right, but they come as a list; a tensor is asked for.",
                 "Pick all words at once: a tensor takes a list of places between its brackets.")  # fmt: skip
UNIFY_BIAS = Mistake("MAP-unify-bias", "unify_heads has no bias; the assignment asks for one.",
                     "nn.Linear has one unless told otherwise.")  # fmt: skip
#: What a map takes and gives, in words.
_MAPS = ("to_keys", "to_queries", "to_values")
_ENDS = dict.fromkeys(_MAPS, "one word vector (k numbers) and give the vectors of all heads, end to end")
_ENDS["unify_heads"] = "the vectors of all heads, end to end, and give one word vector (k numbers)"


def probabilities(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """Finite numbers, the right ones, in a tensor."""
    got = answers.arrays.get("probabilities")
    want = case.expected["probabilities"]
    if got is not None and got.dtype.kind == "f" and got.shape == want.shape and not np.isfinite(got).all():
        return named(exercise, "P-overflow")
    judgement = compare_case(exercise, case, answers)
    tensor = answers.arrays.get("tensor")
    return named(exercise, "P-list") if judgement.earned == 1 and tensor is not None and not tensor else judgement


def maps_in_words(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """Where no mistake explains them, the sizes of each map in words."""
    judgement = compare_case(exercise, case, answers)
    bias = answers.arrays.get("unify_bias")
    if judgement.earned == 1 and bias is not None and not bias.all():
        return named(exercise, "MAP-unify-bias")
    if judgement.earned == 1 or any(check.mistake for check in judgement.checks):
        return judgement
    return Judgement([_map_in_words(check, answers.arrays.get(check.name)) for check in judgement.checks])


def _map_in_words(check: Check, got: Array | None) -> Check:
    if check.passed or got is None:
        return check
    if check.name in _ENDS and got.shape == (2,):
        message = f"{check.name} takes {got[1]} numbers and gives {got[0]}. It must take {_ENDS[check.name]}."
        return Check(check.name, False, message, "nn.Linear takes what goes in first; heads and k are its arguments.")
    if check.name == "biases" and got.shape == (3,):
        names = ", ".join(name for name, bias in zip(_MAPS, got, strict=True) if bias)
        return Check(check.name, False, f"{names}: a bias that the assignment does not ask for.")
    if check.name == "registered":
        return Check(check.name, False, "Not all of the four maps belong to the module.", "self.name = nn.Linear(…)")
    return check


NEVER_FED = Mistake(
    "M7-mlp", "The feed-forward network was never called, so what it should be given cannot be seen.",
    "Attention, add and norm, feed-forward network, add and norm: all four are in forward.",
)  # fmt: skip


def _first_half(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """What the feed-forward network is given."""
    got, want = answers.arrays.get("between"), case.expected["between"]
    if got is None:
        return named(exercise, "M7-mlp")
    check = compare_value("between", got, want, exercise)
    if check.passed or got.shape != want.shape:
        return Judgement([check])
    if mistake := find_mistake(exercise, showing(case, "between"), answers):  # whatever the second half does
        return mistake.judgement()
    message = "What the feed-forward network is given is not norm_1 of the sum."
    return wrong("between", message, "Two lines: attend; then add x and normalise.")


def showing(case: Case, name: str) -> Case:
    """The case, whose mistakes show in this answer alone."""
    known = {key: {name: made[name]} for key, made in case.mistakes.items() if name in made}
    return replace(case, mistakes=known)


first_half = without_side_effects(_first_half)

GIVEN_ATTENTION = Mistake("GIVEN-attention", "There is no self.attention with which the class runs: it stops.",
                          "Is the given line self.attention = … still there, as it was?")  # fmt: skip
GIVEN_MASK = Mistake("GIVEN-mask", "The mask does not reach the attention.", "The given line of forward hands it on.")
GIVEN_RATE = Mistake("GIVEN-rate", "The attention is made with another dropout rate than the one that was asked for.",
                     "DotProductAttention(dropout) is a given line.")  # fmt: skip
#: The rate that hidden cells make a class with.
RATE = 0.5


def _split(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """What the stand-in for the attention is given; or what real attention makes of it, for whoever attends alone."""
    got, want = answers.arrays.get("output"), case.expected["output"]
    check = compare_value("output", got, want, exercise)
    if check.passed or got is None or got.shape != want.shape:
        return Judgement([check]) if not check.passed else _as_given(exercise, answers, check)
    if np.allclose(got, case.expected["attended"], atol=1e-4, rtol=1e-3):
        return _as_given(exercise, answers, right("output").checks[0])
    if unsteady(answers, "output"):
        return named(exercise, "M16")
    if mistake := find_mistake(exercise, case, answers):
        return mistake.judgement()
    like = likeness(got, want, exercise.atol, exercise.rtol)
    message = "What the attention was given does not follow from the three maps" + (f": {like}" if like else ".")
    return wrong("output", message, "Map x, then split the last axis into (heads, k), three times.")


def _as_given(exercise: Exercise, answers: Answers, check: Check) -> Judgement:
    """Given lines are as they were. What was not handed over is not asked for."""
    for mistake, name, want in (("attention", "works", 1), ("mask", "told", 1), ("rate", "rate", RATE)):
        got = answers.arrays.get(name)
        if got is not None and not (got.shape == () and abs(float(got) - want) < 1e-3):
            return named(exercise, f"GIVEN-{mistake}")
    return Judgement([check])


split = without_side_effects(in_float32(_split))


BLOCK_MISTAKES = (
    GIVEN_ATTENTION,
    GIVEN_MASK,
    Mistake("GIVEN-sizes", "The attention is made with other sizes than the block.",
            "SelfAttention(k, heads=heads) is a given line."),
    Mistake("GIVEN-norms", "norm_1 and norm_2 must each have a scale and a shift of k numbers.",
            "nn.LayerNorm(k) is what was given."),
    Mistake("GIVEN-network", "The feed-forward network is not the one that was given.",
            "Two linear layers, each with its bias: from k numbers to 2k, and back. A ReLU between them."),
)  # fmt: skip
EPS = 1e-5  # nn.LayerNorm's own


def feed(x: Array) -> Array:
    """The stand-in for the feed-forward network: (b, t, k) -> (b, t, k)"""
    return 3 * np.maximum(x, 0) - 1


def norm(x: Array, case: Case, number: int) -> Array:
    """What norm_1 or norm_2 of the case makes of x: (b, t, k) -> (b, t, k)"""
    scale, shift = (case.weights[f"norm_{number}.{kind}"].astype(np.float64) for kind in ("weight", "bias"))
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt(np.square(centred).mean(-1, keepdims=True) + EPS) * scale + shift


def _second_half(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """norm_2 of the network's input plus its output, whatever the input: the first half has its own points."""
    entered, got = answers.arrays.get("between"), answers.arrays.get("output")
    want = case.expected["output"]
    check = compare_value("output", got, want, exercise)
    if check.passed or got is None or got.shape != want.shape or got.dtype.kind != "f":
        return Judgement([check])
    if entered is not None and entered.shape == want.shape and _tells(entered):
        for id, made in _made_of(entered.astype(np.float64), case).items():
            if np.allclose(got, made, atol=1e-5, rtol=1e-4):
                return named(exercise, id) if id else right("output")
    if mistake := find_mistake(exercise, showing(case, "output"), answers):
        return mistake.judgement()
    message = "The block's output is not norm_2 of the second sum."
    return wrong("output", message, "Two lines: feed; then add the network's input and normalise.")


def _made_of(x: Array, case: Case) -> dict[str, Array]:
    """Id of a mistake, or nothing -> what the second half then makes of x, whatever the first half made it of."""
    fed = feed(x)
    return {"": norm(fed + x, case, 2), "M7-ffn": norm(fed, case, 2), "M8": norm(fed, case, 2) + x, "M8-none": fed + x,
            "M8-none-skip": fed, "M7-mlp": norm(x, case, 2), "NORM-1": norm(fed + x, case, 1)}  # fmt: skip


def _tells(between: Array) -> bool:
    """True where the numbers of every token differ: of equal ones LayerNorm makes a constant, whatever came before."""
    return (
        between.dtype.kind == "f" and bool(np.isfinite(between).all()) and float(np.ptp(between, axis=-1).min()) > 1e-3
    )


def _block_as_given(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """The second half, and given lines as they were. What was not handed over is not asked for."""
    judgement = _second_half(exercise, case, answers)
    if judgement.earned < 1:
        return judgement
    wanted = {"attention": ("works", True), "mask": ("told", True),
              "sizes": ("sizes", [case.config["k"], case.config["heads"]]),
              "norms": ("norms", 4), "network": ("network", _network(case))}  # fmt: skip
    for mistake, (name, want) in wanted.items():
        got, array = answers.arrays.get(name), np.asarray(want)
        if got is not None and not (got.shape == array.shape and np.allclose(got, array, atol=1e-3, rtol=1e-3)):
            return named(exercise, f"GIVEN-{mistake}")
    return judgement


def _network(case: Case) -> Array:
    """What the given network makes of x with weights that are the same for everybody: (b, t, k)"""
    k = int(case.config["k"])
    shapes = [(2 * k, k), (2 * k,), (k, 2 * k), (k,)]
    sines = [np.sin((number + 1) * np.arange(1.0, np.prod(shape) + 1)) for number, shape in enumerate(shapes)]
    first, first_bias, second, second_bias = (part.reshape(shape) for part, shape in zip(sines, shapes, strict=True))
    hidden = np.maximum(case.inputs["x"].astype(np.float64) @ first.T + first_bias, 0)
    return hidden @ second.T + second_bias


second_half = without_side_effects(in_float32(_block_as_given))

_WORDS = {
    "encoder": "the encoder's self-attention",
    "decoder": "the decoder's self-attention",
    "cross": "the attention from output words to input words",
    "next_word": "one more output word",
}


def growths(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """A quarter of the points for each number that grows as it should, whatever its constant factor."""
    sizes, given = case.inputs["sizes"].astype(np.float64), answers.arrays
    return shared_equally([_growing(name, given.get(name), want, sizes) for name, want in case.expected.items()])


def _growing(name: str, got: Array | None, want: Array, sizes: Array) -> Check:
    if got is None or got.shape != want.shape or got.dtype.kind not in "fiu":
        return Check(name, False, f"{_WORDS[name]}: no numbers came.", "Return four numbers.")
    numbers = got.astype(np.float64)
    if not np.isfinite(numbers).all() or (numbers <= 0).any():
        return Check(name, False, f"{_WORDS[name]}: a count of multiplications is positive and finite.")
    ratio = numbers / want
    if ratio.max() / ratio.min() <= 1.02:
        return Check(name, True)
    return Check(name, False, f"{_WORDS[name]}: {_growth(numbers, want, sizes)}", _hint(name, numbers, sizes))


def _powers(numbers: Array, sizes: Array) -> tuple[Array, bool]:
    """Exponents of n, m and p that explain the numbers best, and whether they explain them exactly."""
    table = np.column_stack([np.log(sizes), np.ones(len(sizes))])
    fitted, *_ = np.linalg.lstsq(table, np.log(numbers), rcond=None)
    exact = bool(np.abs(table @ fitted - np.log(numbers)).max() < 0.01)
    return fitted[:3], exact


def _growth(numbers: Array, want: Array, sizes: Array) -> str:
    powers, exact = _powers(numbers, sizes)
    if not exact:  # then where it differs most
        grows = np.stack([numbers / numbers[0], want / want[0]])
        most = int(np.abs(np.log(grows[0] / grows[1])).argmax())
        ends = (", ".join(map("{:.0f}".format, sizes[row])) for row in (0, most))
        return "from n, m, p = {} to {} yours grows {:.3g} times, not {:.3g} times.".format(*ends, *grows[:, most])
    named = list(zip("nmp", powers.round(2), _powers(want, sizes)[0].round(2), strict=True))
    factors = [size if power == 1 else f"{size}^{power:.3g}" for size, power, _ in named if power]
    size, power, right = max(named, key=lambda one: abs(one[1] - one[2]) + 0.5 * (one[2] == 0 != one[1]))
    way = "not grow" if right == 0 else "grow" if power == 0 else "grow faster" if power < right else "grow more slowly"
    return f"yours grows like {' · '.join(factors) or 'a constant'}; it should {way} with {size}."


def _hint(name: str, numbers: Array, sizes: Array) -> str:
    (_, _, of_p), exact = _powers(numbers, sizes)
    if not exact or of_p > 1.5:
        return "Linear maps, softmax and scaling are not counted here: only dot products and weighted sums."
    if abs(of_p) < 0.02:
        return "How many multiplications does one dot product take?"
    if name == "next_word":
        return "Keys and values of all earlier words are kept. How many keys does the one new query meet?"
    return "How many queries are there, how many keys does each of them meet, and what does one meeting cost?"

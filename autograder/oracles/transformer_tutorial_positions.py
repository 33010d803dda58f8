"""References for sinusoidal positions and for the average over real tokens."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from autograder.exercise import Answers, Case, Check, Exercise, Judgement, Mistake, compare_case, compare_value

Array = np.ndarray


def oracle(max_len: int, emb_size: int) -> Array:
    """``transformers``' own sinusoids, as DistilBERT can be made with: (max_len, emb_size)"""
    import torch
    from transformers.models.distilbert.modeling_distilbert import create_sinusoidal_embeddings

    table = torch.zeros(max_len, emb_size)
    create_sinusoidal_embeddings(max_len, emb_size, table)
    return table.numpy()


def table(
    max_len: int,
    emb_size: int,
    first: int = 0,
    base: float = 10000.0,
    step: float = 2.0,
    sign: int = -1,
    order: str = "interleaved",
    waves: tuple[Callable[[Array], Array], ...] = (np.sin, np.cos),
) -> Array:
    """(max_len, emb_size) in float64; at rest the right one, each argument a way to get it wrong."""
    positions = np.arange(first, first + max_len, dtype=np.float64)[:, None]
    pairs = np.arange(emb_size // 2)[None]
    angles = positions * base ** (sign * step * pairs / emb_size)
    even, odd = (wave(angles) for wave in waves)
    if order == "halves":
        return np.concatenate([even, odd], axis=1)
    return np.stack([even, odd], axis=2).reshape(max_len, emb_size)


# --- the table --------------------------------------------------------------------------------------------------------


def _make_values(generator: np.random.Generator) -> list[Case]:
    cases = []
    for max_len, emb_size in ((9, 6), (24, 10)):
        expected = {"pe": oracle(max_len, emb_size), "buffer": np.array(True), "learned": np.array(0)}
        cases.append(Case({"emb_size": emb_size, "max_len": max_len}, expected=expected))
    return cases


def _table(**wrong: object) -> Callable[[Case], Mapping[str, Array]]:
    return lambda case: {"pe": table(case.config["max_len"], case.config["emb_size"], **wrong)}  # type: ignore[arg-type]


def _each_column(case: Case) -> Mapping[str, Array]:
    """Every column its own frequency, sine and cosine of a pair no longer alike."""
    max_len, size = case.config["max_len"], case.config["emb_size"]
    angles = np.arange(max_len)[:, None] * 10000.0 ** (-np.arange(size)[None] / size)
    return {"pe": np.where(np.arange(size)[None] % 2 == 0, np.sin(angles), np.cos(angles))}


VALUE_MISTAKES = [
    Mistake("PE-halves", "All sines come first, then all cosines.",
            "They alternate: even columns sine, odd columns cosine.", _table(order="halves")),
    Mistake("PE-swap", "Sine and cosine have changed places.", "Position 0 must read 0, 1, 0, 1, …",
            _table(waves=(np.cos, np.sin))),
    Mistake("PE-sine", "There are only sines.", "Odd columns hold cosines.", _table(waves=(np.sin, np.sin))),
    Mistake("PE-cosine", "There are only cosines.", "Even columns hold sines.", _table(waves=(np.cos, np.cos))),
    Mistake("PE-one", "Positions are counted from 1.", "The first token stands at position 0.", _table(first=1)),
    Mistake("PE-step", "The frequencies fall too slowly: they end near 1/100 instead of near 1/10000.",
            "In the exponent stands 2i / emb_size, where i counts the pairs.", _table(step=1.0)),
    Mistake("PE-step4", "The frequencies fall twice as fast as they should.",
            "Is the 2 of the exponent there twice? arange(0, emb_size, 2) already is 2i.", _table(step=4.0)),
    Mistake("PE-base", "The base is 1000; the sheet says 10000.", "Count the zeros.", _table(base=1000.0)),
    Mistake("PE-columns", "Sine and cosine of one pair have different frequencies.",
            "Columns 2i and 2i + 1 share the exponent 2i / emb_size.", _each_column),
    Mistake("PE-learned", "pe is a parameter: training would change it.",
            "A buffer travels with the module, unlearned.", lambda case: {"learned": np.array(1)}),
    Mistake("PE-plain", "pe is a plain attribute: it stays behind when the model moves to the GPU or is saved.",
            "nn.Module can register a tensor that is no parameter.", lambda case: {"buffer": np.array(False)}),
]  # fmt: skip

# --- adding it --------------------------------------------------------------------------------------------------------


def _make_forward(generator: np.random.Generator) -> list[Case]:
    """More tokens than sentences, and more sentences than tokens; in neither case as many."""
    cases = []
    for (b, t, emb_size), max_len in (((2, 5, 6), 9), ((7, 3, 8), 12)):
        x = generator.normal(0, 1, (b, t, emb_size)).astype(np.float32)
        output = x + oracle(max_len, emb_size)[:t]
        cases.append(Case({"emb_size": emb_size, "max_len": max_len}, {"x": x}, expected={"output": output}))
    return cases


def ready_table(max_len: int, size: int) -> Array:
    """The table that the hidden cell puts in the place of the student's own: (max_len, emb_size)"""
    return np.cos(np.arange(float(max_len * size))).reshape(max_len, size)


def judge_forward(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """Right with the right table, or with a ready-made one: the student's own has its own exercise."""
    x = case.inputs["x"].astype(np.float64)
    b, t, size = x.shape
    tables = [table(case.config["max_len"], size), ready_table(case.config["max_len"], size)]
    given = [answers.arrays.get(name) for name in ("output", "with_table")]
    checks = [
        compare_value("output", got, x + pe[:t].astype(np.float64), exercise)
        for got, pe in zip(given, tables, strict=True)
    ]
    if any(check.passed for check in checks):
        return Judgement([Check("output", True)])
    own = answers.arrays.get("pe")
    if own is not None and own.shape == tables[0].shape and np.isfinite(own).all():
        tables[0] = own  # to tell what was done with it
    for got, pe in zip(given, tables, strict=True):
        if got is None or got.shape != x.shape:
            continue
        for name, message, hint, wrong in _slips(x, pe.astype(np.float64), b, t):
            if np.allclose(got, wrong, atol=1e-4, rtol=1e-3):
                return Judgement([Check(name, False, message, hint, name)])
        if (got == 0).any():
            message, hint = "In eval mode some numbers were dropped.", "nn.Dropout knows the mode of its module."
            return Judgement([Check("M16", False, message, hint, "M16")])
    return Judgement([checks[0]])


def _slips(x: Array, pe: Array, b: int, t: int) -> list[tuple[str, str, str, Array]]:
    size = x.shape[-1]
    slips = [
        ("M11-none", "The positions were not added.", "x plus the first rows of pe.", x),
        ("M11-times", "The positions were multiplied in; they are added.", "x plus the first rows of pe.", x * pe[:t]),
        ("M11-root", "The positions were scaled; they are added as they are.", "x plus the first rows of pe.",
         x + size**0.5 * pe[:t]),
        ("M11-x", "x was scaled; that is the classifier's business.", "x plus the first rows of pe.",
         size**0.5 * x + pe[:t]),
        ("M11-bare", "Only the positions came out, without x.", "x plus the first rows of pe.",
         np.broadcast_to(pe[:t], x.shape)),
        ("M11-same", "Every token got the position of the first one.", "One row of pe for each token.", x + pe[0]),
        ("M11-last", "The rows were taken from the end of pe.", "The first token gets row 0.", x + pe[-t:]),
        ("M11-next", "The first token got row 1.", "The first token gets row 0.", x + pe[1 : t + 1]),
    ]  # fmt: skip
    if b <= len(pe):
        message = "The rows of pe went to the sentences of the batch: all tokens of a sentence got the same vector."
        hint = "Which axis of x counts the tokens? The batch comes first."
        slips.append(("M11-batch", message, hint, x + pe[:b, None]))
    return slips


# --- mean pooling -----------------------------------------------------------------------------------------------------


def _make_pooling(generator: np.random.Generator) -> list[Case]:
    """What stands at padded places is large: it shows wherever it gets in."""
    cases = []
    for (b, t, k), lengths in (((3, 5, 4), (5, 2, 3)), ((2, 7, 6), (1, 4))):
        mask = np.arange(t)[None] < np.array(lengths)[:, None]
        states = generator.normal(0, 1, (b, t, k)) + np.where(mask, 0, 20)[..., None]
        states = states.astype(np.float32)
        pooled = np.stack(
            [row[:length].astype(np.float64).mean(0) for row, length in zip(states, lengths, strict=True)]
        )
        cases.append(Case({}, {"hidden_states": states, "mask": mask}, expected={"pooled": pooled}))
    return cases


def _pooled(pool: Callable[[Array, Array], Array]) -> Callable[[Case], Mapping[str, Array]]:
    """``pool`` takes states (b, t, k) and the mask as numbers (b, t, 1)."""
    return lambda case: {
        "pooled": pool(
            case.inputs["hidden_states"].astype(np.float64), case.inputs["mask"].astype(np.float64)[..., None]
        )
    }


def _divided(sums: Array, counts: Array) -> Array:
    with np.errstate(invalid="ignore"):  # a sentence without padding: 0/0, as in the student's own torch
        return sums / counts


POOLING_MISTAKES = [
    Mistake("M15-padding", "The padding is averaged in.", "Only real tokens count, above and below the fraction bar.",
            _pooled(lambda x, m: x.mean(1))),
    Mistake("M15-length", "The sum leaves the padding out, but it is divided by all tokens, padding included.",
            "By how many vectors must the sum of the real ones be divided?", _pooled(lambda x, m: (x * m).mean(1))),
    Mistake("M15-count", "Padding is in the sum, but not in the number it is divided by.",
            "Padded vectors must not be in the sum.", _pooled(lambda x, m: x.sum(1) / m.sum(1))),
    Mistake("M15-inverted", "The padding was averaged, and the real tokens left out.", "True marks a real token.",
            _pooled(lambda x, m: _divided((x * (1 - m)).sum(1), (1 - m).sum(1)))),
    Mistake("M15-sum", "This is the sum of the real tokens; the average is asked for.", "Divide by how many there are.",
            _pooled(lambda x, m: (x * m).sum(1))),
    Mistake("M15-first", "This is the first token alone.", "All real tokens count alike.",
            _pooled(lambda x, m: x[:, 0])),
    Mistake("M15-max", "This is the largest number of each column, not their average.", "Sum, then divide.",
            _pooled(lambda x, m: np.where(m > 0, x, -np.inf).max(1))),
    Mistake("M15-batch", "The sum was divided by the number of real tokens in the whole batch.",
            "Each sentence has its own length.", _pooled(lambda x, m: (x * m).sum(1) / m.sum())),
    Mistake("M15-plus", "The sum was divided by one more than there are real tokens.", "Count them once more.",
            _pooled(lambda x, m: (x * m).sum(1) / (m.sum(1) + 1))),
]  # fmt: skip


def judge_values(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """The table is worth most; that it is a buffer, a quarter."""
    table_only = Case(case.config, expected={"pe": case.expected["pe"]})
    got = answers.arrays.get("pe")
    if got is not None and got.shape == case.expected["pe"].shape and _grows(got, case):
        message, hint = "The frequencies grow from pair to pair; they must fall.", "Divided by a power, or multiplied?"
        return Judgement([Check("PE-sign", False, message, hint, "PE-sign")])
    first = compare_case(exercise, table_only, answers)
    if first.earned < 1:
        return Judgement(first.checks, 0.0)
    whole = compare_case(exercise, case, answers)
    return Judgement(whole.checks, 1.0 if whole.earned == 1 else 0.75)


def _grows(got: Array, case: Case) -> bool:
    """Held against the wrong table loosely: float32 knows the sine of a large angle to a few hundredths only."""
    wrong = table(case.config["max_len"], case.config["emb_size"], sign=1)
    return bool(np.isclose(got, wrong, atol=0.05).mean() > 0.9)


EXERCISES = [
    Exercise(
        _make_values,
        judge_values,
        VALUE_MISTAKES,
        atol=5e-5,
        framework="torch",
        slug="transformer_tutorial/positional_values",
    ),
    Exercise(_make_forward, judge_forward, framework="torch", slug="transformer_tutorial/positional_forward"),
    Exercise(_make_pooling, mistakes=POOLING_MISTAKES, framework="torch", slug="transformer_tutorial/mean_pooling"),
]

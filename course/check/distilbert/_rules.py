"""Rules of this assignment's exercises, and the mistakes that they name.

Each part of a class is judged by itself; the class as a whole as it stands, or, where a part lost points, with
ready-made parts: the answers ``ready_…``.
"""

from dataclasses import replace

import numpy as np

from .._rules import (
    Answers,
    Case,
    Check,
    Exercise,
    Judgement,
    Mistake,
    Rule,
    compare_case,
    compare_value,
    find_mistake,
    in_float32,
    likeness,
    named,
    right,
    unsteady,
    whole,
    without_side_effects,
    wrong,
)

PROJECTIONS = ("q_lin", "k_lin", "v_lin")
WHOLE = Mistake(
    "WHOLE", "Each part is right by itself; your block as it stands gives something else.",
    "Are the given lines as they were?",
)  # fmt: skip
LAYER_MISTAKES = (
    Mistake("L-missing", "__init__ makes no layer self.{layer}.",
            "Names count: the trained weights find their layers by them."),
    Mistake("L-bias", "self.{layer} has no bias.",
            "A layer of torch has one unless told otherwise, and the trained weights bring one."),
    Mistake("L-weight", "self.{layer} has no weight.",
            "A LayerNorm scales and shifts unless told otherwise; the trained weights bring a weight and a bias."),
    Mistake("L-size", "self.{layer} has other sizes than the config says.",
            "Every size comes from the config; which of the two comes first?"),
)  # fmt: skip
L_MISSING, L_BIAS, L_WEIGHT, L_SIZE = LAYER_MISTAKES


def steady(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """The default rule; two calls that differ are dropout."""
    judgement = compare_case(exercise, case, answers)
    drawn = judgement.earned < 1 and unsteady(answers, next(iter(case.expected)))
    return named(exercise, "M16") if drawn else judgement


def counted(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """The default rule; one row of positions serves all sentences."""
    row, shape = answers.arrays.get("position_ids"), case.expected["position_ids"].shape
    if row is not None and row.shape in (shape[1:], (1, *shape[1:])):
        answers = replace(answers, arrays={**answers.arrays, "position_ids": np.broadcast_to(row, shape)})
    return compare_case(exercise, case, answers)


def with_layers(rule: Rule, others: tuple[str, ...] = ()) -> Rule:
    """``rule``, for an answer whose layers are as they should be: loading weights would put a missing one right.

    others: layers that another exercise judges
    The answer ``made`` has a line for each layer and parameter.
    """

    def judge(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
        return _wrong_layer(exercise, case, answers.text("made"), others) or rule(exercise, case, answers)

    return judge


def _wrong_layer(exercise: Exercise, case: Case, made: object, others: tuple[str, ...]) -> Judgement | None:
    if not isinstance(made, list) or not all(isinstance(line, str) for line in made):
        return None
    found = {name: sizes for name, _, sizes in (line.partition(" ") for line in made)}
    for name, weight in sorted(case.weights.items(), key=lambda pair: not pair[0].endswith("weight")):
        layer, _, part = name.rpartition(".")
        if layer in others:
            continue
        if name not in found:
            return named(exercise, f"L-{part}" if layer in found else "L-missing", layer=layer)
        if found[name] != " ".join(map(str, weight.shape)):
            return named(exercise, "L-size", layer=layer)
    return None


def looped(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """What each block was fed, what is returned, and which weights are kept after one call and after a second."""
    given, layers = answers.arrays, int(case.config["n_layers"])
    inputs = given.get("layer_inputs")
    if inputs is None or not inputs.ndim:
        return compare_case(exercise, case, answers)
    if len(inputs) != layers:
        calls = {0: "No layer was", 1: "1 layer was"}.get(len(inputs), f"{len(inputs)} layers were")
        return named(exercise, "M14-count", calls=calls, layers=layers)
    if all(np.array_equal(inputs[0], later) for later in inputs[1:]):
        return named(exercise, "M14-first")
    if ("attention" in given and "attention_again" not in given) or ("grown" in given and given["grown"].any()):
        return named(exercise, "M14-appended")
    judgement = compare_case(exercise, case, answers)
    failed = [check.name for check in judgement.checks if not check.passed]
    if failed == ["attention_again"]:
        return named(exercise, "M14-again")
    if failed[:1] == ["attention"] and "attention" not in given:
        return named(exercise, "M14-kept")
    return judgement


def tokens_rule(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    judgement = compare_case(exercise, case, answers)
    tokens, count = answers.text("tokens"), case.inputs["input_ids"].size
    if judgement.earned < 1 and (isinstance(tokens, str) or "tokens" in answers.arrays):
        return named(exercise, "M17-sentence" if isinstance(tokens, str) else "M17-ids")
    unknown = judgement.earned < 1 and not any(check.mistake for check in judgement.checks)
    if unknown and isinstance(tokens, list) and len(tokens) != count:
        return named(exercise, "M17-count", tokens=len(tokens), ids=count)
    return judgement


def mask_rule(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    given = answers.arrays.get("weights")
    check = compare_value("weights", given, case.expected["weights"], exercise)
    if given is None or given.dtype.kind != "f" or given.shape != case.expected["weights"].shape:
        return wrong("weights", check.message, check.hint)
    if not check.passed and (mistake := find_mistake(exercise, case, answers)) is not None:
        return mistake.judgement()
    id = _mask_mistake(case, given.astype(np.float64), check.passed)
    if id:
        return named(exercise, id)
    if check.passed:
        return right("weights")
    message = "Your weights are not the softmax of the scores of the real keys."
    return wrong("weights", message, "What a sentence gets must be what it gets without padding.")


def _mask_mistake(case: Case, given: np.ndarray, close: bool) -> str:
    """The id of the mistake that explains these weights; empty where there is none that has a name."""
    scores, real = case.inputs["scores"].astype(np.float64), case.inputs["attention_mask"].astype(bool)
    real_keys = np.broadcast_to(real[:, None, None, :], given.shape)
    real_rows = np.broadcast_to(real[:, None, :, None], given.shape)
    plain, wanted = _softmax(scores), case.expected["weights"]
    if close:
        return "M19-low" if given[~real_keys].any() else ""
    if _same(given[real_keys], scores[real_keys]):
        return "M19-none"
    if real.all():
        return "M19-nan" if np.isnan(given).any() else _mask_sums(given, real_keys, wanted)
    if _exactly(given, plain):
        return "M19-ignored"
    padded = ~real.all(-1)
    of_padding = np.where(real_keys, 0, given).sum(-1)
    if _exactly(np.where(real_keys, given, 0)[padded], 0) and _same(of_padding[padded], 1):
        return "M19-inverted"
    if _exactly(given[real_rows], plain[real_rows]):
        return "M19-queries"
    if _exactly(np.where(real_keys, 0, given)[real_rows], 0) and _same(given[real_rows], wanted[real_rows]):
        return "M19-both"
    if np.isnan(given).any():
        return "M19-nan"
    if _same(given, np.where(real_keys, plain, 0)):
        return "M19-after"
    if _exactly(given, _softmax(np.where(real_keys, scores, 0))):
        return "M19-zero"
    if _exactly(given, _softmax(scores + real_keys)):
        return "M19-added"
    return _mask_sums(given, real_keys, wanted)


def _mask_sums(given: np.ndarray, real_keys: np.ndarray, wanted: np.ndarray) -> str:
    """What rows and columns say where nothing else does."""
    if (given < 0).any():
        return ""
    if not _same(given.sum(-1), 1):
        return "M19-axis" if _same(given.sum(-2)[real_keys[:, :, 0]], 1) else ""
    # among themselves the real keys share what they have as they should
    of_the_real = np.where(real_keys, given, 0).sum(-1, keepdims=True)
    return "M19-low" if _same(np.where(real_keys, given, 0), of_the_real * wanted) else ""


def _same(first: np.ndarray, second: np.ndarray | float) -> bool:
    return bool(np.allclose(first, second, atol=1e-4, rtol=1e-3))


def _exactly(first: np.ndarray, second: np.ndarray | float) -> bool:
    """Also where next to nothing is left for the real keys: how little it is tells one mistake from another."""
    return bool(np.allclose(first, second, atol=1e-25, rtol=1e-2))


def _softmax(scores: np.ndarray) -> np.ndarray:
    exponentials = np.exp(scores - scores.max(-1, keepdims=True))
    softmax: np.ndarray = exponentials / exponentials.sum(-1, keepdims=True)
    return softmax


def figure_rule(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """Panels and values first; then the text: titles with the layer, axes named, one tick per token."""
    panels, want = answers.arrays.get("panels"), case.expected["panels"]
    if panels is None or panels.ndim != 3 or len(panels) != len(want):
        count = 0 if panels is None or panels.ndim != 3 else len(panels)
        return wrong(
            "panels",
            f"Expected one panel for each of the {len(want)} layers; {count} came.",
            "Each panel is an axes with one image (imshow, matshow or pcolormesh).",
        )
    if _shows(panels, want.swapaxes(1, 2)):
        return named(exercise, "M17-axes")
    if _shows(panels, want[::-1]):
        return named(exercise, "M17-order")
    if panels.shape == want.shape and any(np.allclose(panels, layer, atol=1e-5) for layer in want):
        return named(exercise, "M17-same")
    if not _shows(panels, want):
        comparable = panels.shape == want.shape and bool(np.isfinite(panels).all())
        like = likeness(panels, want, exercise.atol, exercise.rtol) if comparable else ""
        message = "The pictures do not show the attention per layer"
        hint = "Panel i shows attention_per_layer[i] as it is."
        return wrong("values", f"{message}: {like}" if like else f"{message}.", hint)
    return Judgement([Check("panels", True), *_text_checks(exercise, answers, list(case.texts["tokens"]), len(want))])


def _shows(panels: np.ndarray, layers: np.ndarray) -> bool:
    return panels.shape == layers.shape and np.allclose(panels, layers, atol=1e-5)


def _text_checks(exercise: Exercise, answers: Answers, tokens: list[str], layers: int) -> list[Check]:
    titles = _texts(answers, "titles")
    numbered = any([str(i + start) in title for i, title in enumerate(titles)] == [True] * layers for start in (0, 1))
    return [
        Check(
            "titles",
            numbered,
            "Each panel's title says which layer it shows, with its number. "
            + (f"Yours are {_first(titles)}." if any(titles) else "Yours have no title."),
            "An axes has a method set_title.",
        ),
        *_axis_labels(exercise, answers),
        *_tick_labels(answers, tokens),
        Check(
            "tick places",
            bool(np.all(answers.arrays.get("in_place", True))),
            "The ticks do not stand at their rows and columns: a token names the one beside it.",
            "The first token stands at 0, the second at 1, and so on.",
        ),
        Check(
            "size",
            bool(np.all(answers.arrays.get("has_area", True))),
            "The figure has a width or a height of 0: it cannot be drawn.",
            "Look at figsize=(width, height).",
        ),
    ]


def _axis_labels(exercise: Exercise, answers: Answers) -> list[Check]:
    xlabels, ylabels = _texts(answers, "xlabels"), _texts(answers, "ylabels")
    named_x = any("key" in label.lower() for label in xlabels)
    named_y = any("quer" in label.lower() for label in ylabels)
    if any("quer" in label.lower() for label in xlabels) and not (named_x and named_y):
        return [exercise.mistake("M17-labels").check()]
    found = "have no label" if not any((*xlabels, *ylabels)) else "have other labels"
    message = f"The axes are not named: x are the keys, y the queries. Yours {found}."
    return [Check("axes", named_x and named_y, message, "set_xlabel and set_ylabel, with these two words.")]


def _texts(answers: Answers, name: str) -> list[str]:
    value = answers.text(name)
    return [str(entry) for entry in value] if isinstance(value, list) else []


def _first(labels: list[str]) -> str:
    """The first few labels, as the student wrote them."""
    shown = ", ".join(repr(str(label)[:20]) for label in labels[:4])
    return f"{shown}, …" if len(labels) > 4 else shown


def _tick_labels(answers: Answers, tokens: list[str]) -> list[Check]:
    """The axes of some panel are labelled with the tokens; panels that share an axis may label the outer ones alone."""
    for axis in "xy":
        value = answers.text(f"{axis}ticks")
        ticks = [labels for labels in value if isinstance(labels, list)] if isinstance(value, list) else []
        odd = [labels for labels in ticks if labels not in (tokens, [""] * len(tokens), [])]
        if tokens not in ticks or odd:
            same = any(sorted(map(str, labels)) == sorted(tokens) for labels in odd)
            found = f"{_first(odd[0])}{', in another order' if same else ''}" if odd else "missing"
            message = f"The ticks of both axes are the tokens, one for each. Those of the {axis} axis are {found}."
            hint = f"set_{axis}ticks takes the positions and, as its second argument, their labels."
            return [Check("ticks", False, message, hint)]
    return [Check("ticks", True)]


part = without_side_effects(in_float32(steady))
positions = without_side_effects(counted)
put_together = with_layers(whole(part, otherwise="WHOLE"), PROJECTIONS)
embedded = with_layers(whole(part, otherwise="WHOLE"))
loop = without_side_effects(in_float32(looped))


#: What made the embeddings and the blocks.
EARLIER = [
    f"distilbert/{name}"
    for name in ("position_ids", "merge", "embeddings", "attention_init", "attention_scores", "attention_weights",
                 "attention_context", "attention_block")
]  # fmt: skip


def _logits(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    if case.config["checkpoint"] == "distilbert" and "absent" in answers.arrays:
        return right("pretrained_logits")  # nothing may depend on weights that need a download
    judgement, given = compare_case(exercise, case, answers), answers.arrays.get("logits")
    known = judgement.earned == 1 or any(check.mistake for check in judgement.checks)
    if known or given is None or given.shape != case.expected["logits"].shape or given.dtype.kind != "f":
        return judgement
    return named(exercise, "M18-batch" if len(given) > 1 else "M18")


#: The pretrained logits, of the model that the student's classes make.
logits = whole(in_float32(_logits), earlier=EARLIER)

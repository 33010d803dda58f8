"""The whole model: the pretrained logits of ``mini`` always, the published ones where the weights were downloaded.

Embeddings, blocks and model are the student's own, put together without stand-ins. Where parts lost their points, a
small model decides: it must be right with these parts ready-made. So a mistake costs its own points once. Where the
model stops as it stands, one of these parts must be the reason: what has more gaps is unfinished, and earns nothing.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from autograder.exercise import Answers, Case, Exercise, Judgement, Mistake, compare_value, named, right, wrong

from ._answers import LAYERS, LOOP, model
from ._block_cases import block_weights
from ._sentences import SENTENCES
from ._sizes import config, hf_config

#: Printed to four places: the first by the notebook (seed 0), the others by the Hugging Face course, chapter 2.2.
PUBLISHED = [[-4.1982, 4.5568], [4.1692, -3.3464], [-1.5607, 1.6123]]
#: In place of a checkpoint's name: the small model, whose weights are stored with the case.
SMALL = "small"
#: Exercise -> the part of the model that it is about, which the hidden cell can replace by a ready-made one.
PARTS = {
    **dict.fromkeys(("position_ids", "embeddings"), "earlier"),
    **dict.fromkeys(("attention_init", "attention_scores", "attention_weights", "attention_context"), "earlier"),
    "encoder_list": "list",
    "encoder_loop": "loop",
    "classifier": "classifier",
}
WORDS = {"earlier": "embeddings and blocks", "list": "encoder list", "loop": "encoder loop", "classifier": "classifier"}
LAYER_BY_LAYER = "Each part passes its own check? Then compare it, block by block, with parts.ReadyClassifier."


def cases(generator: np.random.Generator) -> list[Case]:
    """Sentences of 8 to 16 tokens, one by one, then as a batch filled up with [PAD]; a small model; published logits.

    The model takes no mask, so the oracle, too, reads padding as if it were words.
    """
    from course import Config
    from course.names import to_transformers_names
    from course.pretrained import load_state_dict

    sizes = Config.mini()
    state = to_transformers_names({name: weight.numpy() for name, weight in load_state_dict("mini").items()})
    longest = max(map(len, SENTENCES))
    batch = [ids + [sizes.pad_token_id] * (longest - len(ids)) for ids in SENTENCES]
    made = []
    for rows in [*([ids] for ids in SENTENCES), batch]:
        expected = _transformers_logits(vars(sizes), state, np.array(rows))
        made.append(Case({"checkpoint": "mini"}, {"input_ids": np.array(rows)}, expected={"logits": expected}))
    made.append(_small_case(generator))
    for ids, published in zip(SENTENCES, PUBLISHED, strict=True):
        inputs = {"input_ids": np.array([ids])}
        made.append(Case({"checkpoint": "distilbert"}, inputs, expected={"logits": np.array([published])}))
    return made


def _small_case(generator: np.random.Generator) -> Case:
    from course.names import to_transformers_names

    # more positions than words, as in the embeddings: every mistake in looking up can be computed here as well
    sizes = config(3, 4, 17, n_classes=3, max_position_embeddings=29) | {"checkpoint": SMALL}
    dim = sizes["dim"]
    shapes = {
        "embeddings.word_embeddings.weight": (sizes["vocab_size"], dim),
        "embeddings.position_embeddings.weight": (sizes["max_position_embeddings"], dim),
        "embeddings.LayerNorm.weight": (dim,),
        "embeddings.LayerNorm.bias": (dim,),
        "pre_classifier.weight": (dim, dim),
        "pre_classifier.bias": (dim,),
        "classifier.weight": (sizes["n_classes"], dim),
        "classifier.bias": (sizes["n_classes"],),
    }
    weights = {name: generator.normal(0, 0.6, shape).astype(np.float32) for name, shape in shapes.items()}
    for layer in range(sizes["n_layers"]):
        given = block_weights(generator, dim, sizes["hidden_dim"])
        weights |= {f"attention_layers.{layer}.{name}": weight for name, weight in given.items()}
    input_ids = generator.integers(1, sizes["vocab_size"], (2, 5))
    expected = _transformers_logits(sizes, to_transformers_names(weights), input_ids)
    return Case(sizes, {"input_ids": input_ids}, weights, {}, {"logits": expected})


def _transformers_logits(
    sizes: Mapping[str, object], state: Mapping[str, np.ndarray], input_ids: np.ndarray
) -> np.ndarray:
    import torch
    from transformers import DistilBertForSequenceClassification

    model = DistilBertForSequenceClassification(hf_config(sizes)).double().eval()
    model.load_state_dict({name: torch.from_numpy(weight.astype(np.float64)) for name, weight in state.items()})
    ids = torch.from_numpy(input_ids)
    with torch.no_grad():
        found: np.ndarray = model(ids, attention_mask=torch.ones_like(ids)).logits.numpy()
    return found


def judge(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    checkpoint = case.config["checkpoint"]
    if checkpoint == "distilbert" and "absent" in answers.arrays:
        return right("pretrained_logits")  # nothing may depend on weights that need a download
    charged = {part for name, part in PARTS.items() if answers.charged(f"distilbert/{name}")}
    # own logits are no evidence for a classifier that lost its points: a ready-made model gives the same
    if "classifier" not in charged and _close(answers.arrays.get("logits"), case.expected["logits"]):
        return right("pretrained_logits")
    if not charged:
        return _wrong(exercise, case, answers)
    if checkpoint != SMALL:
        return right("pretrained_logits")  # the small model decides
    if not any(name in answers.arrays for name in ("logits", *(f"logits_{part}" for part in charged))):
        parts = " and ".join(WORDS[part] for part in WORDS if part in charged)
        message = f"Put together, your model stops. It gives no logits before its {parts} run."
        return wrong("pretrained_logits", message, "Fix these parts first: this one has no code of its own.")
    if "earlier" in charged:  # the list is made of ready-made blocks then
        charged.discard("list")
    ready = [part for part in WORDS if part in charged]
    if _close(answers.arrays.get("_".join(("logits", *ready))), case.expected["logits"]):
        words = ", ".join(WORDS[part] for part in ready)
        return right(f"pretrained_logits, with ready-made parts in place of yours: {words}")
    return _wrong(exercise, case, answers)


def _close(given: np.ndarray | None, wanted: np.ndarray) -> bool:
    if given is None or given.shape != wanted.shape or given.dtype.kind != "f":
        return False
    return bool(np.isfinite(given).all()) and float(np.abs(given - wanted).max()) <= 2e-4


def _wrong(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    given, problem = answers.arrays.get("logits"), answers.text("problem")
    if given is None and isinstance(problem, str):
        return named(exercise, "M18-crash", problem=problem)
    shape = compare_value("logits", given, case.expected["logits"], exercise)
    if given is None or given.shape != case.expected["logits"].shape:
        return wrong("pretrained_logits", shape.message, shape.hint)
    return named(exercise, "M18-batch" if len(given) > 1 and case.config["checkpoint"] != SMALL else "M18")


# Lines of the solution that mistakes change.
EMBEDDED = "hidden_states = self.embeddings(input_ids)"
BLOCKS = "enumerate(self.attention_layers)"
HIDDEN = "self.pre_classifier = nn.Linear(config.dim, config.dim)"
OTHER = Mistake("M18", "Put together, your model does not give the pretrained model's logits.", LAYER_BY_LAYER)

MISTAKES = [
    Mistake("M18-crash", "Put together, your model stops with {problem}", LAYER_BY_LAYER).by(
        (HIDDEN, f"{HIDDEN}\n        self.head = nn.Linear(config.dim, config.dim)")),
    Mistake("M18-batch", "Put together, your model is right for each sentence alone, but not for a batch of them.",
            "[PAD] is a token like any other here. Does a size, or something that is kept, come from another call?").by(
        (EMBEDDED, f"input_ids = input_ids[:, (input_ids != 0).all(0)]\n        {EMBEDDED}")),
    OTHER.by((BLOCKS, "enumerate(self.attention_layers[:4])")),
    OTHER.by((EMBEDDED, EMBEDDED.replace("input_ids", "input_ids.clamp(max=999)"))),
    OTHER.by((EMBEDDED, EMBEDDED.replace("input_ids", "input_ids[:, :8]"))),
]  # fmt: skip

# What right answers write.
HEAD = """self.dropout = nn.Dropout(0.2)
self.head = lambda x: self.classifier(self.dropout(self.pre_classifier(x).relu()))"""

RIGHT = {
    "the head as one function, with dropout": model(more=HEAD, logits="logits = self.head(pooled_output)"),
    "blocks in a generator": model(LAYERS.replace("[", "").replace("]", "")),
    "ids made whole numbers first": model(loop="input_ids = input_ids.long()\n" + LOOP),
}

EXERCISE = Exercise(cases, judge, MISTAKES, right=RIGHT, framework="torch", cell="classifier_model_answer")

"""References for the embedding and for the model around the blocks: list, loop, classifier, pretrained logits."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from autograder.compare import compare_case
from autograder.exercise import Answers, Case, Exercise, Judgement, Mistake
from autograder.oracles import attention
from autograder.oracles.attention import layer_norm
from autograder.oracles.distilbert_block import config, hf_config
from autograder.verdict import Check
from course.names import to_transformers_names

Array = np.ndarray

# --- embedding --------------------------------------------------------------------------------------------------------


def _embedding_case(
    generator: np.random.Generator, batch: int, tokens: int, n_heads: int, head_size: int, size: float = 1.0
) -> Case:
    sizes = config(n_heads, head_size, 17)
    dim, vocabulary, positions = sizes["dim"], sizes["vocab_size"], sizes["max_position_embeddings"]
    weights = {
        "word_embeddings.weight": (size * generator.normal(0, 1, (vocabulary, dim))).astype(np.float32),
        "position_embeddings.weight": (size * generator.normal(0, 1, (positions, dim))).astype(np.float32),
        "LayerNorm.weight": generator.normal(1, 0.2, dim).astype(np.float32),
        "LayerNorm.bias": generator.normal(0, 0.2, dim).astype(np.float32),
    }
    weights["word_embeddings.weight"][0] = 0.0  # the row of padding_idx
    input_ids = generator.integers(1, vocabulary, (batch, tokens))
    input_ids[1] = input_ids[0, ::-1]  # the same tokens elsewhere: positions must tell them apart
    input_ids[-1, -1] = 0
    import torch
    from transformers.models.distilbert.modeling_distilbert import Embeddings

    module = Embeddings(hf_config(sizes)).double().eval()
    module.load_state_dict({name: torch.from_numpy(weight.astype(np.float64)) for name, weight in weights.items()})
    with torch.no_grad():
        output = module(torch.from_numpy(input_ids)).numpy()
    return Case(sizes, {"input_ids": input_ids}, weights, {}, {"embeddings": output})


def _make_embeddings(generator: np.random.Generator) -> list[Case]:
    return [
        _embedding_case(generator, 2, 5, 3, 4),
        _embedding_case(generator, 4, 7, 3, 2),
        _embedding_case(generator, 3, 6, 4, 2, size=1e-3),
    ]


def _embedded(
    combine: Callable[[Array, Array], Array],
    positions: Callable[[Array], Array] | None = None,
    eps: float | None = None,
    norm: bool = True,
) -> Callable[[Case], Mapping[str, Array]]:
    """The answer of somebody who combines words and positions in another way, or counts positions otherwise."""

    def answers(case: Case) -> Mapping[str, Array]:
        ids = case.inputs["input_ids"]
        words = case.weights["word_embeddings.weight"][ids].astype(np.float64)
        table = case.weights["position_embeddings.weight"].astype(np.float64)
        numbers = np.broadcast_to(np.arange(ids.shape[1]), ids.shape) if positions is None else positions(ids)
        both = combine(words, table[np.clip(numbers, 0, len(table) - 1)])
        if norm:
            both = layer_norm(both, case.weights, "LayerNorm", float(case.config["eps"]) if eps is None else eps)
        return {"embeddings": both}

    return answers


def _normed_words(case: Case) -> Mapping[str, Array]:
    ids = case.inputs["input_ids"]
    words = case.weights["word_embeddings.weight"][ids].astype(np.float64)
    places = case.weights["position_embeddings.weight"].astype(np.float64)[None, : ids.shape[1]]
    return {"embeddings": layer_norm(words, case.weights, "LayerNorm", float(case.config["eps"])) + places}


def _add(words: Array, places: Array) -> Array:
    return words + places


EMBEDDING_MISTAKES = [
    Mistake(
        "M11-none",
        "The positions are missing: only the words are there.",
        "Both vectors have the same size; the token's embedding is made of both.",
        _embedded(lambda w, p: w),
    ),
    Mistake(
        "M11-words",
        "The words are missing: only the positions are there.",
        "Both vectors have the same size; the token's embedding is made of both.",
        _embedded(lambda w, p: p),
    ),
    Mistake(
        "M11-product",
        "Words and positions were multiplied.",
        "They are added, number by number.",
        _embedded(lambda w, p: w * p),
    ),
    Mistake("M11-difference", "The positions were subtracted.", "They are added.", _embedded(lambda w, p: w - p)),
    Mistake(
        "M11-mean",
        "Words and positions were averaged: on a small scale LayerNorm no longer hides the half.",
        "They are added.",
        _embedded(lambda w, p: (w + p) / 2, eps=1e-12),
    ),
    Mistake(
        "M11-batch",
        "The position is counted along the batch: every token of a sentence gets the same vector.",
        "Position is the place in the sequence, axis 1 of input_ids.",
        _embedded(_add, lambda ids: np.broadcast_to(np.arange(len(ids))[:, None], ids.shape)),
    ),
    Mistake(
        "M11-one",
        "The positions start at 1.",
        "The first token stands at position 0.",
        _embedded(_add, lambda ids: np.broadcast_to(np.arange(1, ids.shape[1] + 1), ids.shape)),
    ),
    Mistake(
        "M11-zero",
        "Every token gets the vector of position 0.",
        "Token t gets the vector of position t.",
        _embedded(_add, lambda ids: np.zeros_like(ids)),
    ),
    Mistake(
        "M11-ids",
        "The position table was asked with the token ids.",
        "It is asked with 0, 1, 2, …",
        _embedded(_add, lambda ids: ids),
    ),
    Mistake(
        "M11-reversed",
        "The positions count from the end.",
        "The first token stands at position 0.",
        _embedded(_add, lambda ids: np.broadcast_to(np.arange(ids.shape[1])[::-1], ids.shape)),
    ),
    Mistake(
        "M13",
        "The LayerNorm's eps is not the config's.",
        "nn.LayerNorm takes eps=config.eps.",
        _embedded(_add, eps=1e-5),
    ),
    Mistake(
        "M8-none",
        "The LayerNorm is missing.",
        "The sum of words and positions is normalised.",
        _embedded(_add, norm=False),
    ),
    Mistake("M8", "The LayerNorm comes before the positions are added.", "Add first, then normalise.", _normed_words),
]

# --- encoder list -----------------------------------------------------------------------------------------------------


def _make_list(generator: np.random.Generator) -> list[Case]:
    cases = []
    for layers in (4, 3):
        sizes = config(3, 4, 17, n_layers=layers)
        expected = {
            "length": np.array(layers),
            "distinct": np.array(layers),
            "registered": np.array(layers),
            "blocks": np.array(True),
        }
        cases.append(Case(sizes, expected=expected))
    return cases


def _layers(case: Case) -> int:
    return int(case.config["n_layers"])


LIST_MISTAKES = [
    Mistake(
        "M14-list",
        "The blocks stand in a plain Python list: their parameters are invisible to the model.",
        "nn.ModuleList is a list that registers what it holds; without it nothing is loaded, moved or trained.",
        lambda case: {"length": np.array(_layers(case)), "registered": np.array(0)},
    ),
    Mistake(
        "M14-same",
        "The list holds one and the same block several times.",
        "Call AttentionBlock(config) once for each layer: each has weights of its own.",
        lambda case: {"length": np.array(_layers(case)), "distinct": np.array(1)},
    ),
    Mistake(
        "M14-six",
        "There are six blocks, whatever the config says.",
        "config.n_layers says how many.",
        lambda case: {"length": np.array(6)},
    ),
    Mistake(
        "M14-one", "There is one block only.", "config.n_layers says how many.", lambda case: {"length": np.array(1)}
    ),
    Mistake(
        "M14-off",
        "One block is missing.",
        "range(n) counts from 0 to n - 1: that is n steps.",
        lambda case: {"length": np.array(_layers(case) - 1)},
    ),
    Mistake(
        "M14-more",
        "There is one block too many.",
        "range(n) counts from 0 to n - 1: that is n steps.",
        lambda case: {"length": np.array(_layers(case) + 1)},
    ),
]

# --- encoder loop -----------------------------------------------------------------------------------------------------


def _make_loop(generator: np.random.Generator) -> list[Case]:
    """Stand-in layers: layer i gives ``x @ matrix[i] + shift[i]`` and the stored weights, so only the loop is seen."""
    cases = []
    for batch, tokens, layers in ((2, 5, 4), (3, 4, 2)):
        sizes = config(3, 2, 7, n_layers=layers)
        dim, heads = sizes["dim"], sizes["n_heads"]
        inputs = {
            "input_ids": generator.integers(1, sizes["vocab_size"], (batch, tokens)),
            "embedded": generator.normal(0, 1, (batch, tokens, dim)).astype(np.float32),
            "matrices": generator.normal(0, dim**-0.5, (layers, dim, dim)).astype(np.float32),
            "shifts": generator.normal(0, 1, (layers, dim)).astype(np.float32),
            "attention": generator.dirichlet(np.ones(tokens), (layers, batch, heads, tokens)).astype(np.float32),
        }
        x = inputs["embedded"].astype(np.float64)
        seen = [x]
        for matrix, shift in zip(inputs["matrices"], inputs["shifts"], strict=True):
            seen.append(seen[-1] @ matrix + shift)
        expected = {
            "layer_inputs": np.stack(seen[:-1]),
            "pooled": seen[-1][:, 0],
            "attention": inputs["attention"],
            "attention_again": inputs["attention"],
        }
        cases.append(Case(sizes, inputs, expected=expected))
    return cases


def judge_loop(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    given = answers.arrays
    layers = _layers(case)
    inputs = given.get("layer_inputs")
    if inputs is not None and inputs.shape[0] != layers:
        words = "No layer was" if not len(inputs) else f"{len(inputs)} layer{'s were' if len(inputs) > 1 else ' was'}"
        return Judgement(
            [
                Check(
                    "M14-count",
                    False,
                    f"{words} called in one forward pass; the list has {layers}.",
                    "The loop visits every block of the list once.",
                    "M14-count",
                )
            ]
        )
    if inputs is not None and layers > 1 and all(np.array_equal(inputs[0], later) for later in inputs[1:]):
        return Judgement(
            [
                Check(
                    "M14-first",
                    False,
                    "Every block was fed the embeddings.",
                    "What one block gives is what the next one takes.",
                    "M14-first",
                )
            ]
        )
    if ("attention" in given and "attention_again" not in given) or _grown(given):
        return Judgement(
            [
                Check(
                    "M14-appended",
                    False,
                    "attention_probs grows with every call of the model.",
                    "Store this call's weights under the layer's number, in place of the last call's.",
                    "M14-appended",
                )
            ]
        )
    judgement = compare_case(exercise, case, answers)
    wrong = [check for check in judgement.checks if not check.passed]
    if wrong and wrong[0].name == "attention" and "attention" not in given:
        missing = Check(
            "M14-kept",
            False,
            "The attention weights were not kept: attention_probs has no tensor per layer.",
            "A block returns two things; the second one belongs into self.attention_probs[i].",
            "M14-kept",
        )
        return Judgement([missing])
    return judgement


def _grown(given: Mapping[str, Array]) -> bool:
    return "grown" in given and bool(np.any(given["grown"]))


def _reversed(case: Case) -> Mapping[str, Array]:
    return {"attention": case.inputs["attention"][::-1]}


LOOP_MISTAKES = [
    Mistake(
        "M14-output",
        "What is pooled is not the last block's output but the embeddings.",
        "The name output must hold what the last block gave.",
        lambda case: {"pooled": case.inputs["embedded"][:, 0]},
    ),
    Mistake(
        "M14-behind",
        "What is pooled is the last block's input: one step is missing.",
        "The name output must hold what the last block gave.",
        lambda case: {"pooled": case.expected["layer_inputs"][-1][:, 0]},
    ),
    Mistake("M14-order", "attention_probs counts the layers from the end.", "Layer 0 is the first one.", _reversed),
    Mistake(
        "M17-early",
        "attention_probs keeps an average over the heads.",
        "Keep what the block returns, all heads: (batch, heads, tokens, tokens). The average comes later.",
        lambda case: {"attention": case.inputs["attention"].mean(2)},
    ),
    Mistake(
        "M14-last",
        "attention_probs holds the last layer's weights for every layer.",
        "Store inside the loop, under the loop's own index.",
        lambda case: {"attention": np.broadcast_to(case.inputs["attention"][-1], case.inputs["attention"].shape)},
    ),
]

# --- classifier -------------------------------------------------------------------------------------------------------


def _make_classifier(generator: np.random.Generator) -> list[Case]:
    """Everything before the classifier gives one stored tensor, so that only the classifier is seen."""
    cases = []
    for batch, tokens, classes in ((2, 5, 3), (4, 3, 2)):
        sizes = config(3, 4, 17, n_classes=classes)
        dim = sizes["dim"]
        weights = {
            "pre_classifier.weight": generator.normal(0, dim**-0.5, (dim, dim)).astype(np.float32),
            "pre_classifier.bias": generator.normal(0, 0.5, dim).astype(np.float32),
            "classifier.weight": generator.normal(0, dim**-0.5, (classes, dim)).astype(np.float32),
            "classifier.bias": generator.normal(0, 0.5, classes).astype(np.float32),
        }
        inputs = {
            "input_ids": generator.integers(1, sizes["vocab_size"], (batch, tokens)),
            "final": generator.normal(0, 1.5, (batch, tokens, dim)).astype(np.float32),
        }
        cases.append(Case(sizes, inputs, weights, {}, {"logits": _torch_classifier(inputs["final"], weights)}))
    return cases


def _torch_classifier(final: Array, weights: Mapping[str, Array]) -> Array:
    """``torch.nn``'s own layers in float64: (batch, tokens, dim) -> (batch, classes)"""
    import torch

    dim, classes = weights["pre_classifier.weight"].shape[0], weights["classifier.weight"].shape[0]
    head = torch.nn.Sequential(torch.nn.Linear(dim, dim), torch.nn.ReLU(), torch.nn.Linear(dim, classes)).double()
    names = {"0": "pre_classifier", "2": "classifier"}
    head.load_state_dict(
        {
            f"{position}.{kind}": torch.from_numpy(weights[f"{name}.{kind}"].astype(np.float64))
            for position, name in names.items()
            for kind in ("weight", "bias")
        }
    )
    with torch.no_grad():
        return head(torch.from_numpy(final[:, 0].astype(np.float64))).numpy()


def _classified(
    activate: Callable[[Array], Array] | None = None,
    pool: Callable[[Array], Array] | None = None,
    finish: Callable[[Array], Array] | None = None,
    pre: bool = True,
) -> Callable[[Case], Mapping[str, Array]]:
    def answers(case: Case) -> Mapping[str, Array]:
        w = {name: weight.astype(np.float64) for name, weight in case.weights.items()}
        final = case.inputs["final"].astype(np.float64)
        x = final[:, 0] if pool is None else pool(final)
        if pre:
            x = x @ w["pre_classifier.weight"].T + w["pre_classifier.bias"]
        x = np.maximum(x, 0) if activate is None else activate(x)
        x = x @ w["classifier.weight"].T + w["classifier.bias"]
        return {"logits": x if finish is None else finish(x)}

    return answers


def _softmax(x: Array) -> Array:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


CLASSIFIER_MISTAKES = [
    Mistake(
        "M15-softmax",
        "These are probabilities, not logits: a softmax was applied.",
        "The model returns raw scores; a softmax belongs to whoever wants probabilities.",
        _classified(finish=_softmax),
    ),
    Mistake(
        "M15-log",
        "These are log-probabilities, not logits.",
        "The model returns raw scores.",
        _classified(finish=lambda x: np.log(_softmax(x))),
    ),
    Mistake(
        "M15-relu",
        "The ReLU between the two linear layers is missing.",
        "pre_classifier, then ReLU, then classifier.",
        _classified(activate=lambda x: x),
    ),
    Mistake(
        "M15-gelu",
        "The activation is a GELU; the sheet asks for a ReLU.",
        "pre_classifier, then ReLU, then classifier.",
        _classified(activate=attention.gelu),
    ),
    Mistake(
        "M15-tanh",
        "The activation is a tanh; the sheet asks for a ReLU.",
        "pre_classifier, then ReLU, then classifier.",
        _classified(activate=np.tanh),
    ),
    Mistake(
        "M15-late",
        "A ReLU was applied to the logits.",
        "The ReLU stands between the two linear layers.",
        _classified(finish=lambda x: np.maximum(x, 0)),
    ),
    Mistake(
        "M15-end",
        "The ReLU stands behind the classifier, not before it.",
        "The ReLU stands between the two linear layers.",
        _classified(activate=lambda x: x, finish=lambda x: np.maximum(x, 0)),
    ),
    Mistake(
        "M15-pre", "pre_classifier was left out.", "pre_classifier, then ReLU, then classifier.", _classified(pre=False)
    ),
    Mistake(
        "M15-bare",
        "pre_classifier and the ReLU were left out.",
        "pre_classifier, then ReLU, then classifier.",
        _classified(pre=False, activate=lambda x: x),
    ),
    Mistake(
        "M15-mean",
        "The tokens were averaged; the sheet asks for the [CLS] token.",
        "pooled_output already holds what the classifier takes.",
        _classified(pool=lambda x: x.mean(1)),
    ),
    Mistake(
        "M15-last",
        "The last token was taken; [CLS] is the first one.",
        "pooled_output already holds what the classifier takes.",
        _classified(pool=lambda x: x[:, -1]),
    ),
]

# --- pretrained logits ------------------------------------------------------------------------------------------------

SENTENCES = [
    [101, 2023, 2001, 2028, 1997, 1996, 2190, 5691, 1045, 2031, 2412, 2464, 1012, 102],
    [101, 1045, 5223, 2023, 2061, 2172, 999, 102],
    [101, 1045, 1005, 2310, 2042, 3403, 2005, 1037, 17662, 12172, 2607, 2026, 2878, 2166, 1012, 102],
]
#: Printed to four places: the first by the sheet (seed 0), the others by the Hugging Face course, chapter 2.2.
PUBLISHED = [[-4.1982, 4.5568], [4.1692, -3.3464], [-1.5607, 1.6123]]


def _make_pretrained(generator: np.random.Generator) -> list[Case]:
    import torch
    from transformers import DistilBertForSequenceClassification

    from course import Config
    from course.pretrained import load_state_dict

    sizes = Config.mini()
    names = (
        "n_heads",
        "n_layers",
        "pad_token_id",
        "dim",
        "hidden_dim",
        "max_position_embeddings",
        "vocab_size",
        "n_classes",
    )
    model = DistilBertForSequenceClassification(hf_config({name: getattr(sizes, name) for name in names})).eval()
    model.load_state_dict(to_transformers_names(load_state_dict("mini")))
    cases = []
    for ids, published in zip(SENTENCES, PUBLISHED, strict=True):
        with torch.no_grad():
            logits = model(torch.tensor([ids])).logits.numpy()
        inputs = {"input_ids": np.array([ids])}
        cases.append(Case({"checkpoint": "mini"}, inputs, {}, {}, {"logits": logits.astype(np.float64)}))
        cases.append(Case({"checkpoint": "distilbert"}, inputs, {}, {}, {"logits": np.array([published])}))
    return cases


def judge_pretrained(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    if case.config["checkpoint"] == "distilbert" and "absent" in answers.arrays:
        return Judgement([Check("distilbert", True)])  # nothing may depend on weights that need a download
    got = answers.arrays.get("logits")
    want = case.expected["logits"]
    if got is None or got.shape != want.shape:
        return compare_case(exercise, case, answers)
    close = bool(np.isfinite(got).all()) and float(np.abs(got - want).max()) <= 2e-4
    return Judgement(
        [
            Check(
                f"logits of {case.config['checkpoint']}",
                close,
                "The pretrained model's logits do not come out.",
                "Each part passes its own check? Then compare the outputs layer by layer.",
            )
        ]
    )


EXERCISES = [
    Exercise("distilbert/embeddings", _make_embeddings, mistakes=EMBEDDING_MISTAKES),
    Exercise("distilbert/encoder_list", _make_list, mistakes=LIST_MISTAKES),
    Exercise("distilbert/encoder_loop", _make_loop, judge_loop, LOOP_MISTAKES),
    Exercise("distilbert/classifier", _make_classifier, mistakes=CLASSIFIER_MISTAKES),
    Exercise("distilbert/pretrained_logits", _make_pretrained, judge_pretrained),
]

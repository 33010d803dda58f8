"""The whole model: the pretrained logits of ``mini`` always, the published ones where the weights were downloaded."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from autograder.exercise import Case, Exercise, Mistake

from ._answers import LAYERS, LOOP, model
from ._block_cases import block_weights
from ._pretrained import SMALL, pretrained_logits
from ._sentences import SENTENCES
from ._sizes import config, hf_config

#: Printed to four places: the first by the notebook (seed 0), the others by the Hugging Face course, chapter 2.2.
PUBLISHED = [[-4.1982, 4.5568], [4.1692, -3.3464], [-1.5607, 1.6123]]
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

EXERCISE = Exercise(cases, pretrained_logits, MISTAKES, right=RIGHT, framework="torch", cell="classifier_model_answer")

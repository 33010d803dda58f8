"""The pretrained model's logits: those of ``mini`` always, the published ones where the weights were downloaded."""

from __future__ import annotations

import numpy as np

from autograder.exercise import Answers, Case, Check, Exercise, Judgement, compare_case, right

from .._sentences import SENTENCES
from .._sizes import hf_config

#: Printed to four places: the first by the notebook (seed 0), the others by the Hugging Face course, chapter 2.2.
PUBLISHED = [[-4.1982, 4.5568], [4.1692, -3.3464], [-1.5607, 1.6123]]


def make(generator: np.random.Generator) -> list[Case]:
    import torch
    from transformers import DistilBertForSequenceClassification

    from course import Config
    from course.names import to_transformers_names
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


def judge(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    if case.config["checkpoint"] == "distilbert" and "absent" in answers.arrays:
        return right("distilbert")  # nothing may depend on weights that need a download
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


EXERCISE = Exercise(make, judge, framework="torch")

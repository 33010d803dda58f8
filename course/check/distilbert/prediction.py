"""Notebook 3: what the model says with trained weights."""

from __future__ import annotations

from typing import Any

import torch

from course.check.base import fail, passed, running


def prediction(model: Any) -> None:
    """With trained weights the model tells praise from blame."""
    name = "prediction"
    from course.tokenizer import encode

    with torch.no_grad():
        for sentence, label in (("A wonderful film.", 1), ("A terrible film.", 0)):
            with running(name, "a short sentence", "Do the parts pass their own checks?"):
                logits = model(encode(sentence, model.config)["input_ids"])
            if int(logits[0].argmax()) != label:
                fail(
                    name,
                    f"“{sentence}” is {'positive' if label else 'negative'}.",
                    "Your model says the opposite.",
                    "Were the weights loaded, and do the three parts above pass their checks?",
                )
    passed(name, "praise and blame are told apart")

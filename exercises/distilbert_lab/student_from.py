"""A student of chosen layers. Right: a new model of ``transformers`` that gets these layers' weights by name."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from autograder.exercise import Case, Exercise, Mistake, variant

from ._rules import SHARED, SPOILED, flagged

SIZES = {"n_heads": 2, "dim": 8, "hidden_dim": 12, "max_position_embeddings": 9, "vocab_size": 11}


def cases(generator: np.random.Generator) -> list[Case]:
    made = []
    for depth, layers, shape in ((4, (1, 3), (3, 6)), (5, (0, 4, 2), (2, 5)), (3, (2,), (4, 3))):
        weights = _weights(generator, depth)
        ids = generator.integers(1, SIZES["vocab_size"], shape)
        expected = {"logits": _logits(weights, layers, ids), "depth": np.array([len(layers), depth])}
        made.append(
            Case({**SIZES, "n_layers": depth, "layers": list(layers)}, {"ids": ids}, weights, expected=expected)
        )
    return made


def _weights(generator: np.random.Generator, depth: int) -> dict[str, np.ndarray]:
    from course.config import Config
    from course.distillation import SentenceClassifier

    shapes = {
        name: tuple(weight.shape)
        for name, weight in SentenceClassifier(Config(**SIZES, n_layers=depth)).named_parameters()
    }
    drawn = {}
    for name, shape in shapes.items():
        spread = 1.5 / shape[-1] ** 0.5 if len(shape) == 2 and "embeddings" not in name else 0.5
        around = 1.0 if "norm" in name.lower() and name.endswith("weight") else 0.0
        drawn[name] = (around + generator.normal(0, spread, shape)).astype(np.float32)
    return drawn


def _logits(weights: Mapping[str, np.ndarray], layers: tuple[int, ...], ids: np.ndarray) -> np.ndarray:
    import torch

    from course.config import Config
    from course.parts import ReadyClassifier

    model = ReadyClassifier(Config(**SIZES, n_layers=len(layers))).wrapped.double().eval()
    state = {}
    for name in model.state_dict():
        part = name.removeprefix("distilbert.")
        if part.startswith("transformer.layer."):
            number, _, rest = part.removeprefix("transformer.layer.").partition(".")
            part = f"layers.{layers[int(number)]}.{rest}"
        state[name] = torch.from_numpy(weights[part].astype(np.float64))
    model.load_state_dict(state)
    with torch.no_grad():
        return np.asarray(model(torch.from_numpy(ids)).logits)


HEAD = "def student_from(teacher, layers):"
COPY, CHOSEN = "copy.deepcopy(teacher)", "student.layers[i] for i in layers"

MISTAKES = [
    Mistake(
        "ST-first",
        "The student has the teacher's first layers, not the chosen ones.",
        "layers holds their numbers.",
        (CHOSEN, "student.layers[i] for i in range(len(layers))"),
    ),
    Mistake(
        "ST-last",
        "The student has the teacher's last layers, not the chosen ones.",
        "layers holds their numbers.",
        (CHOSEN, "student.layers[i] for i in range(-len(layers), 0)"),
    ),
    Mistake(
        "ST-sorted",
        "The layers are there, but in another order.",
        "In the order of the list.",
        (CHOSEN, "student.layers[i] for i in sorted(layers, reverse=layers == sorted(layers))"),
    ),
    Mistake(
        "ST-all",
        "The student has all the layers of its teacher.",
        "A ModuleList of the chosen ones.",
        (CHOSEN, "layer for layer in student.layers"),
    ),
    Mistake(
        "ST-next",
        "Each layer is the one after the chosen one.",
        "They are counted from 0.",
        (CHOSEN, "student.layers[(i + 1) % len(student.layers)] for i in layers"),
    ),
    Mistake(
        "",
        "random weights",
        "",
        (CHOSEN, "type(student.layers[i])(student.layers[i].attention.config).eval() for i in layers"),
    ),
    SHARED.by(
        (COPY, "copy.copy(teacher)"),
        ("student.layers = ", "student._modules = dict(teacher._modules)\n    student.layers = "),
    ),
    SPOILED.by((COPY, "teacher"), ("return student", "return copy.deepcopy(student)")),
]

RIGHT = {
    "a comprehension over the numbers": variant(
        HEAD,
        """
        student = copy.deepcopy(teacher)
        student.layers = nn.ModuleList([student.layers[number] for number in layers])
        return student
    """,
    ),
    "the layers copied one by one": variant(
        HEAD,
        """
        student = copy.deepcopy(teacher)
        kept = nn.ModuleList()
        for number in layers:
            kept.append(copy.deepcopy(teacher.layers[number]))
        student.layers = kept
        return student
    """,
    ),
    "a new model with the teacher's weights": variant(
        HEAD,
        """
        student = type(teacher)(teacher.config)
        kept = [student.layers[i] for i in layers]
        student.load_state_dict(teacher.state_dict())
        student.layers = nn.ModuleList(kept)
        return student.eval()
    """,
    ),
}

EXERCISE = Exercise(
    cases,
    flagged,
    MISTAKES,
    right=RIGHT,
    framework="torch",
    atol=3e-5,
    rtol=3e-4,
    shows=("the chosen layers, in order", "weights of its own", "the teacher is whole"),
)

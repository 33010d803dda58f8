"""Two steps of a small table of vectors that learns from another one; the gradients by hand in float64 NumPy."""

from __future__ import annotations

import numpy as np

from autograder.exercise import Case, Exercise, Mistake, variant

from ._rules import GRAPH, LEARNED, TEACHER_MODE, flagged

Array = np.ndarray
STEPS, RATE = 2, 0.3


def cases(generator: np.random.Generator) -> list[Case]:
    made = []
    for words, dim, classes, shape, weight in ((7, 4, 3, (3, 5), 2.5), (6, 3, 2, (4, 4), 0.3)):
        names = {"table": (words, dim), "head": (classes, dim)}
        weights = {
            f"{who}_{name}": generator.normal(0, 1, shape)
            for who in ("student", "teacher")
            for name, shape in names.items()
        }
        ids = generator.integers(1, words, (STEPS, *shape))
        ids[:, 0, 2:], ids[:, 1, -1] = 0, 0  # padding
        losses, table, head = _trained(weights, ids, weight)
        config = {"rate": RATE, "weight": weight}
        expected = {"losses": losses, "table": table, "head": head}
        made.append(Case(config, {"ids": ids, **weights}, expected=expected))
    return made


def _trained(weights: dict[str, Array], steps: Array, weight: float) -> tuple[Array, Array, Array]:
    """soft(a, b) = mean(a² - a·b); hidden(a, b, real) = mean of (a² - a·b) over real tokens"""
    table, head = weights["student_table"].copy(), weights["student_head"].copy()
    fixed, fixed_head = weights["teacher_table"], weights["teacher_head"]
    losses = []
    for ids in steps:
        real = ids != 0
        share = np.zeros((len(ids), len(table)))  # of each word in each sentence
        for row, words in enumerate(ids):
            np.add.at(share[row], words, 1 / len(words))
        logits, wanted = share @ table @ head.T, share @ fixed @ fixed_head.T
        vectors, targets = table[ids], fixed[ids]
        soft = (logits**2 - logits * wanted).mean()
        count = real.sum() * table.shape[1]
        hidden = ((vectors**2 - vectors * targets) * real[..., None]).sum() / count
        losses.append(soft + weight * hidden)
        above = (2 * logits - wanted) / logits.size
        by_head, by_table = above.T @ (share @ table), share.T @ above @ head
        np.add.at(by_table, ids[real], weight * (2 * vectors - targets)[real] / count)
        table, head = table - RATE * by_table, head - RATE * by_head
    return np.array(losses), table, head


HEAD = "def distil_step(student, teacher, optimizer, ids, soft, hidden, weight):"
# Lines of the solution that mistakes change.
EVAL, NO_GRAD = "teacher.eval()", "with torch.no_grad():"
SOFT, HIDDEN = "soft(logits, wanted)", "hidden(vectors, targets, ids != 0)"
LOSS = f"{SOFT} + weight * {HIDDEN}"
ZERO, STEP = "    optimizer.zero_grad()\n", "    optimizer.step()\n"

MISTAKES = [
    Mistake(
        "DS-weight",
        "The hidden-state loss is not multiplied by its weight.",
        "soft + weight · hidden",
        (LOSS, f"{SOFT} + {HIDDEN}"),
    ),
    Mistake(
        "DS-soft-weight",
        "The weight belongs to the other loss.",
        "soft + weight · hidden",
        (LOSS, f"weight * {SOFT} + {HIDDEN}"),
    ),
    Mistake(
        "DS-mixed",
        "The soft loss is multiplied by 1 - weight.",
        "soft + weight · hidden",
        (LOSS, f"(1 - weight) * {SOFT} + weight * {HIDDEN}"),
    ),
    Mistake("DS-only-soft", "The hidden-state loss is left out.", "soft + weight · hidden", (LOSS, SOFT)),
    Mistake("DS-only-hidden", "The soft loss is left out.", "soft + weight · hidden", (LOSS, f"weight * {HIDDEN}")),
    Mistake(
        "DS-swapped",
        "Student and teacher are swapped in the soft loss.",
        "First the student's logits.",
        (SOFT, "soft(wanted, logits)"),
    ),
    Mistake(
        "DS-swapped-vectors",
        "Student and teacher are swapped in the hidden-state loss.",
        "First the student's vectors.",
        (HIDDEN, "hidden(targets, vectors, ids != 0)"),
    ),
    Mistake(
        "DS-padding", "Padding counts as a real token.", "ids != 0", (HIDDEN, "hidden(vectors, targets, ids == ids)")
    ),
    Mistake("DS-no-zero", "The gradients of earlier steps are still there.", "optimizer.zero_grad()", (ZERO, "")),
    Mistake("DS-still", "The student's weights do not move.", "backward, then step.", (STEP, "")),
    GRAPH.by(("loss.item()", "loss")),
    LEARNED.by((NO_GRAD, "if True:")),
    TEACHER_MODE.by((EVAL, "pass")),
]

RIGHT = {
    "detached": [(NO_GRAD, "if True:"), ("= teacher(ids)", "= (x.detach() for x in teacher(ids))")],
    "inference_mode and float": [("loss.item()", "float(loss.detach())")],
    "the student first": variant(
        HEAD,
        """
        optimizer.zero_grad(set_to_none=True)
        logits, vectors = student(ids)
        teacher.train(False)
        with torch.no_grad():
            answer = teacher(ids)
        loss = soft(logits, answer[0]) + hidden(vectors, answer[1], ids.ne(0)) * weight
        loss.backward()
        optimizer.step()
        return loss.item()
    """,
    ),
}

EXERCISE = Exercise(
    cases,
    flagged,
    MISTAKES,
    right=RIGHT,
    framework="torch",
    atol=1e-7,
    rtol=1e-7,
    shows=("two steps as by hand", "the teacher stays as it is", "the loss is a number"),
)

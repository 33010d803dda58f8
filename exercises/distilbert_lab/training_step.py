"""Three steps of a linear model with momentum, the gradients by hand in float64 NumPy."""

from __future__ import annotations

import numpy as np

from autograder.exercise import CHANGED, Case, Exercise, Mistake, variant

from ._rules import EVAL_STEP, GRAPH, flagged

Array = np.ndarray
STEPS, RATE, MOMENTUM = 3, 0.4, 0.6


def cases(generator: np.random.Generator) -> list[Case]:
    made = []
    for batch, dim, classes in ((7, 5, 3), (4, 6, 2)):
        weights = {"weight": generator.normal(0, 1, (classes, dim)), "bias": generator.normal(0, 1, classes)}
        x = generator.normal(0, 1, (STEPS, batch, dim))
        labels = generator.integers(0, classes, (STEPS, batch))
        losses, weight, bias = _trained(weights["weight"], weights["bias"], x, labels)
        config = {"dim": dim, "classes": classes, "rate": RATE, "momentum": MOMENTUM}
        expected = {"losses": losses, "weight": weight, "bias": bias}
        made.append(Case(config, {"x": x, "labels": labels}, weights, expected=expected))
    return made


def _trained(weight: Array, bias: Array, x: Array, labels: Array) -> tuple[Array, Array, Array]:
    """Gradient descent with momentum: the loss of every step, then the weights."""
    losses, fast, fast_bias = [], np.zeros_like(weight), np.zeros_like(bias)
    for rows, right in zip(x, labels, strict=True):
        logits = rows @ weight.T + bias
        chances = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
        losses.append(-np.log(chances[np.arange(len(right)), right]).mean())
        above = (chances - np.eye(len(bias))[right]) / len(right)
        fast, fast_bias = MOMENTUM * fast + above.T @ rows, MOMENTUM * fast_bias + above.sum(0)
        weight, bias = weight - RATE * fast, bias - RATE * fast_bias
    return np.array(losses), weight, bias


HEAD = "def training_step(model, optimizer, inputs, labels):"
FIVE = "Zero the gradients, forward, loss, backward, step."
# Lines of the solution that mistakes change.
ZERO, BACK, STEP = "    optimizer.zero_grad()\n", "    loss.backward()\n", "    optimizer.step()\n"
LOSS = "F.cross_entropy(logits, labels)"

MISTAKES = [
    Mistake(
        "T-no-zero",
        "The gradients of earlier steps are still there: backward adds to them.",
        "optimizer.zero_grad() in every step.",
        (ZERO, ""),
    ),
    Mistake(
        "T-still",
        "The weights do not move: the gradients are zeroed before the step can use them, or no step is made.",
        FIVE,
        (ZERO, ""),
        (BACK, BACK + ZERO),
    ),
    Mistake(
        "T-still",
        "The weights do not move: the gradients are zeroed before the step can use them, or no step is made.",
        FIVE,
        (STEP, ""),
    ),
    Mistake(
        "T-early-step",
        "The step is made before the gradients are there.",
        FIVE,
        (ZERO, ""),
        (BACK, STEP + ZERO + BACK),
        (BACK + STEP, BACK),
    ),
    Mistake(
        "T-new",
        "A new optimiser is made in every step: it forgets its momentum.",
        "Use the optimizer that is given.",
        (ZERO, "    optimizer = torch.optim.SGD(model.parameters(), lr=optimizer.param_groups[0]['lr'])\n" + ZERO),
    ),
    Mistake(
        "T-sum",
        "The loss is a sum over the batch.",
        "A mean: a larger batch must not make larger steps.",
        (LOSS, "F.cross_entropy(logits, labels, reduction='sum')"),
    ),
    Mistake(
        "T-softmax",
        "The softmax was applied twice.",
        "F.cross_entropy takes logits.",
        (LOSS, "F.cross_entropy(logits.softmax(-1), labels)"),
    ),
    Mistake(
        "T-after",
        "The loss that comes back is that after the step.",
        "Return the loss that was made smaller.",
        ("return loss.item()", "return F.cross_entropy(model(inputs), labels).item()"),
    ),
    Mistake("T-uphill", "The step goes uphill.", "backward on the loss itself.", (BACK, "    (-loss).backward()\n")),
    EVAL_STEP.by((ZERO, f"    model.eval()\n{ZERO}")),
    EVAL_STEP.by((ZERO, ""), ("    return loss", f"    model.eval()\n{ZERO}    return loss")),
    GRAPH.by(("loss.item()", "loss")),
    CHANGED.by(("return loss.item()", "inputs.zero_()\n    return loss.item()")),
]

RIGHT = {
    "zeroed at the end": [(ZERO, ""), (STEP, STEP + ZERO)],
    "nll_loss": [(LOSS, "F.nll_loss(F.log_softmax(logits, dim=1), labels)")],
    "the loss as a module": variant(
        HEAD,
        """
        loss = nn.CrossEntropyLoss()(model(inputs), labels)
        model.zero_grad()
        loss.backward()
        optimizer.step()
        return float(loss.detach())
    """,
    ),
    "train mode is set again": [(ZERO, f"    model.train()\n{ZERO}")],
    "detached": [("loss.item()", "loss.detach()")],
}

EXERCISE = Exercise(
    cases,
    flagged,
    MISTAKES,
    right=RIGHT,
    framework="torch",
    atol=1e-7,
    rtol=1e-7,
    shows=("three steps as by hand", "the loss is a number"),
)

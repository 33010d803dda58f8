"""AdamW by hand. Right: ``torch.optim.AdamW`` in float64, with gradients of very different sizes."""

from __future__ import annotations

import numpy as np

from autograder.exercise import CHANGED, Case, Exercise, Mistake, pure, variant

STEPS = 5


def cases(generator: np.random.Generator) -> list[Case]:
    made = []
    for count, rate, beta1, beta2, eps, decay in ((6, 0.05, 0.9, 0.99, 1e-3, 0.1), (4, 0.2, 0.7, 0.95, 1e-8, 0.3)):
        weight = generator.normal(0, 1, count)
        sizes = 10.0 ** generator.uniform(-3, 2, count)
        gradients = generator.normal(0, 1, (STEPS, count)) * sizes
        gradients[:, 0] = 0  # no gradient at all: only the decay moves this weight
        config = {"lr": rate, "beta1": beta1, "beta2": beta2, "eps": eps, "weight_decay": decay}
        made.append(Case(config, {"weight": weight, "gradients": gradients}, expected=_run(weight, gradients, config)))
    return made


def _run(weight: np.ndarray, gradients: np.ndarray, config: dict[str, float]) -> dict[str, np.ndarray]:
    import torch

    parameter = torch.nn.Parameter(torch.from_numpy(weight.copy()))
    optimizer = torch.optim.AdamW(
        [parameter], lr=config["lr"], betas=(config["beta1"], config["beta2"]), eps=config["eps"],
        weight_decay=config["weight_decay"],
    )  # fmt: skip
    weights = []
    for gradient in gradients:
        parameter.grad = torch.from_numpy(gradient.copy())
        optimizer.step()
        weights.append(parameter.detach().numpy().copy())
    state = optimizer.state[parameter]
    return {"weights": np.stack(weights), "m": state["exp_avg"].numpy(), "v": state["exp_avg_sq"].numpy()}


HEAD = "def adamw_step(weight, gradient, m, v, step, lr, beta1, beta2, eps, weight_decay):"
CORRECT = "Both averages begin at 0: divide by 1 - beta ** step."
# Lines of the solution that mistakes change.
M, V = "m = beta1 * m + (1 - beta1) * gradient", "v = beta2 * v + (1 - beta2) * gradient**2"
M_HAT, V_HAT = "m / (1 - beta1**step)", "v / (1 - beta2**step)"
DECAY = "weight = weight * (1 - lr * weight_decay)"
MOVE = "weight = weight - lr * mean / (square.sqrt() + eps)"

MISTAKES = [
    Mistake(
        "A-l2",
        "The decay goes through the averages: this is Adam with L2, not AdamW.",
        "Shrink the weight itself, apart from the gradient.",
        (M, "gradient = gradient + weight_decay * weight\n    " + M),
        (DECAY, "pass"),
    ),
    Mistake(
        "A-no-correction", "The averages are not corrected for their start at 0.", CORRECT, (M_HAT, "m"), (V_HAT, "v")
    ),
    Mistake("A-half", "Only the average of the gradients is corrected.", CORRECT, (V_HAT, "v")),
    Mistake("A-half-v", "Only the average of the squares is corrected.", CORRECT, (M_HAT, "m")),
    Mistake(
        "A-count",
        "The correction is one step too late or too early.",
        "step counts from 1.",
        ("beta1**step", "beta1**(step + 1)"),
        ("beta2**step", "beta2**(step + 1)"),
    ),
    Mistake(
        "A-eps",
        "eps is inside the root.",
        "It is added to the root, not to what stands below it.",
        ("(square.sqrt() + eps)", "(square + eps).sqrt()"),
    ),
    Mistake(
        "A-no-lr",
        "The decay does not know the learning rate.",
        "weight * (1 - lr * weight_decay)",
        ("lr * weight_decay", "weight_decay"),
    ),
    Mistake(
        "A-late",
        "The decay comes after the step.",
        "First shrink the weight, then move it.",
        (DECAY, "pass"),
        (MOVE, MOVE + "\n    " + DECAY),
    ),
    Mistake(
        "A-no-decay",
        "There is no weight decay.",
        "Shrink the weight: weight * (1 - lr * weight_decay).",
        (DECAY, "pass"),
    ),
    Mistake("A-no-root", "The root is missing below the fraction.", "square.sqrt()", ("square.sqrt()", "square")),
    Mistake(
        "A-signed", "v averages the gradients, not their squares.", "gradient ** 2", ("gradient**2", "gradient.abs()")
    ),
    Mistake(
        "A-gradient", "The step uses the gradient, not its average.", "The mean is m, corrected.", (M_HAT, "gradient")
    ),
    Mistake(
        "A-betas",
        "beta1 and beta2 are swapped.",
        "beta1 for the mean, beta2 for the squares.",
        (M, M.replace("beta1", "beta2")),
        (V, V.replace("beta2", "beta1")),
    ),
    Mistake(
        "A-sum",
        "The averages grow: what is new must be weighted by 1 - beta.",
        "(1 - beta1) * gradient",
        (M, "m = beta1 * m + gradient"),
        (V, "v = beta2 * v + gradient**2"),
    ),
    Mistake("A-uphill", "The step goes uphill.", "Minus.", (MOVE, MOVE.replace("weight - lr", "weight + lr"))),
    Mistake(
        "A-corrected",
        "The corrected averages come back: the next step corrects them once more.",
        "Return m and v as they are before the correction.",
        ("return weight, m, v", "return weight, mean, square"),
    ),
    CHANGED.by((DECAY, "weight.mul_(1 - lr * weight_decay)")),
]

RIGHT = {
    "lerp": [(M, "m = torch.lerp(m, gradient, 1 - beta1)")],
    "the correction in the rate": variant(
        HEAD,
        """
        m = m + (1 - beta1) * (gradient - m)
        v = v + (1 - beta2) * (gradient * gradient - v)
        below = (v.sqrt() / math.sqrt(1 - beta2**step)) + eps
        moved = weight - lr * weight_decay * weight
        return moved - (lr / (1 - beta1**step)) * m / below, m, v
    """,
    ),
    "on copies": variant(
        HEAD,
        """
        weight, m, v = weight.clone(), m.clone(), v.clone()
        m.mul_(beta1).add_(gradient, alpha=1 - beta1)
        v.mul_(beta2).addcmul_(gradient, gradient, value=1 - beta2)
        weight.mul_(1 - lr * weight_decay)
        weight.addcdiv_(m / (1 - beta1**step), (v / (1 - beta2**step)).sqrt().add_(eps), value=-lr)
        return weight, m, v
    """,
    ),
}

EXERCISE = Exercise(
    cases,
    pure,
    MISTAKES,
    right=RIGHT,
    framework="torch",
    atol=1e-10,
    rtol=1e-8,
    shows=("five steps like torch.optim.AdamW", "both averages", "decay apart from the gradient"),
)

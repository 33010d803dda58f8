"""The distance between two models' answers, softened. Right: float64 NumPy, with and without large logits."""

from __future__ import annotations

import numpy as np

from autograder.exercise import CHANGED, CUT, Case, Exercise, Mistake, variant

from ._rules import LEAKY, soft_distance

Array = np.ndarray


def cases(generator: np.random.Generator) -> list[Case]:
    made = []
    for batch, classes, temperature, shift in ((5, 3, 2.0, 0.0), (7, 2, 4.0, 0.0), (3, 4, 0.5, 300.0)):
        student = (generator.normal(0, 1.5, (batch, classes)) + shift).astype(np.float32)
        teacher = (generator.normal(0, 2.5, (batch, classes)) - shift).astype(np.float32)
        loss = _loss(student, teacher, temperature)
        expected = {"loss": loss, "gradient": _gradient(student, teacher, temperature)}
        expected |= {"property/of_itself": np.array(0.0), "property/raised": loss, "property/twice": loss}
        inputs = {"student": student, "teacher": teacher}
        made.append(Case({"temperature": temperature}, inputs, expected=expected))
    return made


def _logs(logits: Array, temperature: float) -> Array:
    x = logits.astype(np.float64) / temperature
    x = x - x.max(1, keepdims=True)
    return x - np.log(np.exp(x).sum(1, keepdims=True))


def _loss(student: Array, teacher: Array, temperature: float) -> Array:
    own, wanted = _logs(student, temperature), _logs(teacher, temperature)
    return np.asarray(temperature**2 * (np.exp(wanted) * (wanted - own)).sum(1).mean())


def _gradient(student: Array, teacher: Array, temperature: float) -> Array:
    """By the student's logits: T · (p - q) / batch"""
    difference = np.exp(_logs(student, temperature)) - np.exp(_logs(teacher, temperature))
    return temperature * difference / len(student)


HEAD = "def soft_loss(student_logits, teacher_logits, temperature):"
BOTH = "Divide both by the temperature before the softmax."
# Lines of the solution that mistakes change.
OWN, WANTED = (
    "(student_logits / temperature).log_softmax(dim=-1)",
    "(teacher_logits.detach() / temperature).log_softmax(dim=-1)",
)
KL = "(wanted.exp() * (wanted - own)).sum(dim=-1)"
RESULT = "temperature**2 * divergence.mean()"

MISTAKES = [
    Mistake(
        "D-square",
        "The factor T² is missing.",
        "Without it the gradients shrink as the temperature grows.",
        (RESULT, "divergence.mean()"),
        share=0.5,
    ),
    Mistake(
        "D-factor",
        "The factor is T, not T².",
        "temperature ** 2",
        (RESULT, "temperature * divergence.mean()"),
        share=0.5,
    ),
    Mistake(
        "D-teacher-cold",
        "Only the student's logits are divided by the temperature.",
        BOTH,
        (WANTED, WANTED.replace(" / temperature", "")),
    ),
    Mistake(
        "D-student-cold",
        "Only the teacher's logits are divided by the temperature.",
        BOTH,
        (OWN, OWN.replace(" / temperature", "")),
    ),
    Mistake(
        "D-no-temperature",
        "The temperature is used nowhere but in the factor.",
        BOTH,
        (WANTED, WANTED.replace(" / temperature", "")),
        (OWN, OWN.replace(" / temperature", "")),
    ),
    Mistake(
        "D-times",
        "The logits are multiplied by the temperature.",
        BOTH,
        (WANTED, WANTED.replace("/", "*")),
        (OWN, OWN.replace("/", "*")),
    ),
    Mistake(
        "D-reversed",
        "The divergence is taken the wrong way round: the student weighs the differences.",
        "The teacher's probabilities weigh: KL(teacher ‖ student).",
        (KL, "(own.exp() * (own - wanted)).sum(dim=-1)"),
    ),
    Mistake(
        "D-classes",
        "The mean runs over classes as well.",
        "Sum over classes, mean over sentences.",
        (KL, KL.replace(".sum", ".mean")),
    ),
    Mistake("D-sum", "The sentences are summed.", "A mean over sentences.", (".mean()", ".sum()")),
    Mistake(
        "D-entropy",
        "This is the cross-entropy: it is not 0 where both agree.",
        "The teacher's own log-probability belongs in it: log q - log p.",
        (KL, "-(wanted.exp() * own).sum(dim=-1)"),
    ),
    Mistake("D-sign", "The loss is negative.", "log q - log p, weighted by q.", (KL, "-" + KL)),
    Mistake(
        "D-squares",
        "These are squared differences.",
        "A Kullback-Leibler divergence.",
        (KL, "(wanted - own).pow(2).sum(dim=-1)"),
    ),
    LEAKY.by((".detach()", "")),
    CHANGED.by((OWN, "(student_logits.div_(1.5).mul_(1.5) / temperature).log_softmax(dim=-1)")),
    CUT.by((OWN, OWN.replace("(student_logits", "(student_logits.detach()"))),
]

RIGHT = {
    "kl_div, both in logarithms": variant(
        HEAD,
        """
        own = F.log_softmax(student_logits / temperature, dim=1)
        wanted = F.log_softmax(teacher_logits.detach() / temperature, dim=1)
        return temperature**2 * F.kl_div(own, wanted, reduction="batchmean", log_target=True)
    """,
    ),
    "kl_div with probabilities": variant(
        HEAD,
        """
        own = F.log_softmax(student_logits / temperature, dim=-1)
        with torch.no_grad():
            wanted = F.softmax(teacher_logits / temperature, dim=-1)
        return F.kl_div(own, wanted, reduction="batchmean") * temperature * temperature
    """,
    ),
    "torch.distributions": variant(
        HEAD,
        """
        own = torch.distributions.Categorical(logits=student_logits / temperature)
        wanted = torch.distributions.Categorical(logits=teacher_logits.detach() / temperature)
        return torch.distributions.kl_divergence(wanted, own).mean() * temperature**2
    """,
    ),
}

EXERCISE = Exercise(
    cases,
    soft_distance,
    MISTAKES,
    right=RIGHT,
    framework="torch",
    atol=1e-5,
    rtol=2e-4,
    shows=("the right number", "the right gradient", "none for the teacher"),
)

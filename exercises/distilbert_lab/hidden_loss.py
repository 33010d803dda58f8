"""One minus the cosine of real tokens' vectors, in float64 NumPy."""

from __future__ import annotations

import numpy as np

from autograder.exercise import CHANGED, CUT, Case, Exercise, Mistake, variant

from ._rules import cosine_distance


def cases(generator: np.random.Generator) -> list[Case]:
    made = []
    for shape, lengths in (((3, 5, 4), (5, 2, 3)), ((2, 7, 6), (4, 7)), ((4, 3, 5), (3, 3, 3, 1))):
        student, teacher = (generator.normal(0.4, 1, shape).astype(np.float32) for _ in range(2))
        real = np.arange(shape[1]) < np.array(lengths)[:, None]
        a, b = student.astype(np.float64), teacher.astype(np.float64)
        cosine = (a * b).sum(2) / np.sqrt((a**2).sum(2) * (b**2).sum(2))
        inputs = {"student": student, "teacher": teacher, "real": real}
        loss = np.asarray(1 - cosine[real].mean())
        expected = {"loss": loss, "property/of_itself": np.array(0.0), "property/longer": loss, "property/padded": loss}
        made.append(Case({}, inputs, expected=expected))
    return made


HEAD = "def hidden_loss(student_hidden, teacher_hidden, real):"
# Lines of the solution that mistakes change.
COSINE = "F.cosine_similarity(student_hidden, teacher_hidden, dim=-1)"
RESULT = "1 - cosines[real].mean()"

MISTAKES = [
    Mistake(
        "H-padding",
        "Padding counts as well.",
        "Only tokens where real is True.",
        (RESULT, "1 - cosines.mean()"),
        share=0.5,
    ),
    Mistake(
        "H-zeros",
        "Padding counts with a loss of 1 or 0, and in the number that is divided by.",
        "Divide by the number of real tokens.",
        (RESULT, "1 - (cosines * real).mean()"),
    ),
    Mistake(
        "H-zeros",
        "Padding counts with a loss of 1 or 0, and in the number that is divided by.",
        "Divide by the number of real tokens.",
        (RESULT, "((1 - cosines) * real).mean()"),
    ),
    Mistake(
        "H-sentences",
        "Every sentence counts alike, short or long.",
        "A mean over all real tokens of the batch.",
        (RESULT, "1 - ((cosines * real).sum(1) / real.sum(1)).mean()"),
    ),
    Mistake(
        "H-axis",
        "The cosine runs over the tokens.",
        "Over the last axis: two vectors of one token.",
        (COSINE, COSINE.replace("dim=-1", "dim=1")),
        (RESULT, "1 - cosines.mean()"),
    ),
    Mistake(
        "H-sign",
        "The loss is smallest where the vectors are opposite.",
        "1 - cosine",
        (RESULT, "1 + cosines[real].mean()"),
    ),
    Mistake("H-similarity", "This is the similarity, not the loss.", "1 - cosine", (RESULT, "cosines[real].mean()")),
    Mistake("H-cls", "Only the first token counts.", "All real tokens.", (RESULT, "1 - cosines[:, 0].mean()")),
    Mistake(
        "H-dot",
        "The lengths of the vectors count.",
        "A cosine: divided by both lengths.",
        (COSINE, "(student_hidden * teacher_hidden).sum(dim=-1)"),
    ),
    Mistake("H-sum", "The tokens are summed.", "A mean over real tokens.", (RESULT, "(1 - cosines[real]).sum()")),
    Mistake(
        "H-squares",
        "These are squared differences.",
        "Cosines.",
        (COSINE, "1 - (student_hidden - teacher_hidden).pow(2).mean(dim=-1)"),
    ),
    CHANGED.by((COSINE, "F.cosine_similarity(student_hidden.mul_(2), teacher_hidden, dim=-1)")),
    CUT.by((RESULT, "1 - cosines[real].mean().detach()")),
]

RIGHT = {
    "a weighted mean": [(RESULT, "((1 - cosines) * real).sum() / real.sum()")],
    "normalised first": variant(
        HEAD,
        """
        own = F.normalize(student_hidden, dim=-1)
        wanted = F.normalize(teacher_hidden, dim=-1)
        return 1 - torch.einsum("btd,btd->bt", own, wanted)[real].mean()
    """,
    ),
    "real tokens first": variant(
        HEAD,
        """
        own, wanted = student_hidden[real], teacher_hidden[real]
        return (1 - (own * wanted).sum(-1) / (own.norm(dim=-1) * wanted.norm(dim=-1))).mean()
    """,
    ),
    "detached target": [("teacher_hidden, dim", "teacher_hidden.detach(), dim")],
}

EXERCISE = Exercise(
    cases,
    cosine_distance,
    MISTAKES,
    right=RIGHT,
    framework="torch",
    shows=("cosines of vectors", "padding left out", "one mean over all real tokens"),
)

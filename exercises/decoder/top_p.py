"""The nucleus. Expected answers: transformers' own TopPLogitsWarper."""

from __future__ import annotations

import numpy as np

from autograder.exercise import CHANGED, Case, Exercise, Mistake, pure, variant

from ._generation import before, distributions, renormalised, warped

# Sums of eighths are exact: two words have 3/4 together, and so are enough for p = 0.75.
EXACT = np.array([[1, 4, 1, 2, 0], [2, 0, 1, 4, 1], [4, 2, 1, 1, 0]]) / 8
# Ties inside of the nucleus and outside of it.
TIES = np.array([[1, 5, 1, 5, 2, 2], [4, 4, 4, 2, 1, 1]]) / 16


def cases(generator: np.random.Generator) -> list[Case]:
    """Rows whose nuclei differ in size; p below the first probability, p of 1; a sum that is exactly p; ties."""
    drawn = [
        (_clear(generator, 3, 8, 0.8), 0.8),
        (_clear(generator, 2, 7, 0.9), 0.9),
        (_clear(generator, 4, 5, 0.3), 0.3),
        (distributions(generator, 2, 6), 0.01),
        (distributions(generator, 3, 4), 1.0),
        (generator.permuted(EXACT, axis=1).astype(np.float32), 0.75),
        (generator.permuted(TIES, axis=1).astype(np.float32), 0.6),
    ]
    return [Case({"p": p}, {"probabilities": given}, expected={"output": _expected(given, p)}) for given, p in drawn]


def _clear(generator: np.random.Generator, rows: int, words: int, p: float) -> np.ndarray:
    """Distributions of which no sum lies so close to p that rounding decides; nuclei of different sizes."""
    while True:
        found = distributions(generator, rows, words)
        sizes = (before(found.astype(np.float64)) < p).sum(-1)
        if np.abs(before(found.astype(np.float64)) - p).min() > 1e-3 and len(set(sizes)) > 1:
            return found


def _expected(probabilities: np.ndarray, p: float) -> np.ndarray:
    from transformers import TopPLogitsWarper

    # transformers' logarithms are rounded, and so is its sum
    if p == 1 or np.array_equal(np.sort(probabilities), np.sort(EXACT)):
        x = probabilities.astype(np.float64)
        return renormalised(x, before(x) < p)
    return warped(TopPLogitsWarper(p), probabilities)


# Lines of the solution that mistakes change.
HEAD = "def top_p(probabilities, p):"
SORT = "probabilities.sort(dim=-1, descending=True)"
BEFORE = "ordered.cumsum(dim=-1) - ordered"
CUT = "ordered.masked_fill(before >= p, 0)"
BACK = "torch.zeros_like(probabilities).scatter(-1, order, ordered)"
DIVIDED = "kept / kept.sum(dim=-1, keepdim=True)"

MISTAKES = [
    Mistake("TOPP-sum", "The rest was not divided by its sum.", "Each row must sum to 1 again.", (DIVIDED, "kept")),
    Mistake("TOPP-softmax", "A softmax was applied to the probabilities.", "Divide by the sum.",
            (DIVIDED, 'kept.masked_fill(kept == 0, float("-inf")).softmax(-1)')),
    Mistake("TOPP-crossing", "The word with which the sum reaches p was removed.",
            "The words that are kept have at least p together: look at the sum before each word.",
            (CUT, "ordered.masked_fill((before + ordered > p) & (before > 0), 0)")),
    Mistake("TOPP-empty", "The word with which the sum reaches p was removed, even where it is the only one.",
            "The words that are kept have at least p together: look at the sum before each word.",
            (CUT, "ordered.masked_fill(before + ordered > p, 0)")),
    Mistake("TOPP-more", "Where the sum is exactly p, one word too many was kept.",
            "Once the words have p together, the next one goes.", ("before >= p", "before > p"), share=0.5),
    Mistake("TOPP-least", "The sum begins with the least likely words.", "Sort with descending=True.",
            (SORT, SORT.replace("True", "False"))),
    Mistake("TOPP-unsorted", "The words were not sorted by their probability.", "The likeliest word comes first.",
            (SORT, "probabilities, torch.arange(probabilities.shape[1]).expand_as(probabilities)")),
    Mistake("TOPP-places", "What was found for the sorted words was applied to the unsorted ones.",
            "Take it back to the words' own positions: scatter, or sort the order itself.",
            (BACK, "probabilities.masked_fill(before >= p, 0)")),
    Mistake("TOPP-order", "The probabilities are sorted, and belong to other words now.",
            "Each word keeps its position.",
            (BACK, "ordered")),
    Mistake("TOPP-threshold", "Words with a probability of at least p were kept.",
            "p is compared with the sum over the likeliest words.", (CUT, "ordered.masked_fill(ordered < p, 0)")),
    Mistake("TOPP-equal", "All words that are left have the same probability.", "They keep their proportions.",
            (DIVIDED, "(kept > 0) / (kept > 0).sum(dim=-1, keepdim=True)")),
    Mistake("TOPP-none", "Nothing was removed.", "Words after the nucleus get 0.", (CUT, "ordered")),
    CHANGED.by((BACK, "probabilities.scatter_(-1, order, ordered)")),
]  # fmt: skip

RIGHT = {
    "a mask, moved by one": variant(HEAD, """
        ordered, order = torch.sort(probabilities, descending=True)
        gone = ordered.cumsum(-1) >= p
        gone[:, 1:] = gone[:, :-1].clone()
        gone[:, 0] = False
        kept = probabilities.masked_fill(torch.zeros_like(gone).scatter(1, order, gone), 0)
        return kept / kept.sum(-1, keepdim=True)
    """),
    "the order sorted back": variant(HEAD, """
        ordered, order = torch.sort(probabilities, dim=1, descending=True)
        ordered = ordered * (ordered.cumsum(1) - ordered < p)
        kept = ordered.gather(1, order.argsort(1))
        return kept / kept.sum(1, keepdim=True)
    """),
    "row by row": variant(HEAD, """
        result = torch.zeros_like(probabilities)
        for row, own in enumerate(probabilities.tolist()):
            total = 0.0
            for word in sorted(range(len(own)), key=lambda word: -own[word]):
                if total >= p:
                    break
                result[row, word] = own[word]
                total += own[word]
        return result / result.sum(-1, keepdim=True)
    """),
    "from the least likely word on": variant(HEAD, """
        ordered, order = probabilities.double().sort(dim=-1)
        ordered = ordered.masked_fill(ordered.cumsum(-1) <= 1 - p + 1e-7, 0)
        ordered[:, -1] = probabilities.double().amax(-1)
        kept = torch.zeros_like(ordered).scatter(-1, order, ordered)
        return kept / kept.sum(-1, keepdim=True)
    """),
    "logits and a softmax": variant(HEAD, """
        ordered, order = probabilities.sort(dim=-1, descending=True)
        logs = ordered.log().masked_fill(ordered.cumsum(-1) - ordered >= p, float("-inf"))
        return torch.empty_like(logs).scatter_(-1, order, logs.softmax(-1))
    """),
    "a threshold for each row": variant(HEAD, """
        ordered = probabilities.sort(dim=-1, descending=True).values
        size = (ordered.cumsum(-1) - ordered < p).sum(-1, keepdim=True)
        kept = probabilities * (probabilities >= ordered.gather(-1, size - 1))
        return F.normalize(kept, p=1, dim=-1)
    """),
}  # fmt: skip

EXERCISE = Exercise(
    cases, pure, MISTAKES, right=RIGHT, framework="torch", atol=1e-6,
    shows=("the fewest words with p together", "a nucleus for each row", "one word at least"),
    accepted={"detach": "Words are drawn from these probabilities; nobody trains through them."},
    axes={"output": "batch, vocabulary"},
)  # fmt: skip

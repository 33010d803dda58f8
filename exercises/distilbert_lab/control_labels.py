"""Labels by chance, one per type of word. Nothing is compared with stored labels: what must hold is looked at."""

from __future__ import annotations

import numpy as np

from autograder.exercise import CHANGED, Case, Exercise, variant

from ._rules import CHANCE, GENERATOR, TEST, TYPE, UNEVEN, one_label_per_type


def cases(generator: np.random.Generator) -> list[Case]:
    made = []
    for types in (120, 200):
        train, test = (int(count) for count in generator.integers(300, 700, 2))
        there = generator.choice(5000, types, replace=False)
        words = [generator.choice(there, count) for count in (train, test)]
        inputs = {"train_words": words[0], "test_words": words[1]}
        config = {"seed": int(generator.integers(1000)), "vocabulary": 5000}
        first, second = generator.integers(0, 2, (2, 5000))  # one right answer of many
        expected = {"train": first[words[0]], "test": first[words[1]], "other": second[words[0]]}
        made.append(Case(config, inputs, expected=expected))
    return made


HEAD = "def control_labels(train_words, test_words, vocabulary, generator):"
TABLE = "table = torch.randint(2, (vocabulary,), generator=generator)"
RESULT = "return table[train_words], table[test_words]"

MISTAKES = [
    TYPE.by(
        (
            RESULT,
            "return (torch.randint(2, train_words.shape, generator=generator), "
            "torch.randint(2, test_words.shape, generator=generator))",
        )
    ),
    TEST.by((RESULT, "return table[train_words], torch.randint(2, (vocabulary,), generator=generator)[test_words]")),
    CHANCE.by((TABLE, "table = torch.arange(vocabulary) % 2")),
    UNEVEN.by((TABLE, "table = (torch.rand(vocabulary, generator=generator) < 0.1).long()")),
    GENERATOR.by((TABLE, "table = torch.randint(2, (vocabulary,))")),
    CHANGED.by((RESULT, "found = table[train_words], table[test_words]\n    train_words.zero_()\n    return found")),
]

RIGHT = {
    "a dictionary": variant(
        HEAD,
        """
        found = {}
        def label(word):
            if word not in found:
                found[word] = int(torch.randint(2, (1,), generator=generator))
            return found[word]
        return (torch.tensor([label(word) for word in train_words.tolist()]),
                torch.tensor([label(word) for word in test_words.tolist()]))
    """,
    ),
    "unique words": variant(
        HEAD,
        """
        words, places = torch.cat([train_words, test_words]).unique(return_inverse=True)
        labels = torch.randint(0, 2, (len(words),), generator=generator)[places]
        return labels[: len(train_words)], labels[len(train_words) :]
    """,
    ),
    "a coin": [(TABLE, "table = (torch.rand(vocabulary, generator=generator) < 0.5).long()")],
}

EXERCISE = Exercise(
    cases,
    one_label_per_type,
    MISTAKES,
    right=RIGHT,
    framework="torch",
    shows=("one label per type", "the same in both halves", "drawn by chance"),
)

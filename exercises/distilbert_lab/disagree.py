"""What follows from attribution and from knocking out. The reasons quote the table that students see."""

from __future__ import annotations

from .._choices import statements

#: (layer, head) -> directly, knocked out, the right word
HEADS = {
    (3, 9): (0.00, 0.81, "indirect"),
    (5, 10): (0.44, 0.23, "redundant"),
    (1, 7): (0.00, 0.00, "idle"),
    (5, 0): (0.16, 0.20, "agree"),
}
WOULD = {
    "agree": "then both numbers would be about the same, and far from 0. They are {0:.2f} and {1:.2f}.",
    "indirect": "then it would write next to nothing into the logit, and be missed all the same. "
    "It writes {0:.2f}, and without it {1:.2f} are missing.",
    "redundant": "then more would be written than is missing afterwards. It writes {0:.2f}; {1:.2f} are missing.",
    "idle": "then both numbers would be near 0. They are {0:.2f} and {1:.2f}.",
}
QUESTIONS = {
    f"layer {layer}, head {head}": (right, {word: text.format(*moved) for word, text in WOULD.items() if word != right})
    for (layer, head), (*moved, right) in HEADS.items()
} | {
    "layers 0 to 2": (
        "not shown",
        {
            "shown": "direct attribution is blind to what works through other parts. Look at layer 2 in the table of "
            "knocked-out heads."
        },
    ),
    "a probe at layer 4": (
        "shown",
        {
            "not shown": "this is just what a probe shows, and with shuffled labels it stays at chance. That the model "
            "uses it is what another method would have to show."
        },
    ),
}

EXERCISE = statements("disagree", QUESTIONS)

"""Right and wrong readings of the demonstration. The visible check looks at their form alone."""

from __future__ import annotations

from autograder.exercise import SampleAnswer

COMPUTED = """
keys = "river bank cold water".split()
weights, value = ask("bank", " ".join(keys))
heaviest = keys[weights.argmax()]
nearest = vectors.similar(value)[0][0]
spread = "nearly equal" if weights.max() < 2 * weights.min() else "one takes nearly all"
"""


def wrong(
    name: str, points: float, heaviest: str, nearest: str, spread: str = "'nearly equal'", unseen: bool = True
) -> SampleAnswer:
    text = f"heaviest, nearest, spread = {heaviest}, {nearest}, {spread}"
    return SampleAnswer(name, text, points=points, unseen=unseen)


RIGHT = [
    SampleAnswer("capitals and spaces", 'heaviest, nearest, spread = " Bank", "WATER ", "Nearly  equal"'),
    SampleAnswer("a full stop", 'heaviest, nearest, spread = "bank.", "water.", "nearly equal."'),
    SampleAnswer("computed", COMPUTED),
    SampleAnswer("quotes within", "heaviest, nearest, spread = \"'bank'\", '\"water\"', 'nearly equal'"),
]

WRONG = [
    wrong("river is the heaviest", 2 / 3, "'river'", "'water'"),
    wrong("the first context's value", 2 / 3, "'bank'", "'money'"),
    wrong("one takes all", 2 / 3, "'bank'", "'water'", "'one takes nearly all'"),
    wrong("two wrong", 1 / 3, "'bank'", "'river'", "'one takes nearly all'"),
    wrong("all wrong", 0, "'cold'", "'bank'", "'one takes nearly all'"),
    wrong("numbers in place of words", 1 / 3, "1", "3", unseen=False),
    wrong("everything at once", 2 / 3, "'bank river cold water'", "'water'", unseen=False),
]

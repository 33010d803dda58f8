"""Right and wrong sets of statements."""

from autograder.exercise import SampleAnswer

RIGHT = [
    SampleAnswer("a list", 'true_statements = ["a", "c", "e"]'),
    SampleAnswer("another order, capitals", 'true_statements = ["e", "A", "c"]'),
    SampleAnswer("a tuple", 'true_statements = ("a", "c", "e")'),
]

WRONG = [
    SampleAnswer("one missing", 'true_statements = ["a", "c"]', points=0.5, mistake="PRETRAINING-e", passes_check=True),
    SampleAnswer(
        "one too many", 'true_statements = ["a", "c", "d", "e"]', points=0.5, mistake="PRETRAINING-d", passes_check=True
    ),
    SampleAnswer(
        "all", 'true_statements = ["a", "b", "c", "d", "e"]', points=0, mistake="PRETRAINING-b", passes_check=True
    ),
    SampleAnswer(
        "the wrong ones", 'true_statements = ["b", "d"]', points=0, mistake="PRETRAINING-a", passes_check=True
    ),
    SampleAnswer("an empty list", "true_statements = []", points=0),
    SampleAnswer("no such letter", 'true_statements = ["x"]', points=0),
    SampleAnswer("nothing", "true_statements = None", points=0),
    SampleAnswer("a number", "true_statements = 3", points=0),
]

ACCEPTED = {
    "pretraining-bff1572d": "The order of the letters is free.",
    "pretraining-f4f3c9c4": "The order of the letters is free.",
}

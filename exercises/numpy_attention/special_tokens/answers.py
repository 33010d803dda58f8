"""Right and wrong letters for [CLS] and [SEP]."""

from autograder.exercise import SampleAnswer

RIGHT = [
    SampleAnswer("the letters", 'cls_token, sep_token = "a", "b"'),
    SampleAnswer("capitals", 'cls_token, sep_token = "A", "B"'),
    SampleAnswer("with blanks", 'cls_token, sep_token = " a", " b"'),
]

WRONG = [
    SampleAnswer("exchanged", 'cls_token, sep_token = "b", "a"', points=0, mistake="CLS-b", passes_check=True),
    SampleAnswer(
        "[SEP] a full stop", 'cls_token, sep_token = "a", "f"', points=0.5, mistake="SEP-f", passes_check=True
    ),
    SampleAnswer("[CLS] a mask", 'cls_token, sep_token = "d", "b"', points=0.5, mistake="CLS-d", passes_check=True),
    SampleAnswer(
        "[CLS] unknown words", 'cls_token, sep_token = "e", "b"', points=0.5, mistake="CLS-e", passes_check=True
    ),
    SampleAnswer("[SEP] padding", 'cls_token, sep_token = "a", "c"', points=0.5, mistake="SEP-c", passes_check=True),
    SampleAnswer("no such letter", 'cls_token, sep_token = "?", "a"', points=0, mistake="SEP-a"),
]

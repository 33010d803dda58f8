"""Right and wrong letters."""

from autograder.exercise import SampleAnswer

RIGHT = [
    SampleAnswer("the letter", 'on_top = "c"'),
    SampleAnswer("a capital", 'on_top = "C"'),
    SampleAnswer("with blanks", 'on_top = " c "'),
]

WRONG = [
    SampleAnswer("the mean of all tokens", 'on_top = "a"', points=0, mistake="ON-TOP-a", passes_check=True),
    SampleAnswer("the dropout moved", 'on_top = "b"', points=0, mistake="ON-TOP-b", passes_check=True),
    SampleAnswer("a narrower layer", 'on_top = "d"', points=0, mistake="ON-TOP-d", passes_check=True),
    SampleAnswer("all tokens", 'on_top = "e"', points=0, mistake="ON-TOP-e", passes_check=True),
    SampleAnswer("no such letter", 'on_top = "z"', points=0),
]

"""Right and wrong names and letters."""

from autograder.exercise import SampleAnswer

NAMES = [
    "tokenizer", "the tokenizer", "DistilBertTokenizer", "DistilBertTokenizer.from_pretrained",
    "tokenzier (DistilBertTokenizer.from_pretrained)", "tokenizer.encode_plus(...)", "AutoTokenizer", "tokenize",
]  # fmt: skip
OTHERS = {
    "DataLoader": "PREPARES-loader", "Dataset": "PREPARES-dataset", "Triage": "PREPARES-triage",
    "embedding": "PREPARES-embedding", "DistilBertModel": "PREPARES-model", "split()": "PREPARES-split",
    "BERT": "PREPARES-model", "numpy": "",
}  # fmt: skip
LETTERS = {"no padding": "a", "fewer positions": "b", "ends cut off": "c", "no spaces": "e"}


def _text(name: str, letter: str = "d") -> str:
    return f'prepares_text = "{name}"\nlets_padding_in = "{letter}"\n'


RIGHT = [*(SampleAnswer(name, _text(name)) for name in NAMES), SampleAnswer("a capital", _text("tokenizer", " D"))]
WRONG = [
    *(SampleAnswer(name, _text(name), points=0.5, mistake=id, passes_check=True) for name, id in OTHERS.items()),
    *(SampleAnswer(name, _text("tokenizer", letter), points=0.5, mistake=f"PADDING-{letter}", passes_check=True)
      for name, letter in LETTERS.items()),
    SampleAnswer("both wrong", _text("Triage", "a"), points=0, mistake="PREPARES-triage", passes_check=True),
    SampleAnswer("no such letter", _text("tokenizer", "f"), points=0.5),
]  # fmt: skip

ACCEPTED = {"text_preparation-a2558155": "The tokenizer is named; what is called on it is not asked for."}

"""Right and wrong names."""

from autograder.exercise import SampleAnswer

RIGHT = [
    SampleAnswer("tokenizer", 'prepares_text = "tokenizer"'),
    SampleAnswer("the tokenizer", 'prepares_text = "the tokenizer"'),
    SampleAnswer("DistilBertTokenizer", 'prepares_text = "DistilBertTokenizer"'),
    SampleAnswer("DistilBertTokenizer.from_pretrained", 'prepares_text = "DistilBertTokenizer.from_pretrained"'),
    SampleAnswer(
        "tokenzier (DistilBertTokenizer.from_pretrained)",
        'prepares_text = "tokenzier (DistilBertTokenizer.from_pretrained)"',
    ),
    SampleAnswer("tokenizer.encode_plus(...)", 'prepares_text = "tokenizer.encode_plus(...)"'),
    SampleAnswer("AutoTokenizer", 'prepares_text = "AutoTokenizer"'),
    SampleAnswer("tokenize", 'prepares_text = "tokenize"'),
]

WRONG = [
    SampleAnswer("DataLoader", 'prepares_text = "DataLoader"', points=0, mistake="PREPARES-loader", unseen=True),
    SampleAnswer("Dataset", 'prepares_text = "Dataset"', points=0, mistake="PREPARES-dataset", unseen=True),
    SampleAnswer("Triage", 'prepares_text = "Triage"', points=0, mistake="PREPARES-triage", unseen=True),
    SampleAnswer("embedding", 'prepares_text = "embedding"', points=0, mistake="PREPARES-embedding", unseen=True),
    SampleAnswer(
        "DistilBertModel", 'prepares_text = "DistilBertModel"', points=0, mistake="PREPARES-model", unseen=True
    ),
    SampleAnswer("split()", 'prepares_text = "split()"', points=0, mistake="PREPARES-split", unseen=True),
    SampleAnswer("BERT", 'prepares_text = "BERT"', points=0, mistake="PREPARES-model", unseen=True),
    SampleAnswer("numpy", 'prepares_text = "numpy"', points=0, unseen=True),
]

ACCEPTED = {"text_preparation-a2558155": "The tokenizer is named; what is called on it is not asked for."}

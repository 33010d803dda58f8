"""Functions from ids to tokens that are right or wrong."""

from __future__ import annotations

from textwrap import indent

from autograder.exercise import SampleAnswer


def _right(name: str, body: str) -> SampleAnswer:
    return SampleAnswer(name, "def ids_to_tokens(tokenizer, input_ids):\n" + indent(body, "    ") + "\n")


def _wrong(name: str, mistake: str, returned: str) -> SampleAnswer:
    text = f"def ids_to_tokens(tokenizer, input_ids):\n    return {returned}\n"
    return SampleAnswer(name, text, mistake=mistake, points=0)


RIGHT = [
    _right("each id decoded by itself", "return [tokenizer.decode([i]) for i in input_ids[0].tolist()]"),
    _right("a batch of single ids decoded", "return tokenizer.batch_decode(input_ids.T)"),
    _right("a tuple by map, keywords alone", "return (*map(tokenizer.convert_ids_to_tokens, input_ids.tolist()[0]),)"),
    _right(
        "the backend's own lookup, with type hints and a walrus",
        "row: list[int] = input_ids.view(-1).tolist()\n"
        "look = tokenizer.backend_tokenizer.id_to_token\n"
        "return [token for i in row if (token := look(i)) is not None]",
    ),
    _right("a tensor of ids", "return tokenizer.convert_ids_to_tokens(input_ids[0])"),
    _right("id by id", "return [tokenizer.convert_ids_to_tokens(int(i)) for i in input_ids[0]]"),
    _right("batch axis squeezed away", "return tokenizer.convert_ids_to_tokens(input_ids.squeeze().numpy())"),
    _right(
        "the vocabulary turned round",
        "words = {i: word for word, i in tokenizer.get_vocab().items()}\n"
        "return tuple(words[i] for i in input_ids.flatten().tolist())",
    ),
]

WRONG = [
    _wrong("every token twice", "M17-count", "tokenizer.convert_ids_to_tokens(input_ids[0]) * 2"),
    _wrong("a list in a list", "M17-nested", "[tokenizer.convert_ids_to_tokens(ids) for ids in input_ids.tolist()]"),
    _wrong(
        "special tokens left out",
        "M17-special",
        "tokenizer.convert_ids_to_tokens(input_ids[0], skip_special_tokens=True)",
    ),
    _wrong("one sentence", "M17-sentence", "tokenizer.decode(input_ids[0])"),
    _wrong("the tokens joined", "M17-sentence", '" ".join(tokenizer.convert_ids_to_tokens(input_ids[0]))'),
    _wrong(
        "each token once", "M17-count", "list(dict.fromkeys(tokenizer.convert_ids_to_tokens(input_ids[0].tolist())))"
    ),
    _wrong("the first 16 alone", "M17-count", "tokenizer.convert_ids_to_tokens(input_ids[0])[:16]"),
    _wrong("the ids themselves", "", "input_ids[0].tolist()"),
    _wrong("reversed", "", "tokenizer.convert_ids_to_tokens(input_ids[0])[::-1]"),
    _wrong(
        "pieces without their marks",
        "",
        '[token.lstrip("#") for token in tokenizer.convert_ids_to_tokens(input_ids[0])]',
    ),
]

"""Sentences to ids."""

import subprocess
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
import torch
from transformers import PreTrainedTokenizerFast

from course import Config
from course.errors import SentenceError
from course.reviews import load_reviews
from course.tokenizer import TOKENIZER_FILE, encode, load_tokenizer

SENTENCE = "This was one of the best movies I have ever seen."
IDS = [101, 2023, 2001, 2028, 1997, 1996, 2190, 5691, 1045, 2031, 2412, 2464, 1012, 102]


def test_the_sentence_of_the_sheet_has_its_fourteen_ids() -> None:
    inputs = load_tokenizer()(SENTENCE, return_tensors="pt")
    assert list(inputs) == ["input_ids", "attention_mask"]
    assert inputs["input_ids"].tolist() == [IDS]
    assert inputs["attention_mask"].tolist() == [[1] * 14]


ODD = [
    "", "  ", "don't, you're; we've", "½ ² ①", "a\u00a0b", "한국어 テスト", "ﬁx ǆ Ⅷ", "tabs\tand\nnewlines\r\n",
    "naïve café Ångström ß İstanbul", "中文 字 test 漢", "a\u200bb c\u0301d \x07 \ue000 \u2072",
    "[MASK] is [MASK]! [mask] [CLS]", "x" * 100, "x" * 101, "emoji 😀 done", "$5.00 +/- 3% <b>",
    "“quoted” – dash…",
]  # fmt: skip


@cache
def transformers_own() -> PreTrainedTokenizerFast:
    names = {f"{name}_token": f"[{name.upper()}]" for name in ("unk", "sep", "pad", "cls", "mask")}
    return PreTrainedTokenizerFast(tokenizer_file=str(TOKENIZER_FILE), **names)


ROWS = torch.tensor([[101, 7592, 103, 102], [101, 2143, 1012, 102]])


@pytest.mark.parametrize(
    "call",
    [
        lambda tokenizer: tokenizer.convert_ids_to_tokens(ROWS[0]),
        lambda tokenizer: tokenizer.convert_ids_to_tokens(7592),
        lambda tokenizer: tokenizer.convert_ids_to_tokens(ROWS[0], skip_special_tokens=True),
        lambda tokenizer: tokenizer.convert_tokens_to_ids("film"),
        lambda tokenizer: (tokenizer.decode(ROWS), tokenizer.decode(ROWS[1]), tokenizer.decode(7592)),
        lambda tokenizer: tokenizer.batch_decode(ROWS.T, skip_special_tokens=True),
        lambda tokenizer: (tokenizer.encode("a film"), tokenizer.vocab, tokenizer.mask_token),
        lambda tokenizer: tokenizer.backend_tokenizer.id_to_token(9),
    ],
)
def test_it_is_asked_as_those_of_transformers_are(call: Callable[[Any], Any]) -> None:
    assert call(load_tokenizer()) == call(transformers_own())


def test_ids_and_texts_are_those_of_transformers() -> None:
    theirs, ours = transformers_own(), load_tokenizer()
    reviews = load_reviews()
    texts = [*ODD, *reviews.train.texts, *reviews.test.texts]
    ids = [theirs(text)["input_ids"] for text in texts]
    assert [text for text, wanted in zip(texts, ids, strict=True) if ours(text)["input_ids"] != wanted] == []
    for skip in (False, True):
        decoded = [theirs.decode(one, skip_special_tokens=skip) for one in ids]
        assert [ours.decode(one, skip_special_tokens=skip) for one in ids] == decoded
    to_nine = {"padding": "max_length", "truncation": True, "max_length": 9}
    everything = range(ours.vocab_size)
    assert [ours.decode([id]) for id in everything] == [theirs.decode([id]) for id in everything]
    for options in (to_nine, {"padding": True}, {"truncation": True, "max_length": 7}, {"return_token_type_ids": True}):
        wanted = theirs(texts[2:40], **{"return_token_type_ids": False, **options})
        assert ours(texts[2:40], **options) == dict(wanted)
    pair = {"add_special_tokens": True, "return_token_type_ids": True}
    assert ours("time flies", "fruit flies like", **pair) == dict(theirs("time flies", "fruit flies like", **pair))
    alone = theirs("time flies", add_special_tokens=False, return_token_type_ids=False)
    assert ours("time flies", add_special_tokens=False) == dict(alone)


def test_sentences_become_ids_without_transformers() -> None:
    code = "import sys; from course.tokenizer import load_tokenizer; load_tokenizer()('a film'); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"torch", "transformers", "tokenizers"} & {*loaded}


def test_ids_become_tokens_again() -> None:
    tokens = load_tokenizer().convert_ids_to_tokens(IDS)
    assert " ".join(tokens) == "[CLS] this was one of the best movies i have ever seen . [SEP]"


def test_the_special_tokens_have_distilberts_ids() -> None:
    tokenizer = load_tokenizer()
    special = (tokenizer.pad_token_id, tokenizer.unk_token_id, tokenizer.cls_token_id, tokenizer.sep_token_id)
    assert (*special, tokenizer.mask_token_id, len(tokenizer)) == (0, 100, 101, 102, 103, 30522)


def test_a_batch_is_padded_to_its_longest_sentence() -> None:
    batch = encode([SENTENCE, "I hate this so much!"], Config.mini())
    assert batch["input_ids"][1].tolist() == [101, 1045, 5223, 2023, 2061, 2172, 999, 102] + [0] * 6
    assert batch["attention_mask"].sum(dim=1).tolist() == [14, 8]


def test_a_sentence_of_512_tokens_is_taken_and_one_more_is_refused() -> None:
    config = Config.distilbert()
    assert encode("word " * 510, config)["input_ids"].shape == (1, 512)
    with pytest.raises(SentenceError) as error:
        encode(["short", "word " * 511], config)
    message = str(error.value)
    assert "word word" in message and "513 tokens" in message and "512" in message and "\n" not in message


def test_a_tensor_takes_sentences_of_one_length() -> None:
    with pytest.raises(SentenceError, match="padding=True"):
        load_tokenizer()(["one", "one more"], return_tensors="pt")


@pytest.mark.parametrize("nothing", [[], 7, [3, 4], None])
def test_what_is_no_sentence_is_refused(nothing: object) -> None:
    with pytest.raises(SentenceError, match="takes a sentence"):
        encode(nothing, Config.mini())  # type: ignore[arg-type]

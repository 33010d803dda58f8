"""From sentences to token ids: DistilBERT's tokenizer (uncased WordPiece), with its vocabulary.

Called as the tokenizers of ``transformers`` are, and gives the same ids; a test compares them. The rules are those of
BERT: Devlin and others, 2019, and the WordPiece of Wu and others, 2016, section 4.1.
"""

import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from course.config import Config
from course.errors import CheckpointError, SentenceError

TOKENIZER_FILE = Path(__file__).parent / "checkpoints" / "mini" / "tokenizer.json"
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
#: A longer word is unknown, whatever it consists of.
_MAX_WORD = 100
#: The blocks of Chinese characters, each of which is a word.
_CHINESE = re.compile(
    "([\u4e00-\u9fff\u3400-\u4dbf\uf900-\ufaff\U00020000-\U0002a6df\U0002a700-\U0002ceaf\U0002f800-\U0002fa1f])"
)


class Encoding(dict[str, Any]):
    """``input_ids``, ``attention_mask`` and, where asked for, ``token_type_ids``; also as attributes."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError as error:
            raise AttributeError(name) from error

    def to(self, device: Any) -> "Encoding":
        """The same tensors on another device."""
        return Encoding({name: tensor.to(device) for name, tensor in self.items()})


class WordPiece:
    """A tokenizer. ``vocabulary``: token -> id; an entry with ``##`` in front goes on with a word."""

    def __init__(self, vocabulary: dict[str, int]) -> None:
        self._ids = vocabulary
        self._tokens = {id: token for token, id in vocabulary.items()}
        self.vocab_size = len(vocabulary)
        self.all_special_tokens, self.all_special_ids = list(SPECIAL), [vocabulary[token] for token in SPECIAL]
        self.pad_token, self.unk_token, self.cls_token, self.sep_token, self.mask_token = SPECIAL
        self.pad_token_id, self.unk_token_id, self.cls_token_id, self.sep_token_id, self.mask_token_id = (
            self.all_special_ids
        )

    def __len__(self) -> int:
        return self.vocab_size

    def get_vocab(self) -> dict[str, int]:
        return dict(self._ids)

    @property
    def vocab(self) -> dict[str, int]:
        return self.get_vocab()

    def tokenize(self, text: str, add_special_tokens: bool = False) -> list[str]:
        """The tokens of a text; a special one that stands in it is a token."""
        parts = re.split(r"(\[(?:PAD|UNK|CLS|SEP|MASK)\])", text)
        tokens = [token for part in parts for token in ([part] if part in SPECIAL else self._of_words(part))]
        return ["[CLS]", *tokens, "[SEP]"] if add_special_tokens else tokens

    def _of_words(self, text: str) -> Iterator[str]:
        for word in _words(text):
            yield from self._pieces(word)

    def _pieces(self, word: str) -> list[str]:
        """The longest beginning that has an entry, then the same with the rest; unknown where nothing fits."""
        pieces: list[str] = []
        start = 0
        while start < len(word) <= _MAX_WORD:
            mark = "##" if start else ""
            fitting = (end for end in range(len(word), start, -1) if mark + word[start:end] in self._ids)
            end = next(fitting, None)
            if end is None:
                return ["[UNK]"]
            pieces.append(mark + word[start:end])
            start = end
        return pieces or ["[UNK]"]

    def convert_tokens_to_ids(self, tokens: Any) -> Any:
        """The id of a token, or those of a list."""
        if isinstance(tokens, str):
            return self._ids.get(tokens, self.unk_token_id)
        return [self._ids.get(token, self.unk_token_id) for token in tokens]

    def convert_ids_to_tokens(self, ids: Any, skip_special_tokens: bool = False) -> Any:
        """The token of an id, or those of a list, an array or a tensor with one axis."""
        if not _axes(ids):
            return self.id_to_token(int(ids))
        tokens = [self.id_to_token(int(id)) for id in ids]
        return [token for token in tokens if not (skip_special_tokens and token in SPECIAL)]

    def id_to_token(self, id: int) -> str | None:
        return self._tokens.get(id)

    @property
    def backend_tokenizer(self) -> "WordPiece":
        """Itself: beneath this tokenizer lies no other, as beneath those of ``transformers``."""
        return self

    def decode(self, ids: Any, skip_special_tokens: bool = False) -> Any:
        """The text again, in lower case and without accents; of rows of ids the text of each."""
        if _axes(ids) > 1:
            return self.batch_decode(ids, skip_special_tokens)
        kept = self.convert_ids_to_tokens(ids if _axes(ids) else [ids], skip_special_tokens)
        return re.sub(" ([.?!,])", r"\1", " ".join(kept).replace(" ##", ""))

    def batch_decode(self, rows: Any, skip_special_tokens: bool = False) -> list[str]:
        return [self.decode(row, skip_special_tokens) for row in rows]

    def encode(self, text: str, pair: str | None = None, **options: Any) -> Any:
        """The ids alone."""
        return self(text, pair, **options)["input_ids"]

    def __call__(
        self,
        text: str | Sequence[str],
        pair: str | None = None,
        *,
        padding: bool | str = False,
        truncation: bool = False,
        max_length: int | None = None,
        add_special_tokens: bool = True,
        return_token_type_ids: bool = False,
        return_tensors: str | None = None,
    ) -> Encoding:
        """The ids of a text, of a pair of texts, or of a list of texts: lists, or with "pt" tensors (texts, tokens).

        padding: to the longest text, or "max_length", to ``max_length``. Raises SentenceError where tensors are asked
        for of texts with different lengths that are not padded.
        """
        texts = [text] if isinstance(text, str) else list(text)
        limit = max_length if truncation else None
        rows = [self._row(one, pair, add_special_tokens, limit) for one in texts]
        width = max_length if padding == "max_length" else max(len(ids) for ids, _ in rows)
        missing = [max(0, (width or 0) - len(ids)) if padding else 0 for ids, _ in rows]
        encoding = Encoding(
            input_ids=[ids + [self.pad_token_id] * gap for (ids, _), gap in zip(rows, missing, strict=True)],
            attention_mask=[[1] * len(ids) + [0] * gap for (ids, _), gap in zip(rows, missing, strict=True)],
        )
        if return_token_type_ids:
            encoding["token_type_ids"] = [kinds + [0] * gap for (_, kinds), gap in zip(rows, missing, strict=True)]
        if return_tensors == "pt":
            return _tensors(encoding)
        return encoding if not isinstance(text, str) else Encoding({name: one[0] for name, one in encoding.items()})

    def _row(self, text: str, pair: str | None, special: bool, limit: int | None) -> tuple[list[int], list[int]]:
        """(ids, which text each is of) of one text, or of two."""
        first = self.convert_tokens_to_ids(self.tokenize(text))
        if limit is not None:
            first = first[: limit - 2 if special else limit]
        second = [] if pair is None else self.convert_tokens_to_ids(self.tokenize(pair))
        if special:
            first = [self.cls_token_id, *first, self.sep_token_id]
            second = [*second, self.sep_token_id] if pair is not None else []
        return first + second, [0] * len(first) + [1] * len(second)


def _axes(ids: Any) -> int:
    if hasattr(ids, "shape"):
        return len(ids.shape)
    return 1 + (_axes(ids[0]) if len(ids) else 0) if hasattr(ids, "__len__") else 0


def _tensors(encoding: Encoding) -> Encoding:
    import torch

    if len({len(ids) for ids in encoding["input_ids"]}) > 1:
        raise SentenceError("The sentences have different numbers of tokens: one tensor needs padding=True.")
    return Encoding({name: torch.tensor(rows) for name, rows in encoding.items()})


def _words(text: str) -> list[str]:
    """In lower case, without accents and control characters; a sign of punctuation is a word of its own."""
    kept = "".join(" " if one.isspace() else one for one in text if one in "\t\n\r" or not _is_control(one))
    plain = unicodedata.normalize("NFD", _CHINESE.sub(r" \1 ", kept))
    plain = "".join(one for one in plain if unicodedata.category(one) != "Mn").lower()
    return "".join(f" {one} " if _is_punctuation(one) else one for one in plain).split()


def _is_control(one: str) -> bool:
    return one == "\ufffd" or unicodedata.category(one) in ("Cc", "Cf", "Co")


def _is_punctuation(one: str) -> bool:
    return (one.isascii() and one.isprintable() and not one.isalnum() and one != " ") or (
        unicodedata.category(one)[0] == "P"
    )


@cache
def load_tokenizer() -> WordPiece:
    """The tokenizer of both checkpoints (30,522 tokens).

    ``tokenizer(sentence, return_tensors="pt")`` gives ``input_ids`` and ``attention_mask``, each of shape
    (sentences, tokens); ``tokenizer.convert_ids_to_tokens(ids)`` gives the tokens as text.
    """
    if not TOKENIZER_FILE.is_file():
        raise CheckpointError(f"The tokenizer is missing: expected {TOKENIZER_FILE}. Install the course again.")
    return WordPiece(json.loads(TOKENIZER_FILE.read_text(encoding="utf-8"))["model"]["vocab"])


def encode(sentences: str | Sequence[str], config: Config) -> Encoding:
    """``input_ids`` and ``attention_mask`` (batch, tokens) of a sentence, or of a batch padded to its longest.

    Raises SentenceError where a sentence has more tokens than ``config.max_position_embeddings``.
    """
    texts = [sentences] if isinstance(sentences, str) else sentences
    if not isinstance(texts, list | tuple) or not texts or not all(isinstance(text, str) for text in texts):
        raise SentenceError(f"encode takes a sentence or a list of sentences, not {sentences!r:.60}.")
    encoded = load_tokenizer()(texts, padding=True, return_tensors="pt")
    n_tokens, limit = encoded["input_ids"].shape[1], config.max_position_embeddings
    if n_tokens > limit:
        longest = texts[int(encoded["attention_mask"].sum(dim=1).argmax())]
        raise SentenceError(
            f"The sentence {longest[:30]!r}… has {n_tokens} tokens, but the model knows {limit} positions: "
            f"shorten it or split it in two."
        )
    return encoded

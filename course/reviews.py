"""Film reviews to train on: a small set that comes with the course, and larger ones from the hub.

``load_reviews()`` reads ``course/data/reviews/``: 6,500 sentences to train on and 1,000 to test on, half of them
positive (Pang and Lee 2005, CC BY 4.0; see the README there). ``fetch_reviews("yelp")`` and ``fetch_reviews("sst2")``
ask the hub's dataset viewer for as many rows as you want, a hundred at a time, and keep them.
"""

import json
import os
import random
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from course.errors import DownloadError
from course.tokenizer import load_tokenizer

FOLDER = Path(__file__).parent / "data" / "reviews"
SERVER = "https://datasets-server.huggingface.co"
PAGE = 100  # rows: the most that the dataset viewer gives at once
TIMEOUT = 20  # seconds without a byte
ATTEMPTS = 4
REMEDY = "Try again later, or train on the reviews that come with the course: load_reviews()."


@dataclass(frozen=True)
class Reviews:
    """Texts with their labels, 0 to ``n_classes - 1``; ``names[label]`` is the label in words."""

    texts: Sequence[str]
    labels: Sequence[int]
    names: Sequence[str] = ("negative", "positive")

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def n_classes(self) -> int:
        return len(self.names)


@dataclass(frozen=True)
class Split:
    """What a model learns from, and what it is judged by; no sentence stands in both."""

    train: Reviews
    test: Reviews


def load_reviews() -> Split:
    """The small set that comes with the course."""
    return Split(_read("train"), _read("test"))


def _read(name: str) -> Reviews:
    # split on \n alone: splitlines would also split at rarer signs that a sentence may hold
    rows = [row.split("\t", 1) for row in (FOLDER / f"{name}.tsv").read_text(encoding="utf-8").split("\n") if row]
    return Reviews([text for _, text in rows], [int(label) for label, _ in rows])


# --- batches ----------------------------------------------------------------------------------------------------------


def over_reviews(hits: Tensor) -> tuple[float, float]:
    """hits (reviews,), 1 where one model is right and else 0 -> its accuracy p, and √(p(1 - p)/n), the error of p"""
    return float(hits.mean()), float(hits.std(correction=0)) / len(hits) ** 0.5


def paired(hits: Tensor, others: Tensor) -> tuple[float, float]:
    """Two models' hits (reviews,) on the same reviews -> by how much the first is better, and the error of that"""
    return over_reviews(hits - others)


@dataclass(frozen=True)
class Batches:
    """Reviews as tensors, batch by batch: ``input_ids`` (batch, tokens), padded with 0, and ``labels`` (batch,).

    Each batch is as wide as its longest review. With a ``seed`` the order is another one in each epoch, and the same
    again in the next run.
    """

    ids: Sequence[Sequence[int]]
    labels: Sequence[int]
    size: int
    seed: int | None = None

    @classmethod
    def of(cls, reviews: Reviews, size: int = 32, seed: int | None = None, max_tokens: int = 128) -> "Batches":
        """max_tokens: longer reviews are cut there"""
        encoded = load_tokenizer()(list(reviews.texts), truncation=True, max_length=max_tokens)["input_ids"]
        return cls(encoded, list(reviews.labels), size, seed)

    def __len__(self) -> int:
        return -(-len(self.ids) // self.size)

    @property
    def longest(self) -> int:
        """Tokens of the longest review."""
        return max(map(len, self.ids))

    def epoch(self, number: int = 0) -> Iterator[tuple[Tensor, Tensor]]:
        order = list(range(len(self.ids)))
        if self.seed is not None:
            random.Random(self.seed + number).shuffle(order)
        for start in range(0, len(order), self.size):
            chosen = order[start : start + self.size]
            width = max(len(self.ids[i]) for i in chosen)
            rows = [[*self.ids[i], *[0] * (width - len(self.ids[i]))] for i in chosen]
            yield torch.tensor(rows), torch.tensor([self.labels[i] for i in chosen])


@dataclass(frozen=True)
class EqualLengths(Batches):
    """Batches in which all reviews have the same number of tokens, so that there is no padding.

    Some are smaller than ``size``: what is left over of a length. The order of the batches is drawn, too.
    """

    def __len__(self) -> int:
        return sum(-(-len(places) // self.size) for places in self._by_length(range(len(self.ids))))

    def epoch(self, number: int = 0) -> Iterator[tuple[Tensor, Tensor]]:
        order, generator = list(range(len(self.ids))), random.Random((self.seed or 0) + number)
        if self.seed is not None:
            generator.shuffle(order)
        alike = self._by_length(order)
        chosen = [places[i : i + self.size] for places in alike for i in range(0, len(places), self.size)]
        if self.seed is not None:
            generator.shuffle(chosen)
        for places in chosen:
            yield torch.tensor([self.ids[i] for i in places]), torch.tensor([self.labels[i] for i in places])

    def _by_length(self, order: Sequence[int]) -> list[list[int]]:
        """The places of the reviews, those of one length together."""
        found: dict[int, list[int]] = {}
        for place in order:
            found.setdefault(len(self.ids[place]), []).append(place)
        return list(found.values())


# --- the hub ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Source:
    """A data set on the hub: its address there, which columns matter, and the labels in words."""

    dataset: str
    config: str
    text: str
    names: tuple[str, ...]
    test: str  # the split to test on, whose labels are known


SOURCES = {
    # Socher et al. 2013. The labels of its "test" split are hidden.
    "sst2": Source("stanfordnlp/sst2", "default", "sentence", ("negative", "positive"), "validation"),
    # Zhang, Zhao and LeCun 2015: reviews of businesses, with one to five stars
    "yelp": Source("Yelp/yelp_review_full", "yelp_review_full", "text",
                   ("1 star", "2 stars", "3 stars", "4 stars", "5 stars"), "test"),
}  # fmt: skip


def fetch_reviews(name: str, n_train: int = 10_000, n_test: int = 1_000) -> Split:
    """Reviews of ``"yelp"`` or ``"sst2"`` from the hub, kept in the course's cache for the next time.

    Raises DownloadError where the hub cannot be reached, refuses, or answers something else.
    """
    if name not in SOURCES:
        raise DownloadError(f"There is no review set named {name!r}; the hub's are {' and '.join(SOURCES)}.")
    source = SOURCES[name]
    test = _kept(name, source, source.test, n_test)
    train = _kept(name, source, "train", n_train)
    known = {_key(text) for text in test.texts}
    fresh = [place for place, text in enumerate(train.texts) if _key(text) not in known]
    return Split(Reviews([train.texts[i] for i in fresh], [train.labels[i] for i in fresh], source.names), test)


def _key(text: str) -> str:
    return re.sub(r"\W+", "", text.lower())


def _kept(name: str, source: Source, split: str, count: int) -> Reviews:
    from huggingface_hub import constants

    path = Path(constants.HF_HOME) / "course" / "reviews" / f"{name}-{split}-{count}.json"
    if not path.is_file():
        rows = _download(source, split, count)
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(f"{path.name}.{os.getpid()}.part")
        partial.write_text(json.dumps(rows), encoding="utf-8")
        partial.replace(path)
    labels, texts = zip(*json.loads(path.read_text(encoding="utf-8")), strict=True)
    return Reviews(list(texts), list(labels), source.names)


def _download(source: Source, split: str, count: int) -> list[tuple[int, str]]:
    from huggingface_hub import constants
    from tqdm.auto import tqdm

    if constants.HF_HUB_OFFLINE:
        raise DownloadError(
            f"{source.dataset} is not on this computer, and HF_HUB_OFFLINE forbids the download. {REMEDY}"
        )
    rows: list[tuple[int, str]] = []
    with tqdm(total=count, desc=f"{source.dataset} {split}", unit="rows") as bar:
        while len(rows) < count:
            page = _page(source, split, len(rows), min(PAGE, count - len(rows)))
            if not page:
                raise DownloadError(f"{source.dataset} has {len(rows)} rows in {split}, fewer than {count}.")
            rows += page
            bar.update(len(page))
    return rows


def _page(source: Source, split: str, offset: int, length: int) -> list[tuple[int, str]]:
    """Rows ``offset`` to ``offset + length``; a server that is busy is asked again, later each time."""
    import requests

    query: dict[str, str | int] = {"dataset": source.dataset, "config": source.config, "split": split,
                                   "offset": offset, "length": length}  # fmt: skip
    why = ""
    for attempt in range(ATTEMPTS):
        if attempt:
            time.sleep(2.0**attempt)
        try:
            response = requests.get(f"{SERVER}/rows", params=query, timeout=TIMEOUT)
        except requests.RequestException as error:
            why = type(error).__name__
            continue
        if response.status_code == 200:
            return _rows(response, source)
        why = f"HTTP {response.status_code}"
        if response.status_code not in (429, 500, 502, 503, 504):
            break
    raise DownloadError(f"The hub does not give {source.dataset} ({why}). {REMEDY}")


def _rows(response: Any, source: Source) -> list[tuple[int, str]]:
    try:
        rows = [row["row"] for row in response.json()["rows"]]
        return [(int(row["label"]), str(row[source.text])) for row in rows]
    except (ValueError, KeyError, TypeError) as error:
        raise DownloadError(
            f"The hub's answer for {source.dataset} looks different from what the course knows ({error!r}). {REMEDY}"
        ) from error

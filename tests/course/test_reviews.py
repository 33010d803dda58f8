"""The review set that comes with the course, its batches, and the larger sets from a stand-in for the hub."""

import json
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
import torch
from huggingface_hub import constants

from course import reviews
from course.errors import DownloadError
from course.reviews import Batches, EqualLengths, Reviews, fetch_reviews, load_reviews
from tools import make_reviews

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("COURSE_DATA", ROOT.parent / "shared" / "data"))


def test_the_set_has_6500_and_1000_sentences_half_of_them_positive() -> None:
    split = load_reviews()
    assert (len(split.train), sum(split.train.labels)) == (6500, 3250)
    assert (len(split.test), sum(split.test.labels)) == (1000, 500)


def test_no_sentence_stands_twice_or_in_both_parts() -> None:
    split = load_reviews()
    keys = [reviews._key(text) for text in [*split.train.texts, *split.test.texts]]
    assert len(set(keys)) == len(keys)


def test_the_files_are_small_and_say_where_they_come_from() -> None:
    assert sum(path.stat().st_size for path in reviews.FOLDER.glob("*.tsv")) < 1_000_000
    readme = (reviews.FOLDER / "README.md").read_text(encoding="utf-8")
    assert "CC BY 4.0" in readme or "Creative Commons Attribution 4.0" in readme


def test_no_sentence_holds_a_control_character_or_a_tab() -> None:
    split = load_reviews()
    odd = {sign for text in [*split.train.texts, *split.test.texts] for sign in text if not sign.isprintable()}
    assert odd == set()


@pytest.mark.skipif(not (DATA / "sentence-polarity").is_dir(), reason="needs the source data: set COURSE_DATA")
def test_the_script_makes_the_same_bytes_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["make_reviews.py", "--out", str(tmp_path)])
    monkeypatch.setenv("COURSE_DATA", str(DATA))
    make_reviews.main()
    for name in ("train.tsv", "test.tsv"):
        assert (tmp_path / name).read_bytes() == (reviews.FOLDER / name).read_bytes()


def test_a_batch_is_as_wide_as_its_longest_review_and_filled_with_0() -> None:
    batches = Batches.of(Reviews(["good", "a long and winding film", "bad"], [1, 1, 0]), size=2)
    (first, labels), (second, _) = batches.epoch()
    assert (len(batches), first.shape, labels.tolist(), second.shape) == (2, (2, 7), [1, 1], (1, 3))
    assert first[0].tolist()[3:] == [0, 0, 0, 0]
    assert batches.longest == 7


def test_a_seed_makes_another_order_in_each_epoch_and_the_same_in_the_next_run() -> None:
    texts = Reviews([f"film {number}" for number in range(40)], [0] * 40)
    once, again = Batches.of(texts, 40, seed=5), Batches.of(texts, 40, seed=5)
    assert torch.equal(next(once.epoch(0))[0], next(again.epoch(0))[0])
    assert not torch.equal(next(once.epoch(0))[0], next(once.epoch(1))[0])


def test_a_long_review_is_cut() -> None:
    assert Batches.of(Reviews(["good " * 300], [1])).longest == 128


# --- the hub ----------------------------------------------------------------------------------------------------------


@dataclass
class Viewer:
    """The dataset viewer's answers, and what was asked of it."""

    total: int = 250
    refuse: list[int] = field(default_factory=list)  # status codes of the next answers
    garbled: bool = False
    asked: list[dict[str, str]] = field(default_factory=list)

    def answer(self, query: dict[str, str]) -> bytes:
        start, length = int(query["offset"]), int(query["length"])
        column = "sentence" if "sst2" in query["dataset"] else "text"
        rows = [
            {"row_idx": i, "row": {column: f"{query['split']} review {i}", "label": i % 2}, "truncated_cells": []}
            for i in range(start, min(start + length, self.total))
        ]
        return b"<html>" if self.garbled else json.dumps({"rows": rows, "num_rows_total": self.total}).encode()


@pytest.fixture
def viewer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Viewer]:
    made = Viewer()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            address = urlsplit(self.path)
            assert address.path == "/rows"
            made.asked.append({name: values[0] for name, values in parse_qs(address.query).items()})
            self.send_response(made.refuse.pop(0) if made.refuse else 200)
            self.end_headers()
            self.wfile.write(made.answer(made.asked[-1]))

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    monkeypatch.setattr(reviews, "SERVER", f"http://127.0.0.1:{server.server_address[1]}")
    monkeypatch.setattr(reviews.time, "sleep", lambda seconds: None)
    monkeypatch.setattr(constants, "HF_HOME", str(tmp_path))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    yield made
    server.shutdown()
    server.server_close()


def test_rows_come_a_hundred_at_a_time_and_are_kept(viewer: Viewer) -> None:
    split = fetch_reviews("yelp", n_train=230, n_test=20)
    assert (len(split.train), len(split.test), split.train.n_classes) == (230, 20, 5)
    assert [(asked["split"], asked["offset"], asked["length"]) for asked in viewer.asked] == [
        ("test", "0", "20"), ("train", "0", "100"), ("train", "100", "100"), ("train", "200", "30"),
    ]  # fmt: skip
    asked = len(viewer.asked)
    assert fetch_reviews("yelp", n_train=230, n_test=20) == split
    assert len(viewer.asked) == asked


def test_sst2_is_tested_on_its_validation_part_whose_labels_are_known(viewer: Viewer) -> None:
    split = fetch_reviews("sst2", n_train=5, n_test=3)
    assert {asked["split"] for asked in viewer.asked} == {"train", "validation"}
    assert {asked["dataset"] for asked in viewer.asked} == {"stanfordnlp/sst2"}
    assert split.test.names == ("negative", "positive")


def test_a_busy_hub_is_asked_again(viewer: Viewer) -> None:
    viewer.refuse = [503, 429]
    assert len(fetch_reviews("sst2", n_train=5, n_test=3).test) == 3


@pytest.mark.parametrize("refuse", [[404], [503] * 4])
def test_a_hub_that_refuses_is_named_with_a_way_out(viewer: Viewer, refuse: list[int]) -> None:
    viewer.refuse = refuse
    with pytest.raises(DownloadError, match=f"HTTP {refuse[-1]}.*load_reviews"):
        fetch_reviews("sst2", n_train=5, n_test=3)


def test_an_answer_of_another_form_is_named(viewer: Viewer) -> None:
    viewer.garbled = True
    with pytest.raises(DownloadError, match="looks different"):
        fetch_reviews("sst2", n_train=5, n_test=3)


def test_fewer_rows_than_asked_for_are_named(viewer: Viewer) -> None:
    with pytest.raises(DownloadError, match="250 rows in validation, fewer than 300"):
        fetch_reviews("sst2", n_train=5, n_test=300)


def test_nothing_is_fetched_where_the_hub_is_switched_off(viewer: Viewer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(DownloadError, match="HF_HUB_OFFLINE"):
        fetch_reviews("yelp")
    assert viewer.asked == []


def test_an_unknown_set_is_named(viewer: Viewer) -> None:
    with pytest.raises(DownloadError, match="yelp"):
        fetch_reviews("imdb")


def test_batches_of_equal_lengths_hold_every_review_once_and_no_padding() -> None:
    lengths = [3, 5, 3, 3, 5, 4, 3, 3]
    batches = EqualLengths([[place + 1] * length for place, length in enumerate(lengths)], range(8), size=2, seed=7)
    found = list(batches.epoch())
    assert len(found) == len(batches) == 5  # three of length 3, one of 5, one of 4
    assert sorted(label for _, labels in found for label in labels.tolist()) == list(range(8))
    for ids, labels in found:
        assert (ids == labels[:, None] + 1).all() and ids.shape[1] == lengths[labels[0]]


def test_equal_lengths_come_in_another_order_in_each_epoch_and_the_same_in_the_next_run() -> None:
    batches = EqualLengths.of(load_reviews().test, seed=3)
    first, again, other = ([labels.tolist() for _, labels in batches.epoch(number)] for number in (0, 0, 1))
    assert first == again != other

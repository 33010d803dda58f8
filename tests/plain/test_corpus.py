"""Test cells in the styles that people use: most are judged outside, with the points of one process."""

from __future__ import annotations

import pytest

from tests.plain import one_process, two_sides
from tests.plain.entries import Entry, entries

RUNNABLE = [entry for entry in entries() if entry.can_run and not entry.only_ipython]
EACH = pytest.mark.parametrize("entry", RUNNABLE, ids=lambda entry: entry.name)
OUTSIDE = [entry for entry in RUNNABLE if entry.judged == "outside"]


def test_of_the_corpus_85_percent_are_judged_outside():
    outside = sum(entry.judged == "outside" for entry in entries())
    assert len(entries()) >= 60
    assert outside / len(entries()) >= 0.85


@EACH
def test_in_one_process_every_answer_has_the_points_that_the_corpus_says(entry: Entry, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert {answer.source: one_process.points(entry, answer.source) for answer in entry.all_answers} == {
        answer.source: answer.points for answer in entry.all_answers
    }


@pytest.mark.slow
@pytest.mark.parametrize("entry", OUTSIDE, ids=lambda entry: entry.name)
def test_judged_outside_every_answer_has_the_points_that_it_has_in_one_process(entry: Entry, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert two_sides.of_all(entry) == {answer.source: answer.points for answer in entry.all_answers}

"""The corpus of plain test cells, run from the tester: every answer gets the points that it gets in one process."""

from __future__ import annotations

import contextlib
from pathlib import Path
from types import ModuleType

import pytest

from autograder.plain.names import remote_names
from autograder.remote import student
from autograder.remote.tester import Remote
from tests.plain import one_process
from tests.plain.entries import Entry, entries, notebook

OUTSIDE = [entry for entry in entries() if entry.judged == "outside" and entry.can_run and not entry.only_ipython]


def points(entry: Entry, answer: str) -> float:
    namespace = vars(ModuleType("__main__"))
    with one_process.silent(), one_process.main_module() as tester:
        for one in (namespace, tester):
            one_process.execute(entry.setup, one)
        with contextlib.suppress(Exception):
            one_process.execute(answer, namespace)
        remote = Remote(lambda request: student.answer(namespace, request, remote.answer), tester)
        source = notebook([entry])
        remote.bind(remote_names(source, len(source.cells) - 1))
        earned = one_process.attempt(entry, tester)
        return 0.0 if remote.failures else earned


@pytest.mark.slow
@pytest.mark.parametrize("entry", OUTSIDE, ids=lambda entry: entry.name)
def test_every_answer_gets_the_points_that_it_gets_in_one_process(entry: Entry, tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert {answer.source: points(entry, answer.source) for answer in entry.all_answers} == {
        answer.source: answer.points for answer in entry.all_answers
    }

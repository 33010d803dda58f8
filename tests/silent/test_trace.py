"""What a process has read is noted with how it was just before, so that no later change is missed."""

from __future__ import annotations

import os
import time

import pytest

from autograder.classroom.trace import Trace, is_as_it_was


def test_a_file_that_was_just_written_may_be_written_again_unseen(tmp_path):
    path = tmp_path / "notes.txt"
    trace = Trace.begin()
    path.write_text("one")
    path.read_text()
    trace.end()
    assert str(path) in trace.fresh
    time.sleep(0.1)
    later = Trace.begin()
    path.read_text()
    later.end()
    assert str(path) not in later.fresh


def test_times_of_whole_seconds_are_trusted_later(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("one")
    os.utime(path, (time.time() // 1 + 1, time.time() // 1 + 1))
    trace = Trace.begin()
    path.read_text()
    trace.end()
    assert str(path) in trace.fresh


def test_the_first_look_counts_so_that_a_change_during_a_run_is_seen(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("one")
    trace = Trace.begin()
    path.read_text()
    path.write_text("other")
    path.read_text()
    trace.end()
    assert not is_as_it_was(str(path), trace.stamps[str(path)])


def test_what_is_not_there_is_noted_where_it_is_opened_and_folders_where_they_are_listed(tmp_path):
    trace = Trace.begin()
    with pytest.raises(FileNotFoundError):
        (tmp_path / "policy.toml").read_text()
    list(tmp_path.iterdir())
    trace.end()
    assert trace.stamps[str(tmp_path / "policy.toml")] is None
    assert is_as_it_was(str(tmp_path), trace.stamps[str(tmp_path)])
    (tmp_path / "policy.toml").write_text("")
    assert not is_as_it_was(str(tmp_path), trace.stamps[str(tmp_path)])
    assert not is_as_it_was(str(tmp_path / "policy.toml"), None)

"""``autograder init`` and ``autograder new`` as they are typed."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder import cli


def test_a_course_is_made_and_extended_where_one_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["init", "physics"]) == 0
    assert "exercises/signals/moving_average.py" in capsys.readouterr().out
    assert cli.main(["--course-dir", "physics", "new", "signals/median"]) == 0
    assert "exercises/signals/median.py" in capsys.readouterr().out
    assert (tmp_path / "physics" / "exercises" / "signals" / "median.py").is_file()


@pytest.mark.parametrize("command", [["init", "."], ["new", "signals"], ["new", "no/such/course/here"]])
def test_what_cannot_be_made_is_said_in_one_line(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").write_text("mine")
    assert cli.main(command) == 2
    said = capsys.readouterr().err
    assert (said.startswith("autograder: "), said.count("\n")) == (True, 1), said
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]

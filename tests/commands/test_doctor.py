"""``autograder doctor`` speaks of what protects the grader from other users and from students' repositories."""

import json
import os
from pathlib import Path

import pytest

from autograder.cli import main
from autograder.commands import doctor
from autograder.commands.doctor import is_safe_git
from autograder.files.atomic import open_to_others

pytestmark = pytest.mark.skipif(os.name != "posix", reason="other users are a matter of POSIX here")


@pytest.mark.parametrize(
    ("version", "safe"),
    [
        ((2, 38, 9), False), ((2, 39, 3), False), ((2, 39, 4), True), ((2, 39, 5), True), ((2, 40, 1), False),
        ((2, 43, 3), False), ((2, 44, 1), True), ((2, 45, 0), True), ((3, 0, 0), True), ((1, 9, 9), False),
    ],
)  # fmt: skip
def test_git_that_ignores_our_settings_is_told_from_git_that_heeds_them(version: tuple, safe: bool) -> None:
    assert is_safe_git(version) is safe


@pytest.mark.slow
def test_doctor_says_what_is_too_old_and_what_others_can_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "course.toml").touch()
    (tmp_path / "source").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(doctor, "_git_version", lambda: (2, 30, 2))
    assert main(["doctor", "--json"]) == 0
    machine = json.loads(capsys.readouterr().out)["machine"]
    assert machine.pop("times of the last access") in (True, False)
    assert machine == {"Python": True, "git": False, "temporary folder": True, "the course's folder": True}


def test_a_folder_is_open_to_others_where_every_folder_on_the_way_is(tmp_path: Path) -> None:
    course = tmp_path / "course"
    course.mkdir(mode=0o755)
    assert not open_to_others(course)  # pytest's own folder is closed
    assert open_to_others(Path("/usr/bin"))

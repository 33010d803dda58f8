"""Commands that cannot write, or cannot begin, leave no half result and no old one."""

import os
import signal
from pathlib import Path

import pytest

from autograder import cli
from autograder.cli import STOPPED
from autograder.model.course import Course
from tests.exports.conftest import cells
from tests.feedback.toy import build_course, hand_in


@pytest.fixture
def course(tmp_path: Path) -> Course:
    return build_course(tmp_path / "course")


def refuse(monkeypatch, below: Path) -> None:
    """A disk that takes nothing below a folder. Rights would not do: they do not stop root, who may run this."""
    real = {name: getattr(os, name) for name in ("mkdir", "open", "replace")}

    def no(name):
        def call(path, *words, **more):
            writes = name != "open" or (words and words[0] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
            if writes and str(path).startswith(str(below)):
                raise OSError(28, "No space left on device", str(path))
            return real[name](path, *words, **more)

        return call

    for name in real:
        monkeypatch.setattr(os, name, no(name))
    plain = Path.write_bytes

    def write_bytes(self: Path, data: bytes) -> int:
        return no("replace")(self, self) if below in self.parents else plain(self, data)

    monkeypatch.setattr(Path, "write_bytes", write_bytes)


def pages(course: Course) -> list[Path]:
    return sorted(path for path in (course.root / "feedback").rglob("*") if path.is_file())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_who_stops_it_between_two_steps_finds_all_as_it_was_or_whole(course, monkeypatch, number):
    hand_in(course, "ada", cells=cells(3.0, 2.0))
    assert cli.main(["--course-dir", str(course.root), "feedback", "toy"]) == 0
    before, replace = pages(course), os.replace

    def stopped(*paths) -> None:
        replace(*paths)
        signal.raise_signal(number)

    monkeypatch.setattr(os, "replace", stopped)
    assert cli.main(["--course-dir", str(course.root), "feedback", "toy"]) == STOPPED
    assert before and pages(course) == before


@pytest.mark.parametrize(
    ("words", "folder"),
    [(("feedback", "toy"), "feedback"), (("report", "toy"), "reports"), (("export", "toy", "--to", "json"), "exports")],
)
def test_a_disk_that_says_no_is_one_line_and_what_was_there_stays(course, capsys, monkeypatch, words, folder):
    hand_in(course, "ada", cells=cells(3.0, 2.0))
    assert cli.main(["--course", str(course.root), *words]) == 0
    before = {path: path.read_bytes() for path in (course.root / folder).rglob("*") if path.is_file()}
    capsys.readouterr()
    with monkeypatch.context() as patched:
        refuse(patched, course.root / folder)
        code = cli.main(["--course", str(course.root), *words])
    said = capsys.readouterr().err
    assert code == 2
    assert "cannot be written: No space left on device" in said
    assert {path: path.read_bytes() for path in (course.root / folder).rglob("*") if path.is_file()} == before


@pytest.mark.parametrize(
    ("assignment", "words"),
    [
        ("toy", ("--until", "tomorrow")),
        ("toy", ("--fail-under", "ten")),
        ("toy", ("--fail-under", "nan")),
        ("toy", ("--visible-only", "--fail-under", "3")),
        ("toys", ()),
    ],
)
def test_a_failed_argument_of_ci_leaves_no_results_of_an_earlier_run(course, tmp_path, assignment, words):
    out, handed_in = tmp_path / "out", tmp_path / "handed_in"
    out.mkdir()
    handed_in.mkdir()
    (out / "results.json").write_text('{"score": 50}')
    place = ["--course", str(course.root), "ci", assignment, str(handed_in), "--out", str(out)]
    assert cli.main([*place, *words]) == 2
    assert not (out / "results.json").exists()


def test_a_course_that_is_not_there_leaves_no_results_of_an_earlier_run(tmp_path):
    (tmp_path / "results.json").write_text('{"score": 50}')
    words = ["ci", "toy", str(tmp_path), "--out", str(tmp_path)]
    assert cli.main(["--course", str(tmp_path / "nowhere"), *words]) == 2
    assert not (tmp_path / "results.json").exists()

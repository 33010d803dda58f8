"""An answer for which a test holds with other values: who is told, and what a person's word changes."""

import csv
from pathlib import Path

import pytest

from autograder import cli
from tests.pipeline.conftest import nbgrader
from tests.plain.notebooks import answer, graded, hand_in, notebook, write

SQUARES = "### BEGIN SOLUTION\ndef squares(n):\n    return [i * i for i in range(n)]\n### END SOLUTION"
OWN_LIST = """
class Own:
    def __init__(self, items): self.items = items
    def __eq__(self, other): return self.items == other
def squares(n): return Own([i * i for i in range(n)])
"""
ACCEPT = ("accept", "grace", "ps1", "squares", "--reason", "a list of her own class, and right")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("accept") / "course"
    made = notebook(answer("squares_answer", SQUARES), graded("squares", "assert squares(3) == [0, 1, 4]", 2))
    write(made, root / "source" / "ps1" / "p.ipynb")
    (root / "nbgrader_config.py").write_text("c = get_config()\nc.CourseDirectory.course_id = 'accept'\n")
    assert nbgrader(root, "generate_assignment", "ps1").returncode == 0
    for student, text in (("grace", OWN_LIST), ("ada", "def squares(n): return [0, 1, 4]"), ("bob", "squares = 1")):
        hand_in(root, student, "ps1", {"squares_answer": text})
    assert cli.main(["--course-dir", str(root), "grade", "ps1"]) == 0
    return root


def said(course: Path, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    capsys.readouterr()
    assert cli.main(["--course-dir", str(course), *words]) == 0
    return " ".join(capsys.readouterr().out.split())


def exported(course: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    said(course, capsys, "export", "ps1", "--to", "csv")
    with (course / "exports" / "ps1.csv").open(encoding="utf-8-sig", newline="") as lines:
        return {row["student"]: row["points"] for row in csv.DictReader(lines)}


def test_it_waits_for_a_person_and_is_accepted_with_a_reason(course, capsys):
    for_you = "grace: p/squares, 2 points wait for your word"
    assert for_you in said(course, capsys, "status")
    assert "its class would decide what is equal" in said(course, capsys, "explain", "grace", "ps1", "squares")
    assert "2 points" in said(course, capsys, *ACCEPT)
    assert for_you not in said(course, capsys, "status")
    assert "a list of her own class" in said(course, capsys, "explain", "grace", "ps1", "squares")
    assert exported(course, capsys) == {"ada": "2", "bob": "0", "grace": "2"}


def test_another_answer_waits_again(course, capsys):
    cli.main(["--course-dir", str(course), *ACCEPT])  # it is already, where the test above ran before
    hand_in(course, "grace", "ps1", {"squares_answer": OWN_LIST.replace("i * i", "i")})
    assert "to be read: squares" in said(course, capsys, "grade", "ps1")
    assert exported(course, capsys)["grace"] == ""


def test_what_does_not_wait_cannot_be_accepted(course, capsys):
    assert cli.main(["--course-dir", str(course), *ACCEPT[:1], "ada", *ACCEPT[2:]]) == 2
    assert "of ada there is nothing to accept" in capsys.readouterr().err
    assert cli.main(["--course-dir", str(course), *ACCEPT[:4]]) == 2
    assert "--reason is missing" in capsys.readouterr().err

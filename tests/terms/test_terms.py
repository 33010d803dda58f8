"""``autograder term``: archives with and without names, a new term that begins empty, an old one that stays whole."""

import json
import shutil
import zipfile
from pathlib import Path

import pytest

from autograder.classroom.journal import only_run
from autograder.cli import main
from autograder.gradebook.roster import pseudonym
from autograder.model.course import Course
from autograder.terms.archive import without_comments
from tests.privacy.conftest import GONE, NAMES, STAYS, address, term, whole_term  # noqa: F401
from tests.privacy.test_erase import naming

pytestmark = pytest.mark.slow


@pytest.fixture
def named(term: Path) -> Path:  # noqa: F811
    path = term / "course.toml"
    path.write_text('term = "2026w"\n' + path.read_text())
    # the exchange lies outside of a course
    shutil.rmtree(term / "exchange")
    for student, (first, last) in NAMES.items():
        notebook = term / "autograded" / student / "toy" / "1_sums.ipynb"
        notebook.write_text(notebook.read_text().replace("x.sum(-1)", f"x.sum(-1)  # by {first} {last}, {student}"))
    return term


def run(root: Path, *words: str) -> int:
    return main(["--course", str(root), "term", *words])


def members(root: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(root / "archives" / "2026w.zip") as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_an_archive_with_pseudonyms_names_nobody_and_keeps_the_results(named):
    assert run(named, "archive", "--pseudonymise") == 0
    found = members(named)
    whole = b"".join(found.values())
    for student in NAMES:
        for word in (student, address(student), *NAMES[student]):
            assert word.encode() not in whole, word
    results = {row["student"]: row for row in json.loads(found["results/toy.json"])}
    assert set(results) == {pseudonym(named, student) for student in NAMES}
    assert all(row["points"] == 5.0 for row in results.values())


def test_an_archive_without_pseudonyms_says_who(named):
    assert run(named, "archive") == 0
    row = next(row for row in json.loads(members(named)["results/toy.json"]) if row["student"] == GONE)
    assert (row["first_name"], row["last_name"], row["email"]) == (*NAMES[GONE], address(GONE))


def test_an_archive_is_never_overwritten(named, capsys):
    assert run(named, "archive") == 0
    before = members(named)
    assert run(named, "archive", "--pseudonymise") == 2
    assert "is there already" in capsys.readouterr().err
    assert members(named) == before


def test_who_is_erased_is_erased_from_archives_too(named):
    assert run(named, "archive", "--pseudonymise") == 0
    known = pseudonym(named, GONE)
    assert main(["--course", str(named), "student", "erase", GONE, "--yes"]) == 0
    whole = b"".join(members(named).values())
    assert known.encode() not in whole and pseudonym(named, STAYS).encode() in whole


def test_a_new_term_begins_empty_and_the_old_one_is_whole(named):
    known = pseudonym(named, GONE)
    assert run(named, "new", "2027s") == 0
    left = {name for name in naming(named, GONE, *NAMES[GONE]) if not name.startswith("terms/2026w")}
    assert left == set()
    new, old = Course(named), Course(named / "terms" / "2026w")
    assert (new.file.term, old.file.term) == ("2027s", "2026w")
    assert new.file.title == old.file.title
    assert (new.everybody_submitted("toy"), old.everybody_submitted("toy")) == ([], sorted(NAMES))
    assert pseudonym(named, GONE) == known
    assert main(["--course", str(old.root), "export", "toy", "--to", "csv"]) == 0
    assert main(["--course", str(old.root), "report", "toy"]) == 0


POLICY = """timezone = "Europe/Berlin"
per_day = "10%"  # of what was earned

[assignments.toy]
deadline = 2026-11-20T23:59:00
"""
WAIVER = """[[waiver]]
assignment = "toy"
notebook = "1_sums"
exercise = "row_sums"
counts = "full"
reason = "ambiguous"
date = 2026-11-30
"""


def test_a_new_term_keeps_the_rules_of_lateness_and_names_what_is_the_old_terms(named, capsys):
    (named / "late_policy.toml").write_text(POLICY)
    (named / "waivers.toml").write_text(WAIVER)
    (named / "exercises").mkdir()
    with (named / "course.toml").open("a") as file:
        file.write('\n[dates]\ntoy = 2026-11-01\n\n[canvas]\nurl = "https://canvas.example.edu"\ncourse = 1\n')
    assert run(named, "new", "2027s") == 0
    said = capsys.readouterr().out
    assert (named / "late_policy.toml").read_text() == POLICY.partition("\n\n")[0] + "\n"
    old = named / "terms" / "2026w"
    assert (old / "late_policy.toml").read_text() == POLICY and (old / "waivers.toml").read_text() == WAIVER
    for name in ("waivers.toml", "extensions.toml"):
        assert not (named / name).exists()
    for part in ("late_policy.toml", "waivers.toml", "submitted", "gradebook.db"):
        assert part in said.splitlines()[0]
    for line in ("late_policy.toml: its rules stay", "[dates] is the old term's", "[canvas] is the old term's",
                 "'autograder references --seed new'", "'autograder release' enters"):  # fmt: skip
        assert any(one.startswith("to do: ") and line in one for one in said.splitlines())
    assert main(["--course", str(named), "status"]) == 0  # what was kept can be read


def test_a_policy_without_rules_of_its_own_is_named_too(named, capsys):
    (named / "late_policy.toml").write_text("# ours\n[assignments.toy]\ndeadline = 2026-11-20T23:59:00Z\n")
    assert run(named, "new", "2027s") == 0
    assert "late_policy.toml: the new term has none" in capsys.readouterr().out
    assert not (named / "late_policy.toml").exists()


def test_who_is_erased_is_erased_from_earlier_terms_too(named):
    assert run(named, "new", "2027s") == 0
    assert main(["--course", str(named), "student", "erase", GONE, "--yes"]) == 0
    assert naming(named, GONE, *NAMES[GONE], address(GONE)) == set()


def test_nothing_moves_while_an_assignment_is_graded(named):
    with only_run(named, "toy"):
        assert run(named, "new", "2027s") == 2
    assert (named / "submitted" / GONE).is_dir() and not (named / "terms").exists()
    assert Course(named).file.term == "2026w"


@pytest.mark.parametrize("words", [["new"], ["new", "../up"], ["new", "2026w"], ["archive", "2026w"], ["new", "a b"]])
def test_what_is_no_new_term_changes_nothing(named, words, capsys):
    before = sorted(named.rglob("*"))
    assert run(named, *words) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert sorted(path for path in named.rglob("*") if path.name != ".gitignore") == [
        path for path in before if path.name != ".gitignore"
    ]


def test_a_term_without_a_name_is_asked_for_one(named, capsys):
    path = named / "course.toml"
    path.write_text(path.read_text().replace('term = "2026w"\n', ""))
    for words in (["archive"], ["new", "2027s"]):
        assert run(named, *words) == 2
        assert "the present term has no name" in capsys.readouterr().err


def test_a_failed_move_moves_everything_back(named, monkeypatch):
    from autograder.terms import archive

    replace = archive.os.replace

    def refuse(source, target):
        if Path(source).name == "gradebook.db" and "terms" in str(target):
            raise OSError(28, "No space left on device")
        replace(source, target)

    monkeypatch.setattr(archive.os, "replace", refuse)
    assert run(named, "new", "2027s") == 2
    monkeypatch.undo()
    assert Course(named).everybody_submitted("toy") == sorted(NAMES)
    assert not list((named / "terms").glob("2026w"))
    assert main(["--course", str(named), "export", "toy", "--to", "csv"]) == 0


def test_comments_go_and_code_stays():
    assert without_comments("x = 1  # by me\ny = '# no comment'\n") == "x = 1\ny = '# no comment'\n"
    assert "me" not in without_comments("def f(:\n  x = (1  # by me")

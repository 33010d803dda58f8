"""``autograder report --against``: answers of earlier terms' archives and folders, copied or one's own."""

import json
import shutil
import zipfile
from pathlib import Path

import pytest

from autograder.cli import main
from autograder.gradebook.roster import pseudonym
from autograder.model.course import Course
from autograder.release.generate import generate
from tests.exports.conftest import cells
from tests.feedback.toy import ASSIGNMENT, build_course, hand_in

pytestmark = pytest.mark.slow

OLD = """def row_sums(x):
    # {name} wrote this
    {total} = []
    for {row} in x:
        {sum_} = 0.0
        for {value} in {row}:
            {sum_} = {sum_} + float({value}) * 1.0
        {total}.append({sum_})
    assert len({total}) == len(x), "lost a row"
    return type(x)({total}) if hasattr(x, "shape") else {total}
"""
OWN = """def row_sums(x):
    import numpy as np
    kept = np.asarray(x)
    result = np.zeros(kept.shape[0])
    position = 0
    while position < kept.shape[1]:
        result += kept[:, position]
        position += 1
    print("done", position, result.max(), result.min())
    return np.where(np.isnan(result), 0, result).tolist()
"""
FIRST = OLD.format(name="vera", total="total", row="row", sum_="sum_", value="value")
COPIED = OLD.format(name="mine", total="out", row="line", sum_="s", value="v")


def answered(course: Course, answers: dict[str, str]) -> None:
    for student, text in answers.items():
        hand_in(course, student, {"row_sums_answer": text}, cells=cells(3.0, 2.0))


@pytest.fixture(scope="module")
def terms(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new term with a folder and two archives of the old one, one of them under pseudonyms."""
    root = tmp_path_factory.mktemp("two_terms") / "course"
    course = build_course(root)
    path = root / "course.toml"
    path.write_text('term = "2026w"\n' + path.read_text())
    answered(course, {"vera": FIRST})
    for words, name in ((["--pseudonymise"], "hidden.zip"), ([], "named.zip")):
        assert main(["--course", str(root), "term", "archive", *words]) == 0
        (root / "archives" / "2026w.zip").rename(root / "archives" / name)
    assert main(["--course", str(root), "term", "new", "2027s"]) == 0
    generate(Course(root), ASSIGNMENT)
    answered(Course(root), {"cora": COPIED, "owen": OWN})
    return root


def report(root: Path, against: list[Path], *words: str) -> str:
    given = [word for path in against for word in ("--against", str(path))]
    out = root / "reports" / "made"
    shutil.rmtree(out, ignore_errors=True)
    assert main(["--course", str(root), "report", ASSIGNMENT, "--out", str(out), *given, *words]) == 0
    return (out / "index.html").read_text()


def earlier_part(page: str) -> str:
    return page.partition('<h3 id="earlier">')[2].partition("</section>")[0]


@pytest.mark.parametrize("place", ["archives/named.zip", "terms/2026w"])
def test_a_copied_answer_is_found_and_an_own_one_is_not(terms, place):
    part = earlier_part(report(terms, [terms / place]))
    assert "<strong>2026w: vera</strong> and <strong>cora</strong>" in part
    assert "owen" not in part and part.count("<summary>") == 1


def test_without_the_option_nothing_of_earlier_terms_is_shown(terms):
    page = report(terms, [])
    assert earlier_part(page) == "" and "vera" not in page


def test_an_archive_under_pseudonyms_is_compared_under_pseudonyms(terms):
    part = earlier_part(report(terms, [terms / "archives" / "hidden.zip"]))
    assert f"2026w: {pseudonym(terms, 'vera')}</strong>" in part and "cora" in part and "vera" not in part


def test_an_anonymous_report_names_nobody_of_any_term(terms):
    part = earlier_part(report(terms, [terms / "archives" / "named.zip"], "--anonymous"))
    assert f"2026w: {pseudonym(terms, 'vera')}" in part and pseudonym(terms, "cora") in part
    assert "cora" not in part and "<strong>2026w: vera" not in part


@pytest.mark.parametrize("words", [[], ["--anonymous"]])
@pytest.mark.parametrize("place", ["archives/named.zip", "archives/hidden.zip", "terms/2026w"])
def test_who_comes_again_with_an_own_old_answer_is_in_no_pair(terms, tmp_path, place, words):
    root = tmp_path / "course"
    shutil.copytree(terms, root)
    shutil.rmtree(root / "autograded" / "cora")
    shutil.rmtree(root / "submitted" / "cora", ignore_errors=True)
    answered(Course(root), {"vera": COPIED})
    assert "No such pair." in earlier_part(report(root, [root / place], *words))


def rewritten(terms: Path, path: Path, **changes: object) -> Path:
    with zipfile.ZipFile(terms / "archives" / "named.zip") as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            new.writestr(name, json.dumps(changes[name]) if name in changes else old.read(name))
    return path


def test_what_is_no_earlier_term_is_one_line(terms, tmp_path, capsys):
    (tmp_path / "notes.zip").write_text("no archive")
    (tmp_path / "empty").mkdir()
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as other:
        other.writestr("readme.txt", "submissions")
    about = {"schema": 1, "term": "2026w", "pseudonymised": False}
    newer = rewritten(terms, tmp_path / "newer.zip", **{"archive.json": {**about, "schema": 2}})
    present = rewritten(terms, tmp_path / "present.zip", **{"archive.json": {**about, "term": "2027s"}})
    damaged = rewritten(terms, tmp_path / "damaged.zip", **{f"answers/{ASSIGNMENT}.json": [{"student": 1}]})
    for path, said in (
        (tmp_path / "nothing.zip", "No such file"),
        (tmp_path / "notes.zip", "expected an archive of 'autograder term archive'"),
        (tmp_path / "other.zip", "expected an archive of 'autograder term archive'"),
        (tmp_path / "empty", "expected an earlier term's folder"),
        (newer, "expected an archive of version 1, got 2"),
        (present, "is the present term, 2027s"),
        (damaged, "it cannot be read (ValueError)"),
        (terms, "is this course"),
    ):
        assert main(["--course", str(terms), "report", ASSIGNMENT, "--against", str(path)]) == 2
        err = capsys.readouterr().err
        assert said in err and err.count("\n") == 1, err


def test_an_archive_without_the_assignment_says_what_it_has(terms, tmp_path, capsys):
    path = tmp_path / "few.zip"
    with zipfile.ZipFile(terms / "archives" / "named.zip") as old, zipfile.ZipFile(path, "w") as new:
        new.writestr("archive.json", old.read("archive.json"))
        new.writestr("answers/sums.json", "[]")
    assert main(["--course", str(terms), "report", ASSIGNMENT, "--against", str(path)]) == 2
    assert "has no answers of 'toy'; it has sums" in capsys.readouterr().err

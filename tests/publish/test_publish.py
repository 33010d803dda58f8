"""The students' repository: what is in it, what is not, and what the command refuses."""

import base64
import hashlib
import json
import re
import shutil

import nbformat
import pytest

from autograder.assignment.assignment import Assignment
from autograder.cli import main
from autograder.errors import GradingError
from autograder.exercise.pack import pack_names, read_pack
from autograder.publish.publish import pictures, publish
from autograder.references.write import archive_of
from autograder.release.as_submitted import solved
from tests.grading import copy_course
from tests.pipeline.conftest import ROOT

MODEL_CARDS = [f"course/checkpoints/{name}/README.md" for name in ("mini", "minilm_small")]
SHEET, OTHER = "numpy_attention", "distilbert"
CHECK = ROOT / "course" / "check"
#: Each of their thousands of members is searched: those of assignments that are not there are left out.
OTHER_PACKS = [path.name for path in (CHECK / "_packs").glob("*.zip") if path.stem != SHEET]
CHECKS = [path for end in ("py", "zip") for path in CHECK.rglob(f"*.{end}") if path.name not in OTHER_PACKS]


@pytest.fixture
def course(tmp_path):
    """One real sheet, and a library of one line."""
    root = copy_course(tmp_path / "course", SHEET).root
    (root / "course" / "__pycache__").mkdir(parents=True)
    (root / "course" / "__init__.py").write_text('"""The library."""\n')
    ignored = shutil.ignore_patterns("__pycache__", *OTHER_PACKS)
    shutil.copytree(CHECK, root / "course" / "check", ignore=ignored)
    (root / "course" / "__pycache__" / "course.pyc").write_bytes(b"\0")
    shutil.copytree(ROOT / "docs" / "images", root / "docs" / "images")
    for name in ("pyproject.toml", "LICENSE", "docs/student.md", "docs/attention.png", "docs/students_readme.md.j2",
                 "docs/roadmap.md"):  # fmt: skip
        shutil.copy(ROOT / name, root / name)
    for name in MODEL_CARDS:
        (root / name).parent.mkdir(parents=True)
        shutil.copy(ROOT / name, root / name)
    return root


@pytest.fixture
def out(tmp_path):
    return tmp_path / "students"


def another(course):
    """A second assignment in the course."""
    copy_course(course, OTHER)
    shutil.copy(CHECK / "_packs" / f"{OTHER}.zip", course / "course" / "check" / "_packs")
    return OTHER


def edit(course, stage, old, new, name=SHEET):
    path = course / stage / name / "1_attention.ipynb"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))


def files(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_the_students_get_notebooks_library_and_guide_and_nothing_of_ours(course, out):
    done = publish(course, out)
    notebooks = {f"release/{SHEET}/{path.name}" for path in (ROOT / "release" / SHEET).glob("*.ipynb")}
    notebooks |= {f"course/check/{path.relative_to(CHECK)}" for path in CHECKS}
    notebooks |= {f"course/check/_rules/{path.name}" for path in (ROOT / "autograder" / "exercise").glob("[!_]*.py")}
    beside = {"course/__init__.py", "docs/student.md", "docs/roadmap.md", *MODEL_CARDS, "LICENSE", "README.md",
              "AGENTS.md", "CLAUDE.md", "pyproject.toml"}  # fmt: skip
    pages = "".join((ROOT / page).read_text() for page in ("docs/student.md", "docs/roadmap.md"))
    pictures = {f"docs/{name}" for name in re.findall(r"\((images/[^)]+)\)", pages)} | {"docs/attention.png"}
    assert files(out) == notebooks | beside | pictures | {".gitignore", ".published.json", ".published_cells.json"}
    assert set(done.files) == files(out) - {".published.json"}
    assert not {"tool.mypy", "selenium"} & set(re.findall(r"[\w.]+", (out / "pyproject.toml").read_text()))
    assert "tool.setuptools" in (out / "pyproject.toml").read_text()
    assert "package-dir" not in (out / "pyproject.toml").read_text(), "it leads to the grader, which is not here"


def test_every_link_of_the_readme_leads_somewhere_and_every_notebook_has_a_badge(course, out):
    publish(course, out)
    text = (out / "README.md").read_text()
    links = [link for link in re.findall(r"\]\(([^)]+)\)", text) if not link.startswith("http")]
    assert links and [link for link in links if not (out / link.partition("#")[0]).exists()] == []
    for notebook in (out / "release" / SHEET).glob("*.ipynb"):
        assert f"blob/main/release/{SHEET}/{notebook.name})" in text


def test_publishing_again_changes_nothing_and_keeps_what_is_not_ours(course, out):
    publish(course, out)
    first = {name: (out / name).read_bytes() for name in files(out)}
    (out / ".git").mkdir()
    (out / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (out / "NEWS.md").write_text("Week 3: no lecture.\n")
    assert publish(course, out).removed == ()
    kept = {".git/HEAD": b"ref: refs/heads/main\n", "NEWS.md": b"Week 3: no lecture.\n"}
    assert {name: (out / name).read_bytes() for name in files(out)} == {**first, **kept}


def test_what_is_no_longer_in_the_course_goes_away(course, out):
    (course / "course" / "old").mkdir()
    (course / "course" / "old" / "part.py").write_text("")
    publish(course, out)
    shutil.rmtree(course / "course" / "old")
    assert publish(course, out).removed == ("course/old/part.py",)
    assert not (out / "course" / "old").exists()


def test_an_edited_list_removes_nothing_outside(course, out, tmp_path):
    publish(course, out)
    (tmp_path / "precious").write_text("mine")
    (out / ".published.json").write_text(json.dumps(["../precious", str(tmp_path / "precious")]))
    publish(course, out)
    assert (tmp_path / "precious").read_text() == "mine"


def test_a_folder_with_something_else_in_it_is_left_alone(course, tmp_path, capsys):
    out = tmp_path / "thesis"
    out.mkdir()
    (out / "thesis.tex").write_text("years of work")
    assert main(["--course", str(course), "publish", str(out)]) == 2
    said = capsys.readouterr().err
    assert "is not empty" in said and said.count("\n") == 1
    assert files(out) == {"thesis.tex"}


def solution_line(course):
    assignment = Assignment.open(course, SHEET)
    submission = nbformat.reads(solved(assignment).notebooks["1_attention"].decode(), as_version=4)
    return next(cell.source for cell in submission.cells if "einsum" in cell.source and "def " in cell.source)


def add(*names):
    """The line of a solution stands in files, of the source as of the release."""

    def change(course):
        line = solution_line(course)
        for name in names:
            with (course / name).open("a") as file:
                file.write(f"\n{line}")

    return change


def without(*names):
    def change(course):
        for name in names:
            path = course / name
            shutil.rmtree(path) if path.is_dir() else path.unlink()

    return change


def edited(old, new, *stages):
    return lambda course: [edit(course, stage, old, new) for stage in stages]


def another_repository(course):
    edit(course, "source", "example/transformer-course", "university/course")
    config = course / "nbgrader_config.py"
    config.write_text(config.read_text().replace("example/transformer-course", "university/course"))


def without_a_check(course):
    packs = course / "course" / "check" / "_packs" / f"{SHEET}.zip"
    members = {f"{name}.npz": read_pack(packs, name) for name in pack_names(packs) if name != "softmax"}
    packs.write_bytes(archive_of(members))


def a_dead_link(course):
    (course / "docs" / "student.md").open("a").write("\nSee [the instructors' guide](instructor.md#points).\n")
    (course / "docs" / "instructor.md").write_text("It is in this folder, and nowhere else.\n")


def reference_values(course):
    shutil.copy(ROOT / "exercises" / SHEET / "expected.zip", course / "course" / "numbers.bin")


STALE = "not what the source makes of itself"
#: What is wrong with the course -> what is said.
REFUSED = [
    (add("course/helpers.py"), r"would leak course/helpers\.py"),
    (add("docs/student.md"), r"would leak docs/student\.md"),
    (add(f"source/{SHEET}/notes.csv", f"release/{SHEET}/notes.csv"), rf"would leak {SHEET}/notes\.csv"),
    (reference_values, r"would leak course/numbers\.bin"),
    (without("LICENSE"), "LICENSE"),
    (without("release"), "not released yet"),
    (without("release", "source"), "holds no assignment"),
    (without(f"source/{SHEET}/3_write_tests.ipynb"), r"3_write_tests\.ipynb: only in the release"),
    (edited("example/transformer-course", "somebody/else", "release"), STALE),
    (another_repository, f"run 'autograder release {SHEET}'"),
    (edited('"points": 2', '"points": 3', "source"), STALE),
    (edited('"points": 2', '"points": 3', "release"), STALE),
    (edited("softmax", "soft-max", "source"), STALE),
    (edited("softmax", "soft-max", "release"), STALE),
    (edited("12 points and a bonus", "11 points and a bonus", "source", "release"),
     "the text says 11 points, the notebook has 12"),
    (edited(f"{SHEET}/softmax", f"{SHEET}/hardmax", "source"), "cell 'softmax'"),
    (without_a_check, r"cell 'softmax': course\.check\.numpy_attention has no softmax"),
    (a_dead_link, r"docs/student\.md: the link instructor\.md#points leads to docs/instructor\.md"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "said"), REFUSED)
def test_what_must_not_be_published_stops_it_and_nothing_is_written(course, tmp_path, change, said):
    change(course)
    with pytest.raises(GradingError, match=said):
        publish(course, tmp_path / "students")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["course"]


def test_what_is_wrong_is_one_line_of_the_command(course, tmp_path, capsys):
    assert main(["--course", str(course), "publish", str(tmp_path / "students"), "numpy_atention"]) == 2
    said = capsys.readouterr().err
    assert f"did you mean '{SHEET}'" in said and said.count("\n") == 1


def test_every_picture_is_listed_and_one_that_nobody_approved_stops_it(course, out, capsys):
    picture = course / "docs" / "images" / "jupyterlab-check-failing.png"
    picture.write_bytes(picture.read_bytes() + b"answer")
    assert main(["--course", str(course), "publish", str(out)]) == 2
    said = capsys.readouterr().err
    assert "docs/images/jupyterlab-check-failing.png" in said and "--approve-pictures" in said
    assert not out.exists()
    assert main(["--course", str(course), "publish", str(out), "--approve-pictures"]) == 1
    assert main(["--course", str(course), "publish", str(out)]) == 1
    said = capsys.readouterr()
    assert said.out.count("picture, accepted: docs/") == 2 * 11
    assert said.err.count("the repository is still the placeholder") == 2


@pytest.mark.parametrize("where", ["attachment", "data uri", "output"])
def test_a_picture_inside_a_notebook_counts(tmp_path, where):
    data = base64.b64encode(b"\x89PNG drawing").decode()
    if where == "attachment":
        cell = nbformat.v4.new_markdown_cell("![](a.png)", attachments={"a.png": {"image/png": data}})
    elif where == "data uri":
        cell = nbformat.v4.new_markdown_cell(f'<img src="data:image/png;base64,{data}">')
    else:
        shown = nbformat.v4.new_output("display_data", data={"image/png": data})
        cell = nbformat.v4.new_code_cell("1", outputs=[shown])
    (tmp_path / "a.ipynb").write_text(nbformat.writes(nbformat.v4.new_notebook(cells=[cell])))
    (picture,) = pictures(tmp_path)
    assert picture.where.startswith("a.ipynb!")
    assert hashlib.sha256(b"\x89PNG drawing").hexdigest().startswith(picture.digest)


def test_a_picture_without_an_ending_counts_too(tmp_path):
    (tmp_path / "drawing").write_bytes(b"\x89PNG drawing")
    (tmp_path / "notes.txt").write_text("BMI, GIF and PNG are words.")
    assert [picture.where for picture in pictures(tmp_path)] == ["drawing"]


def test_one_assignment_can_be_published_and_those_of_before_stay(course, out):
    name = another(course)
    publish(course, out, [SHEET])
    assert not (out / "release" / name).exists()
    first = (out / "release" / SHEET / "1_attention.ipynb").read_bytes()
    edit(course, "source", '"points": 2', '"points": 3')  # what is not published now may be in the making
    done = publish(course, out, [name])
    assert done.kept == (SHEET,) and done.removed == ()
    assert (out / "release" / SHEET / "1_attention.ipynb").read_bytes() == first
    readme = (out / "README.md").read_text()
    assert f"release/{SHEET}/1_attention.ipynb" in readme and f"release/{name}/1_embedding.ipynb" in readme
    assert f"release/{SHEET}/1_attention.ipynb" in json.loads((out / ".published.json").read_text())


def test_an_assignment_that_was_taken_out_of_the_folder_is_withdrawn(course, out):
    name = another(course)
    publish(course, out)
    shutil.rmtree(out / "release" / SHEET)
    publish(course, out, [name])
    assert not (out / "release" / SHEET).exists()
    assert f"release/{SHEET}" not in (out / "README.md").read_text()


def test_the_instructors_own_words_in_the_readme_stay(course, out):
    publish(course, out)
    page = (out / "README.md").read_text()
    (out / "README.md").write_text(f"# Welcome to winter term\n\n{page}\nOffice hours: Tuesday.\n")
    (course / "release" / SHEET / "2_finetuning.ipynb").unlink()
    (course / "source" / SHEET / "2_finetuning.ipynb").unlink()
    publish(course, out)
    again = (out / "README.md").read_text()
    assert again.startswith("# Welcome to winter term\n") and again.endswith("Office hours: Tuesday.\n")
    assert "2_finetuning" in page and "2_finetuning" not in again


def test_own_words_that_leak_stop_it(course, out):
    publish(course, out)
    with (out / "README.md").open("a") as file:
        file.write(solution_line(course))
    with pytest.raises(GradingError, match=r"would leak README\.md"):
        publish(course, out)


def test_every_notebook_is_looked_at_and_what_comes_later_is_no_dead_link(course, tmp_path):
    for name in ("course.toml", "docs/students_readme.md.j2"):
        (course / name).write_text((course / name).read_text().replace("docs/roadmap.md", "LICENSE"))
    with pytest.raises(
        GradingError, match=r"1_attention\.ipynb, cell .*blob/main/docs/roadmap\.md leads to docs/roadmap"
    ):
        publish(course, tmp_path / "students")
    for name in ("course.toml", "docs/students_readme.md.j2"):
        shutil.copy(ROOT / name, course / name)
    another(course)
    with (course / "docs" / "student.md").open("a") as file:
        file.write(f"\n[next week](../release/{OTHER}/1_embedding.ipynb), `[no](link.md)`, [mail](mailto:a@b.org)\n")
    publish(course, tmp_path / "students", [SHEET])
    publish(course, tmp_path / "students", [OTHER])

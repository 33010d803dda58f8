"""What the students' repository says: the course's order, in its pages as in course.toml; the rules for assistants."""

import os
import re
import shutil
import subprocess
import sys
from itertools import pairwise

import nbformat
import pytest

from autograder.assignment.assignment import Assignment
from autograder.errors import GradingError
from autograder.model import cells
from autograder.model.course import Course
from autograder.model.course_file import SENTENCES, CourseFile, read_course_file
from autograder.publish.publish import dead_links, publish
from autograder.publish.texts import students_readme, write_rules
from autograder.release.leaks.search import Hidden, found_in
from autograder.release.main_line import Lesson, lesson, main_line
from tests.grading import ROOT
from tests.publish.conftest import release_anew

ROW = re.compile(r"(?m)^\| (\d+) \| \[([^]]+)\]\(release/([^)]+)\.ipynb\) \| \w+ \| (\d*) \| ([\d.]+) \|")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """This course, published."""
    out = tmp_path_factory.mktemp("published") / "students"
    publish(ROOT, out)
    return out


@pytest.fixture
def readme(whole):
    return (whole / "README.md").read_text()


def test_the_whole_course_has_no_dead_link(whole):
    """Published without anything else of the instructor's: every link leads somewhere."""
    assert list(dead_links(whole, "example/transformer-course", (), ())) == []


def test_the_readme_lists_every_notebook_in_the_order_of_the_main_line(readme):
    steps, electives = readme.split("## Electives")
    line = Course(ROOT).file.main_line
    assert [(int(step), slug) for step, _, slug, _, _ in ROW.findall(steps)] == list(enumerate(line.steps, 1))
    rest = [(int(after), slug) for after, _, slug, _, _ in ROW.findall(electives)]
    assert rest == sorted(rest)
    assert {slug: line.steps[after - 1] for after, slug in rest} == line.electives
    released = {f"{path.parent.name}/{path.stem}" for path in (ROOT / "release").glob("*/*.ipynb")}
    assert released == {*line.steps, *line.electives}
    assert all(int(minutes) > 0 for _, _, _, minutes, _ in ROW.findall(readme))


def test_the_readme_says_where_to_start_shows_a_picture_and_says_what_to_hand_in(readme):
    first = Course(ROOT).file.main_line.steps[0]
    assert re.search(rf"\*\*Start here: \[[^]]+\]\(release/{first}\.ipynb\)\*\*, about \d+ minutes", readme)
    assert "](docs/attention.png)" in readme
    assert "for `encoder_lab` also `models.py`" in readme


def test_the_road_map_has_the_order_the_minutes_and_the_points_of_the_notebooks():
    page = (ROOT / "docs" / "roadmap.md").read_text()
    part = page.partition("## The main line\n")[2].partition("\n## ")[0]
    steps, electives = part.split("The other notebooks are electives")
    line, rows, step_of = Course(ROOT).file.main_line, [], {}
    for step, slug in enumerate(line.steps, 1):
        assignment, _, name = slug.partition("/")
        found = lesson(line, assignment, name, nbformat.read(ROOT / "source" / f"{slug}.ipynb", as_version=4))
        rows.append((str(step), assignment, name[0], str(found.minutes), found.points))
        step_of[slug] = step
    assert re.findall(r"(?m)^\| (\d+) \| ([a-z_]+) (\d) \| (\d+) \| (\d+) \|", steps) == rows
    told = {
        (assignment, number): int(after)
        for assignment, numbers, after in re.findall(r"(?m)^\| (\w+) ([\d, ]+) \| (\d+) \|", electives)
        for number in numbers.split(", ")
    }
    short = {tuple(re.findall(r"(\w+)/(\d)", slug)[0]): step_of[before] for slug, before in line.electives.items()}
    assert told == short


def test_each_notebook_says_where_on_the_line_it_is():
    line = Course(ROOT).file.main_line
    number = {slug: step for step, slug in enumerate(line.steps, 1)}
    said = {slug: f"main line, step {step} of {len(number)}" for slug, step in number.items()}
    said |= {slug: f"elective after step {number[before]}" for slug, before in line.electives.items()}
    for path in sorted((ROOT / "source").glob("*/*.ipynb")):
        first = nbformat.read(path, as_version=4).cells[0].source
        assert f" · {said[f'{path.parent.name}/{path.stem}']} · " in first, path


def test_each_step_ends_with_the_next_one():
    steps = [ROOT / "source" / f"{slug}.ipynb" for slug in Course(ROOT).file.main_line.steps]
    for path, following in pairwise(steps):
        last = nbformat.read(path, as_version=4).cells[-1].source
        name = following.name if following.parent == path.parent else f"{following.parent.name}/{following.name}"
        linked = re.findall(r"[(`]((?:\w+/)?\d_\w+\.ipynb)[)`]", last)
        assert linked[:1] == [name], path
    assert "the last step of the main line" in nbformat.read(steps[-1], as_version=4).cells[-1].source


@pytest.fixture
def course(course):
    return course.root


def written(course, text):
    (course / "course.toml").write_text(text)
    return Course(course)


def test_what_the_course_does_not_take_is_no_step(course):
    kept = written(
        course, '[main_line]\nsteps = ["other/1_a", "toy/1_sums"]\n[main_line.electives]\n"other/2_b" = "other/1_a"\n'
    )
    assert main_line(kept).steps == ("toy/1_sums",) and main_line(kept).electives == {}


def test_what_was_taken_out_of_an_assignment_is_no_step_either(course):
    kept = written(course, '[main_line]\nsteps = ["toy/1_sums", "toy/2_products"]\n')
    assert main_line(kept).steps == ("toy/1_sums",)


@pytest.mark.parametrize("name", ["toy/1_sum", "tooy/1_sums"])
def test_a_notebook_that_there_is_not_is_named_with_what_was_meant(course, tmp_path, name):
    written(course, f'[main_line]\nsteps = ["{name}"]\n')
    with pytest.raises(GradingError, match=rf"no notebook '{name}'; did you mean 'toy/1_sums'"):
        publish(course, tmp_path / "students")
    assert not (tmp_path / "students").exists()


def test_a_course_without_an_order_and_a_template_of_an_earlier_version_still_work(course, judged, tmp_path):
    written(course, 'title = "Sums"\n')
    publish(course, tmp_path / "students")
    assert "| toy | [" in (tmp_path / "students" / "README.md").read_text()
    old = "{% for sheet, notebook, points in notebooks %}{{ sheet }}/{{ notebook }}: {{ points }}{% endfor %}"
    (course / "readme.j2").write_text(old)
    written(course, '[publish]\nreadme = "readme.j2"\n')
    publish(course, tmp_path / "students")
    assert (tmp_path / "students" / "README.md").read_text().startswith("toy/1_sums: ")


@pytest.mark.parametrize("template", ["{% for a, b in notebooks %}{{ a }}{% endfor %}", "{{ nobody }}", "{% if %}"])
def test_a_template_that_cannot_be_filled_in_is_one_line(course, template):
    written(course, '[publish]\nreadme = "readme.j2"\n')
    with pytest.raises(GradingError, match=r"^readme\.j2 cannot be filled in: [^\n]+$"):
        students_readme(Course(course), template, [Lesson("a", "b", "c", "1", 0)], "o/n")


@pytest.mark.parametrize(
    ("link", "dead"),
    [
        ("guide.md#two-words", False),
        ("guide.md#the-model--in-code", False),
        ("guide.md#twice-1", False),
        ("guide.md#twice-2", True),
        ("guide.md#missing", True),
        ("guide.md#not-a-heading", True),
        ("guide.md#here", False),
        ("release/a/b.ipynb#Two-Words", False),
        ("release/a/b.ipynb#missing", True),
        ("https://colab.research.google.com/github/o/n/blob/main/release/a/b.ipynb#scrollTo=x1", False),
        ("#own-heading", False),
        ("#missing", True),
        ("library.py#L10", False),
    ],
)
def test_a_link_to_a_part_of_a_page_leads_to_a_heading(tmp_path, link, dead):
    (tmp_path / "library.py").touch()
    (tmp_path / "release" / "a").mkdir(parents=True)
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("## Two Words")])
    (tmp_path / "release" / "a" / "b.ipynb").write_text(nbformat.writes(book))
    guide = "# Two words\n## The `model`, in code\n# Twice\n# Twice\n<a id='here'></a>\n```sh\n# not a heading\n```\n"
    (tmp_path / "guide.md").write_text(guide)
    (tmp_path / "README.md").write_text(f"# Own heading\n[link]({link})\n")
    assert [one.where for one in dead_links(tmp_path, "o/n", (), ())] == ["README.md"] * dead


FOLDERS = sorted(path for path in (ROOT / "release").iterdir() if path.is_dir())


def rules_of(tmp_path, policy):
    """A folder with AGENTS.md of the whole course, under a policy."""
    root, out = tmp_path / policy, tmp_path / f"{policy}-published"
    root.mkdir()
    out.mkdir()
    (root / "course.toml").write_text(f'assistants = "{policy}"\n')
    write_rules(Course(root), out, FOLDERS, tmp_path / "nowhere", set())
    return out


def graded_names():
    """What students write, by the source: the classes and functions around a solution."""
    for folder in FOLDERS:
        for name, notebook in Assignment.open(ROOT, folder.name).source.items():
            for cell in notebook.cells:
                if cells.is_solution(cell) and cell.cell_type == "code":
                    for found in re.findall(r"(?m)^(?:class|def) (\w+)", cell.source):
                        yield f"{folder.name}/{name}", found


@pytest.mark.parametrize("policy", SENTENCES)
def test_every_policy_names_every_graded_function_and_no_solution(tmp_path, policy):
    out = rules_of(tmp_path, policy)
    page = (out / "AGENTS.md").read_text()
    assert SENTENCES[policy] in page
    assert (out / "CLAUDE.md").read_text().count("\n") == 1 and "AGENTS.md" in (out / "CLAUDE.md").read_text()
    names = {found for _, found in graded_names()}
    assert len(names) > 50 and {name for name in names if f"`{name}`" not in page} == set()
    assert "`models.py`: `" in page
    assert found_in(out, [Hidden.of(Assignment.open(ROOT, folder.name)) for folder in FOLDERS]) == []


def test_every_command_of_the_rules_runs(tmp_path):
    page = (rules_of(tmp_path, "tutor") / "AGENTS.md").read_text()
    found = re.findall(r"in `release/(\w+)` also `python -m (pytest tests)`", page)
    assert found
    for assignment, words in found:
        work = shutil.copytree(ROOT / "release" / assignment, tmp_path / "work" / assignment)
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-m", *words.split(), "-q", "--collect-only", "-p", "no:cacheprovider"]
        done = subprocess.run(command, cwd=work, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout


def test_readme_notebooks_and_rules_say_the_same(course, judged, tmp_path):
    (course / "course.toml").write_text('assistants = "open"\n')
    release_anew(course)
    out = tmp_path / "students"
    publish(course, out)
    for path in (out / "README.md", out / "AGENTS.md", out / "release" / "toy" / "1_sums.ipynb"):
        text = path.read_text()
        if path.suffix == ".ipynb":
            first = next(cell for cell in nbformat.reads(text, as_version=4).cells if cell.cell_type == "markdown")
            text = first.source
        assert text.count(SENTENCES["open"]) == 1, path
    (course / "course.toml").write_text('title = "Sums"\n')
    release_anew(course)
    publish(course, out)  # no rule any more
    assert not (out / "AGENTS.md").exists() and not (out / "CLAUDE.md").exists()
    assert SENTENCES["open"] not in (out / "README.md").read_text()


def test_a_notebook_that_says_it_is_left_as_it_is():
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# Title")])
    file = CourseFile(assistants="none")
    once = file.fill_in(notebook).cells[0].source
    assert once == f"# Title\n\n{SENTENCES['none']}" and file.fill_in(notebook).cells[0].source == once
    assert (
        CourseFile().fill_in(nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("a ")])).cells[0].source
        == "a "
    )


def test_a_page_of_a_course_says_it_wherever_its_template_ends(tmp_path):
    (tmp_path / "course.toml").write_text('assistants = "none"\n')
    assert students_readme(Course(tmp_path), "words", [], "o/n") == f"words\n\n{SENTENCES['none']}\n"


@pytest.mark.parametrize("value", ['"tutors"', "true", '""', '["tutor"]', "{tutor = true}"])
def test_a_policy_that_there_is_not_is_one_line(tmp_path, value):
    (tmp_path / "course.toml").write_text(f"assistants = {value}\n")
    with pytest.raises(GradingError, match='assistants: expected "none" or "tutor" or "open", got'):
        read_course_file(tmp_path)


def test_rules_that_somebody_else_wrote_are_not_overwritten(course, judged, tmp_path):
    (course / "course.toml").write_text('title = "Sums"\n')
    out = tmp_path / "students"
    publish(course, out)
    (out / "AGENTS.md").write_text("My own rules.\n")
    (course / "course.toml").write_text('title = "Sums"\nassistants = "tutor"\n')
    release_anew(course)
    with pytest.raises(GradingError, match=r"AGENTS\.md was not written by 'publish'"):
        publish(course, out)
    assert (out / "AGENTS.md").read_text() == "My own rules.\n"

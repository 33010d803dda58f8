"""The course's order: in ``course.toml``, in the students' README and in the road map."""

from __future__ import annotations

import re
import shutil
from itertools import pairwise

import nbformat
import pytest

from autograder.errors import GradingError
from autograder.model.course import Course
from autograder.publish.publish import dead_links, publish
from autograder.publish.texts import students_readme
from autograder.release.main_line import Lesson, lesson, main_line
from tests.feedback.toy import build_course
from tests.grading import ROOT
from tests.publish.test_weeks import judged

ROW = re.compile(r"(?m)^\| (\d+) \| \[([^]]+)\]\(release/([^)]+)\.ipynb\) \| \w+ \| (\d*) \| ([\d.]+) \|")


@pytest.fixture(scope="module")
def readme(tmp_path_factory):
    out = tmp_path_factory.mktemp("published") / "students"
    publish(ROOT, out)
    return (out / "README.md").read_text()


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


def test_the_road_map_has_the_same_order():
    page = (ROOT / "docs" / "roadmap.md").read_text()
    part = page.partition("## The main line\n")[2].partition("\n## ")[0]
    steps, electives = part.split("The other notebooks are electives")
    number = {slug: step for step, slug in enumerate(Course(ROOT).file.main_line.steps, 1)}
    found = re.findall(r"(?m)^\| (\d+) \| ([a-z_]+) (\d) \|", steps)
    assert [(slug.partition("/")[0], slug.partition("/")[2][0]) for slug in number] == [row[1:] for row in found]
    told = {
        f"{assignment}/{one}": int(after)
        for assignment, ones, after in re.findall(r"(?m)^\| (\w+) ([\d, ]+) \| (\d+) \|", electives)
        for one in ones.split(", ")
    }
    line = Course(ROOT).file.main_line
    assert told == {_short(slug): number[before] for slug, before in line.electives.items()}


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


def test_the_road_map_has_the_minutes_and_points_of_the_notebooks():
    page = (ROOT / "docs" / "roadmap.md").read_text()
    told = {step: row for step, *row in re.findall(r"(?m)^\| (\d+) \| \w+ \d \| (\d+) \| (\d+) \|", page)}
    for step, slug in enumerate(Course(ROOT).file.main_line.steps, 1):
        assignment, _, name = slug.partition("/")
        notebook = nbformat.read(ROOT / "source" / f"{slug}.ipynb", as_version=4)
        found = lesson(Course(ROOT).file.main_line, assignment, name, notebook)
        assert [str(found.minutes), found.points] == told[str(step)], slug


def _short(slug):
    assignment, _, name = slug.partition("/")
    return f"{assignment}/{name[0]}"


@pytest.fixture
def course(tmp_path):
    root = build_course(tmp_path / "course").root
    shutil.copy(ROOT / "nbgrader_config.py", root)
    return root


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


def test_a_course_without_an_order_and_a_template_of_an_earlier_version_still_work(course, tmp_path, monkeypatch):
    judged(monkeypatch)
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

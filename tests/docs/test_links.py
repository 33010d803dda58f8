"""What README and guides say of the repository is so: links, tables, commands."""

import re
import tomllib
from pathlib import Path

import nbformat
import pytest
from nbgrader.apps.nbgraderapp import NbGraderApp

from autograder.cli import command_names
from autograder.model import cells
from tests.grading import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
LINK = re.compile(r"\]\(([^)\s]+)\)")
STUDENTS_PAGES = [ROOT / "docs" / "student.md", ROOT / "docs" / "students_readme.md.j2"]
INSTALLING = [*PAGES, ROOT / "docs" / "students_readme.md.j2",
              ROOT / "autograder" / "authoring" / "templates" / "course" / "README.md.j2"]  # fmt: skip
BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)
#: Language of a block of code -> what activates an environment in its shell.
ACTIVATE = {
    "sh": re.compile(r"(?m)(?:^|&& )\. \.venv/bin/activate\b"),
    "bat": re.compile(r"(?m)^\.venv\\Scripts\\activate$|^conda activate transformer-course$"),
}
MAKES = re.compile(r"-m venv \.venv|conda (?:env )?create")
INSTALLS = re.compile(r"(?<![\w/%!])pip install\b")


def anchors(page: Path) -> set[str]:
    """The addresses of a page's headings, as GitHub makes them."""
    headings = re.findall(r"(?m)^#+ (.+)$", page.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", [*PAGES, ROOT / ".github" / "CONTRIBUTING.md"], ids=lambda page: page.name)
def test_every_link_leads_to_a_file_and_a_heading(page):
    broken = []
    for link in LINK.findall(page.read_text(encoding="utf-8")):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []


def not_activated(text: str) -> list[str]:
    """The blocks and paragraphs that make an environment, or install into one, that no line has activated."""
    wrong = []
    for language, block in BLOCK.findall(text):
        makes, installs = MAKES.search(block), INSTALLS.search(block)
        active = ACTIVATE[language].search(block) if language in ACTIVATE else None
        order = [line.start() for line in (makes, active, installs) if line]
        if (makes or installs) and (not active or order != sorted(order)):
            wrong.append(block)
    rest = BLOCK.sub("", text)
    paragraphs = [row for part in rest.split("\n\n") for row in (part.splitlines() if "\n|" in part else [part])]
    return wrong + [one for one in paragraphs if (MAKES.search(one) or INSTALLS.search(one)) and "activate" not in one]


@pytest.mark.parametrize("page", INSTALLING, ids=lambda page: page.name)
def test_every_line_that_installs_comes_after_one_that_activates_the_environment_in_its_shell(page):
    assert not_activated(page.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "text",
    [
        "```sh\npip install .\n```",
        "```sh\npip install .\n. .venv/bin/activate\n```",
        "```bat\npy -m venv .venv\n. .venv/bin/activate\npip install .\n```",
        "```bat\nconda create --name transformer-course python\npip install .\n```",
        "```bat\nconda activate transformer-course\nconda create --name transformer-course python\n```",
        "Type `conda env create -f environment.yml`, then go on.",
        "| a | `pip install .` |\n| b | `. .venv/bin/activate` |",
    ],
)
def test_a_line_that_installs_into_no_environment_is_found(text):
    assert not_activated(text)


@pytest.mark.parametrize("page", STUDENTS_PAGES, ids=lambda page: page.name)
def test_students_get_the_small_torch_on_linux_and_lines_of_their_own_on_windows(page):
    blocks = BLOCK.findall(page.read_text(encoding="utf-8"))
    linux = [block for language, block in blocks if language == "sh" and "pip install" in block]
    windows = [block for language, block in blocks if language == "bat" and "venv" in block]
    assert len(linux) == len(windows) == 1
    assert "--extra-index-url https://download.pytorch.org/whl/cpu '.[views]'" in linux[0]
    assert "'" not in windows[0], "the command prompt takes a single quote for a letter"
    assert "C:\\course" not in page.read_text(encoding="utf-8"), "a folder of this name hides the library"


def test_every_picture_is_shown_in_a_guide():
    shown = {
        (page.parent / link).resolve()
        for page in PAGES
        for link in re.findall(r"!\[[^\]]+\]\(([^)]+)\)", page.read_text(encoding="utf-8"))
    }
    assert set((ROOT / "docs").rglob("*.png")) == shown


def test_every_guide_is_linked_from_the_readme():
    linked = set(LINK.findall((ROOT / "README.md").read_text(encoding="utf-8")))
    assert {f"docs/{page.name}" for page in PAGES[1:]} <= linked


def test_the_readmes_table_of_sheets_is_that_of_the_source():
    rows = re.findall(r"(?m)^\| `(\w+)` \| (\d+) \| (\d+) \|", (ROOT / "README.md").read_text(encoding="utf-8"))
    found = {}
    for folder in (ROOT / "source").iterdir():
        notebooks = [nbformat.read(path, as_version=4) for path in folder.glob("*.ipynb")]
        points = sum(cells.max_points(cell) for book in notebooks for cell in book.cells if cells.is_graded(cell))
        if notebooks:
            found[folder.name] = (str(len(notebooks)), f"{points:g}")
    assert {sheet: (notebooks, points) for sheet, notebooks, points in rows} == found


def test_every_command_of_nbgrader_in_a_guide_exists():
    known = set(NbGraderApp.subcommands)
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        named = set(re.findall(r"(?m)(?:`|^)nbgrader\s+([a-z_]+)", text))
        assert named - known == set(), page.name


def test_every_command_is_in_a_guide_and_every_command_of_a_guide_exists():
    known = set(command_names())
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    named = set(re.findall(r"`?\bautograder ([a-z]+(?:-[a-z]+)*)\b(?! class)", text))
    assert known <= named
    blocks = "".join(re.findall(r"```sh\n(.*?)```", text, re.DOTALL))
    assert set(re.findall(r"(?m)^autograder ([a-z]+(?:-[a-z]+)*)", blocks)) - known == set()


def test_f_the_students_page_names_packages_that_grading_has_and_one_that_it_lacks():
    page = " ".join((ROOT / "docs" / "student.md").read_text(encoding="utf-8").split())
    sentence = page.partition("packages that come with the course: ")[2].partition(".")[0]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    ours = {re.split(r"[>=<]", one)[0] for one in project["dependencies"]}
    named = set(re.findall(r"`(\w+)`", sentence))
    assert {"torch", "transformers", "numpy", "einops"} < named <= ours
    assert "`scipy`" in page and "\nscipy==" not in (ROOT / "constraints.txt").read_text(encoding="utf-8")


def test_the_readme_s_first_screen_is_read_in_a_minute() -> None:
    screen = "\n".join((ROOT / "README.md").read_text(encoding="utf-8").splitlines()[:60])
    assert len(screen.split()) <= 350 and len(LINK.findall(screen)) <= 12

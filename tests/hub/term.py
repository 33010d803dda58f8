"""One assignment on the hub, from the release to the feedback that each student sees; the tests look at it."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import nbformat
from selenium.webdriver.chrome.webdriver import WebDriver
from selenium.webdriver.common.by import By

from tests.browser.conftest import Photograph
from tests.hub.hub import ASSIGNMENT, COURSE, INSTRUCTOR, NOTEBOOK, PASSWORD, Hub
from tests.hub.pages import HubFormgrader, Person, Student

INBOUND = "/srv/nbgrader/exchange/physics/inbound"
RIGHT = "def moving_average(values, window):\n    return np.convolve(values, np.ones(window) / window, 'valid')"
WHY = {"ada": "Windows over an end would have fewer values.", "bob": "Because numpy does it so."}
COMMENT = {"ada": "Right, and well said.", "bob": "What would the mean at an end be made of?"}
MARKS = {"ada": "3", "bob": "1"}
LINE = "A window over an end holds fewer values."


@dataclass
class Term:
    """What was said on the way. ``inbound``: student -> name of the submission's folder in the exchange."""

    validated: dict[str, str] = field(default_factory=dict)
    menu: list[str] = field(default_factory=list)
    inbound: dict[str, str] = field(default_factory=dict)
    graded: str = ""
    scores: dict[str, dict[str, str]] = field(default_factory=dict)
    feedback: dict[str, str] = field(default_factory=dict)


def go_through(hub: Hub, browser: WebDriver, photograph: Photograph) -> Term:
    """Raises AssertionError where a page does not show what it should."""
    term = Term()
    _add_written_question(hub)
    page = HubFormgrader(Person(browser, hub.url, INSTRUCTOR, PASSWORD))
    page.press(ASSIGNMENT, "assign")
    page.open("manage_assignments")
    page.press(ASSIGNMENT, "release")
    _hand_in(hub, browser, "ada", term, photograph)
    _end_the_time(hub)
    _hand_in(hub, browser, "bob", term)
    _forge_an_early_time(hub, "bob")
    term.inbound = {name.split("+")[0]: name for name in hub.machine.run("ls", INBOUND).splitlines()}
    page = HubFormgrader(Person(browser, hub.url, INSTRUCTOR, PASSWORD))
    page.press(ASSIGNMENT, "collect")
    term.graded = hub.machine.shell(f"autograder grade {ASSIGNMENT} --workers 1 2>&1", INSTRUCTOR, COURSE)
    _mark(page, photograph)
    page.open("manage_assignments")
    page.press(ASSIGNMENT, "generate-feedback")
    page.open("manage_assignments")
    page.press(ASSIGNMENT, "release-feedback")
    term.scores = _scores(hub)
    for name in WHY:
        term.feedback[name] = _look_at_feedback(hub, browser, name, photograph)
    return term


def _add_written_question(hub: Hub) -> None:
    path = f"{COURSE}/source/{ASSIGNMENT}/{NOTEBOOK}.ipynb"
    notebook = nbformat.reads(hub.machine.run("cat", path), as_version=4)
    about = {"grade": True, "solution": True, "locked": False, "task": False, "points": 3, "schema_version": 3}
    text = f"=== BEGIN MARK SCHEME ===\n{LINE}\n=== END MARK SCHEME ==="
    notebook.cells.append(nbformat.v4.new_markdown_cell("Why does no window hang over an end?", id="why_text"))
    notebook.cells.append(
        nbformat.v4.new_markdown_cell(text, id="why", metadata={"nbgrader": {**about, "grade_id": "why"}})
    )
    hub.machine.write(path, nbformat.writes(notebook), INSTRUCTOR)


def _hand_in(hub: Hub, browser: WebDriver, name: str, term: Term, photograph: Photograph | None = None) -> None:
    """Fetch, work, validate, submit."""
    student = Student(browser, hub.url, name, PASSWORD)
    term.menu = student.open_list()
    student.fetch()
    path = f"/home/{name}/{ASSIGNMENT}/{NOTEBOOK}.ipynb"
    notebook = nbformat.reads(hub.machine.run("cat", path), as_version=4)
    answers = {"moving_average_answer": RIGHT, "why": WHY[name]}
    for cell in notebook.cells:
        cell.source = answers.get(cell.metadata.get("nbgrader", {}).get("grade_id"), cell.source)
    hub.machine.write(path, nbformat.writes(notebook), name)
    term.validated[name] = student.validate(NOTEBOOK)
    student.submit()
    if photograph is not None:
        photograph(browser, "hub-assignment-list")


def _end_the_time(hub: Hub) -> None:
    text = f'[assignments.{ASSIGNMENT}]\ndeadline = {datetime.now(UTC).isoformat()}\nper_day = "20%"\n'
    hub.machine.write(f"{COURSE}/late_policy.toml", text, INSTRUCTOR)


def _forge_an_early_time(hub: Hub, name: str) -> None:
    """As the student, whose server made the folder and so knows its name: three days earlier everywhere."""
    (old,) = [line for line in hub.machine.run("ls", INBOUND).splitlines() if line.startswith(f"{name}+")]
    student, assignment, _, rest = old.split("+", 3)
    early = (datetime.now(UTC) - timedelta(days=3)).strftime("%Y-%m-%d %H:%M:%S.%f UTC")
    new = f"{student}+{assignment}+{early}+{rest}"
    hub.machine.shell(
        f"mv '{old}' '{new}'\nprintf '%s' '{early}' > '{new}/timestamp.txt'\n"
        f"touch --date='{early}' '{new}'/* '{new}'",
        name, INBOUND,
    )  # fmt: skip


def _mark(page: HubFormgrader, photograph: Photograph) -> None:
    """Read what each wrote, give points and a comment."""
    for place in (1, 2):
        page.open(f"gradebook/{ASSIGNMENT}/{NOTEBOOK}")
        page.row(f"Submission #{place}").find_element(By.LINK_TEXT, f"Submission #{place}").click()
        page.field("why")
        shown = page.browser.find_element(By.TAG_NAME, "body").text
        (name,) = [name for name, answer in WHY.items() if answer in shown]
        page.write("why", MARKS[name])
        page.write("why-comment", COMMENT[name])
        if name == "ada":
            page.show("why-comment")
            photograph(page.browser, "hub-formgrader")


def _scores(hub: Hub) -> dict[str, dict[str, str]]:
    """Student -> row of the export."""
    hub.machine.shell(f"autograder export {ASSIGNMENT} --to csv", INSTRUCTOR, COURSE)
    text = hub.machine.run("cat", f"{COURSE}/exports/{ASSIGNMENT}.csv").removeprefix("\ufeff")
    rows = list(csv.DictReader(io.StringIO(text)))
    return {row["student"]: row for row in rows}


def _look_at_feedback(hub: Hub, browser: WebDriver, name: str, photograph: Photograph) -> str:
    """The text of the page that the student fetched."""
    student = Student(browser, hub.url, name, PASSWORD)
    student.open_list()
    student.fetch_feedback()
    (path,) = hub.machine.shell(f"ls -d {ASSIGNMENT}/feedback/*/*.html", name).splitlines()
    text = student.reads(f"user/{name}/files/{path}")
    if name == "ada":
        photograph(browser, "hub-feedback")
    return text

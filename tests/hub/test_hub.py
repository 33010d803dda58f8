"""A term on JupyterHub as docs/jupyterhub.md sets it up: with real users, by the hub's pages; and what stays closed."""

import csv
import io
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TypeVar

import nbformat
import pytest
from selenium.common.exceptions import NoSuchElementException, StaleElementReferenceException, TimeoutException
from selenium.webdriver.chrome.webdriver import WebDriver
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

from tests.browser.conftest import Photograph
from tests.browser.formgrader import Formgrader
from tests.hub.hub import ASSIGNMENT, COURSE, INSTRUCTOR, NOTEBOOK, PASSWORD, STUDENTS, Hub

T = TypeVar("T")
PATIENCE = 90
#: Seconds in which a list that was clicked has opened.
OPENING = 10
IGNORED = (NoSuchElementException, StaleElementReferenceException)


class Person:
    """Somebody who has just logged in, in a browser that was nobody's before; their server is running."""

    def __init__(self, browser: WebDriver, url: str, name: str, password: str) -> None:
        self.browser, self.url, self.name = browser, url, name
        browser.get("about:blank")
        browser.execute_cdp_cmd("Network.clearBrowserCookies", {})
        browser.get(f"{url}/hub/login")
        browser.find_element(By.ID, "username_input").send_keys(name)
        browser.find_element(By.ID, "password_input").send_keys(password)
        browser.find_element(By.ID, "login_submit").click()
        self.wait("their server", lambda: f"/user/{name}/" in browser.current_url)

    def wait(self, what: str, until: Callable[[], T]) -> T:
        try:
            return WebDriverWait(self.browser, PATIENCE, 0.2, IGNORED).until(lambda _: until())
        except TimeoutException:
            shown = self.browser.find_element(By.TAG_NAME, "body").text[-1500:]
            raise AssertionError(f"{self.name} waited for {what} at {self.browser.current_url}:\n{shown}") from None

    def find(self, selector: str, text: str = "") -> WebElement | None:
        """The first visible element with this selector, whose text is the one given if one is."""
        for element in self.browser.find_elements(By.CSS_SELECTOR, selector):
            if element.is_displayed() and (not text or element.text.strip() == text):
                return element
        return None

    def click(self, selector: str, text: str = "") -> None:
        self.wait(f"{selector} {text}", lambda: self.find(selector, text)).click()

    def reads(self, path: str) -> str:
        """What a page below the hub's address shows this person."""
        self.browser.get(f"{self.url}/{path}")
        return self.browser.find_element(By.TAG_NAME, "body").text


class Student(Person):
    """Works in JupyterLab's page *Assignment List*."""

    def open_list(self) -> list[str]:
        """Open it; returns the entries of nbgrader's menu."""
        self.browser.get(f"{self.url}/user/{self.name}/lab?reset")
        # as long as that word is in the address, a click on a link within the page loads everything anew
        self.wait("a page that has been reset", lambda: "reset" not in self.browser.current_url)
        self.click(".lm-MenuBar-itemLabel", "Nbgrader")
        self.wait("nbgrader's menu", lambda: self.find(".lm-Menu-itemLabel", "Assignment List"))
        entries = [label.text for label in self.browser.find_elements(By.CSS_SELECTOR, ".lm-Menu-itemLabel")]
        self.click(".lm-Menu-itemLabel", "Assignment List")
        self.wait("the list", lambda: self.find("#released_assignments_list"))
        return entries

    def fetch(self) -> None:
        self.click("#released_assignments_list button", "Fetch")
        self.wait("the assignment", lambda: self.find("#fetched_assignments_list button", "Submit"))

    def validate(self, notebook: str) -> str:
        """What the window says; it is closed then."""
        clicked = 0.0

        def button() -> WebElement | None:
            """It opens out of sight, and the list closes again where nbgrader's page has just loaded it anew."""
            nonlocal clicked
            opened = self.find("#fetched_assignments_list button", "Validate")
            link = self.find("#fetched_assignments_list .assignment-notebooks-link")
            if not opened and link and time.monotonic() - clicked > OPENING:
                clicked = time.monotonic()
                link.click()
            return opened

        self.wait(f"Validate at {notebook}", button).click()
        window = self.wait("the result of Validate", lambda: self.find(".jp-Dialog-content"))
        said = window.text
        self.click(".jp-Dialog button.jp-mod-accept")
        self.wait("the window to close", lambda: not self.find(".jp-Dialog"))
        return said

    def submit(self) -> None:
        self.click("#fetched_assignments_list button", "Submit")
        self.wait("the submission", lambda: self.find("#submitted_assignments_list .nested_list_item"))

    def fetch_feedback(self) -> None:
        self.click("#submitted_assignments_list button", "Fetch Feedback")
        self.wait("the feedback", lambda: self.find("#submitted_assignments_list a", "(view feedback)"))


class HubFormgrader(Formgrader):
    """nbgrader's formgrader in a tab of its own."""

    def __init__(self, instructor: Person) -> None:
        self.browser, self.base = instructor.browser, f"{instructor.url}/user/{instructor.name}"
        self.wait = WebDriverWait(self.browser, PATIENCE, 0.2, (StaleElementReferenceException,))
        self.browser.get(f"{instructor.url}/hub/user-redirect/formgrader")

    def open(self, path: str) -> None:
        self.browser.get(f"{self.base}/formgrader/{path}")


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


#: Prints which of the paths that it is given can be read.
LOOK = """
import json, os, sys
def read(path):
    try:
        os.listdir(path) if os.path.isdir(path) else open(path, "rb").read(1)
    except OSError:
        return False
    return True
print(json.dumps([path for path in json.load(sys.stdin) if read(path)]))
"""
ASK = """
import os, sys, urllib.request, urllib.error
try:
    request = urllib.request.Request(sys.argv[1], headers={"Authorization": "token " + sys.argv[2]})
    print(urllib.request.urlopen(request).status)
except urllib.error.HTTPError as error:
    print(error.code)
"""


@pytest.fixture(scope="module")
def term(hub: Hub, browser: WebDriver, photograph: Photograph) -> Term:
    return go_through(hub, browser, photograph)


def test_students_validate_their_notebooks_and_submit_them(term: Term) -> None:
    assert all("Success! Your notebook passes all the tests." in said for said in term.validated.values())
    assert set(term.validated) == set(term.inbound) == set(STUDENTS)


def test_the_menu_has_no_formgrader_that_would_be_blank(term: Term) -> None:
    assert "Assignment List" in term.menu and "Formgrader" not in term.menu


def test_points_marks_and_lateness_count_and_a_forged_time_does_not(term: Term) -> None:
    assert "the latter counts" in term.graded
    earned = {name: (float(row["points"]), float(row["score"])) for name, row in term.scores.items()}
    # bob's name in the exchange says three days before the deadline; he is a day late, which costs 20 percent
    assert earned == {"ada": (5.0, 5.0), "bob": (3.0, 2.4)}


def test_each_student_sees_the_own_feedback(term: Term) -> None:
    for name, other in (("ada", "bob"), ("bob", "ada")):
        assert COMMENT[name] in term.feedback[name] and WHY[name] in term.feedback[name]
        assert COMMENT[other] not in term.feedback[name] and WHY[other] not in term.feedback[name]


def readable(hub: Hub, user: str, paths: list[str]) -> set[str]:
    return set(json.loads(hub.machine.run("python3", "-c", LOOK, user=user, input=json.dumps(paths))))


def processes(hub: Hub, user: str) -> list[str]:
    """The process ids of a user's server, or of the hub and its proxy."""
    pattern = "jupyterhub.singleuser" if user != "root" else "jupyterhub|configurable-http-proxy"
    return hub.machine.run("pgrep", "--euid", user, "--full", pattern).split()


def closed_to(hub: Hub, term: Term, student: str) -> list[str]:
    (other,) = set(STUDENTS) - {student}
    exchange = INBOUND.rpartition("/")[0]
    feedback = hub.machine.run("bash", "-c", f"find /home/{other}/signals -name '*.html'").splitlines()
    return [
        "/etc/shadow", "/srv/jupyterhub", "/srv/jupyterhub/jupyterhub.sqlite", "/srv/jupyterhub/cookie_secret",
        f"/home/{INSTRUCTOR}", *(f"{COURSE}/{name}" for name in ("source/signals/1_smoothing.ipynb", "gradebook.db",
        "exercises/signals/moving_average.py", "submitted", "feedback", "late_policy.toml")),
        f"/home/{other}", f"/home/{other}/signals/1_smoothing.ipynb", *feedback,
        INBOUND, f"{exchange}/feedback",
        *(f"/proc/{process}/{name}" for user in ("root", INSTRUCTOR, other) for process in processes(hub, user)
          for name in ("environ", "mem", "fd")),
    ]  # fmt: skip


@pytest.mark.parametrize("student", STUDENTS)
def test_a_student_reads_neither_the_course_nor_others_files(hub: Hub, term: Term, student: str) -> None:
    paths = closed_to(hub, term, student)
    there = {path for path in paths if not path.endswith("/mem")}
    assert there - readable(hub, "root", paths) == set(), "what the test looks for is there"
    assert readable(hub, student, paths) == set()


@pytest.mark.parametrize("student", STUDENTS)
def test_a_student_can_neither_take_away_nor_replace_what_is_in_the_exchange(
    hub: Hub, term: Term, student: str
) -> None:
    (other,) = set(STUDENTS) - {student}
    exchange = INBOUND.rpartition("/")[0]
    tries = {
        "rename another's submission": f"mv '{INBOUND}/{term.inbound[other]}' {INBOUND}/gone",
        "change a release": f"echo >> {exchange}/outbound/signals/1_smoothing.ipynb",
        "add to a release": f"touch {exchange}/outbound/signals/2.ipynb",
        "put another course in its place": f"mv {exchange} {exchange}-old",
        "put feedback there": f"touch {exchange}/feedback/mine.html",
    }
    script = "\n".join(f"if ({what}) 2>/dev/null; then echo {name!r}; fi" for name, what in tries.items())
    assert hub.machine.shell(script, student) == ""


def test_a_student_gets_into_nobody_elses_server(hub: Hub, term: Term, browser: WebDriver) -> None:
    ada = Person(browser, hub.url, "ada", PASSWORD)
    for path in ("user/grace/formgrader", "user/grace/lab", "user/bob/lab", "hub/admin"):
        shown = ada.reads(path)
        assert "403" in shown or "404" in shown, f"{path} shows {shown[:200]}"
    assert "403" not in ada.reads("user/ada/api/status")


def test_the_token_of_a_students_server_opens_no_other(hub: Hub, term: Term) -> None:
    (process,) = processes(hub, "ada")
    said = hub.machine.run("cat", f"/proc/{process}/environ", user="ada")
    token = dict(part.partition("=")[::2] for part in said.split("\0"))["JUPYTERHUB_API_TOKEN"]
    codes = {
        path: hub.machine.run("python3", "-c", ASK, f"{hub.url}/{path}", token, user="ada").strip()
        for path in ("hub/api/users", "user/grace/api/contents", "user/bob/api/contents", "user/ada/api/contents")
    }
    assert codes.pop("user/ada/api/contents") == "200"
    assert set(codes.values()) <= {"401", "403", "404"}, codes


def test_what_a_student_hands_in_by_anothers_name_is_not_taken(hub: Hub, term: Term) -> None:
    before = hub.machine.run("find", f"{COURSE}/submitted", "-type", "f", "-exec", "sha256sum", "{}", "+")
    forged = f"{INBOUND}/bob+signals+2030-01-01 00:00:00 UTC+forged"
    hub.machine.shell(f"cp -r ~/signals '{forged}'; rm -r '{forged}/feedback'; chmod -R a+rX '{forged}'", "ada")
    said = hub.machine.shell(
        "autograder collect signals --from exchange --yes 2>&1 || echo ended with $?", INSTRUCTOR, COURSE
    )
    hub.machine.run("rm", "-r", forged, user="ada")
    assert "belongs to ada, not to bob" in said and "ended with 1" in said
    assert "the latter counts" in said, "the forged time of bob's own submission"
    assert hub.machine.run("find", f"{COURSE}/submitted", "-type", "f", "-exec", "sha256sum", "{}", "+") == before

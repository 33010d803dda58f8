"""Marking by question in a browser: sixty students, three questions, by keys alone, two people at once."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from selenium.webdriver.chrome.webdriver import WebDriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from autograder import cli
from autograder.marking.desk import Desk
from autograder.model.course import Course
from tests.browser.conftest import Photograph
from tests.browser.formgrader import Formgrader
from tests.browser.jupyter import jupyter_server
from tests.browser.test_axe import AXE, scheme, serious
from tests.feedback.browser import needs_browser, overflow
from tests.feedback.injections import OUTPUTS, TEXTS
from tests.marking.classroom import ASSIGNMENT, NOTEBOOK, WRITTEN, drawn_answers, hand_in, held, make_course
from tests.marking.site import Site, running

pytestmark = [pytest.mark.slow, needs_browser]

STUDENTS = 60
COMMENT = "1 point: names what goes wrong"
POINTS = {"right": 2.0, "speed": 1.0, "future": 1.0, "first": 1.0}  # of a kind; all others have none


def kind_of(text: str) -> str:
    """The kind that an answer was drawn from."""
    plain = re.sub(r"\W+", "", text.lower())
    (found,) = (
        kind
        for question in WRITTEN.values()
        for kind, texts in question["kinds"].items()
        if plain in {re.sub(r"\W+", "", one.lower()) for one in texts}
    )
    return found


class Page:
    """The marking page under a person's fingers; counts what they press and what the browser loads."""

    def __init__(self, browser: WebDriver, address: str) -> None:
        self.browser, self.address = browser, address
        self.presses: Counter[str] = Counter()
        self.loads = 1
        browser.get(address)

    def press(self, key: str, loads: bool = False) -> None:
        """One key. loads: another page comes."""
        self.presses[key] += 1
        self.browser.execute_script("window.before = true")
        chain = ActionChains(self.browser)
        if key.startswith("shift "):
            chain.key_down(Keys.SHIFT).send_keys(key.removeprefix("shift ")).key_up(Keys.SHIFT).perform()
        else:
            chain.send_keys(key).perform()
        if loads:
            self.loads += 1
            WebDriverWait(self.browser, 30, 0.05).until(
                lambda one: one.execute_script("return !window.before && document.readyState === 'complete'"),
                f"{key} led nowhere",
            )

    @property
    def said(self) -> str:
        return self.browser.find_element(By.ID, "said").get_attribute("data-said") or ""

    @property
    def title(self) -> str:
        return self.browser.find_element(By.TAG_NAME, "h1").text

    def texts(self) -> list[str]:
        return [one.text for one in self.browser.find_elements(By.CSS_SELECTOR, ".answer .body")]

    def pressed(self) -> list[bool]:
        lines = self.browser.find_elements(By.CSS_SELECTOR, "#lines button")
        return [line.get_attribute("aria-pressed") == "true" for line in lines]


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    course = make_course(tmp_path_factory.mktemp("marking") / "course")
    for student, answers in drawn_answers(STUDENTS):
        hand_in(course, student, answers)
    return course


@pytest.fixture(scope="module")
def site(course: Course) -> Iterator[Site]:
    with running(Desk(course, ASSIGNMENT), "lin", "sam") as site:
        yield site


def test_a_class_is_marked_by_keys_alone_with_less_than_two_presses_a_group(
    browser: WebDriver, course: Course, site: Site, photograph: Photograph
) -> None:
    page = Page(browser, site.addresses[0])
    photograph(browser, "marking-exercises")
    page.press("n", loads=True)
    photograph(browser, "marking-group")
    groups = 0
    while page.title.startswith("Question"):
        (kind,) = {kind_of(text) for text in page.texts()}
        points = POINTS.get(kind, 0.0)
        groups += 1
        page.press({2.0: "f", 1.0: "shift 1", 0.0: "0"}[points], loads=True)
    assert not any(held(course, student, "scale")[2] for student, _ in drawn_answers(STUDENTS))
    presses = sum(page.presses.values())
    print(f"{STUDENTS} students, {len(WRITTEN)} questions: {groups} groups, {presses} presses, {page.loads} page loads")
    assert presses < 2 * groups and groups < STUDENTS * len(WRITTEN) / 2
    for student, answers in drawn_answers(STUDENTS):
        for cell, text in answers.items():
            points = POINTS.get(kind_of(text), 0.0)
            comment = COMMENT if points == 1.0 else None
            assert held(course, student, cell) == (points, None, False, comment), (student, cell)


def test_feedback_export_and_formgrader_show_the_same(
    browser: WebDriver, course: Course, tmp_path_factory: pytest.TempPathFactory
) -> None:
    (student, answers), *_ = drawn_answers(STUDENTS)
    expected = [POINTS.get(kind_of(text), 0.0) for text in answers.values()]
    assert cli.main(["--course-dir", str(course.root), "feedback", ASSIGNMENT]) == 0
    feedback = (course.feedback(student, ASSIGNMENT) / f"{NOTEBOOK}.html").read_text(encoding="utf-8")
    assert feedback.count("Graded by hand") == len(WRITTEN)
    cli.main(["--course-dir", str(course.root), "export", ASSIGNMENT, "--to", "csv"])
    with (course.root / "exports" / f"{ASSIGNMENT}.csv").open(encoding="utf-8-sig", newline="") as file:
        row = next(one for one in csv.DictReader(file) if student in one.values())
    assert [float(row[f"{NOTEBOOK}/{cell} (2)"]) for cell in answers] == expected
    with Gradebook(course.db_url) as gradebook:
        number = gradebook.find_submission_notebook(NOTEBOOK, ASSIGNMENT, student).id
    with jupyter_server(course.root, tmp_path_factory.mktemp("home")) as server:
        page = Formgrader(browser, server)
        page.open(f"submissions/{number}/")
        for cell, points in zip(answers, expected, strict=True):
            page.wait.until(lambda _, cell=cell: page.field(cell).get_attribute("value") != "")
            assert float(page.field(cell).get_attribute("value")) == points


def by_hand(class_of: dict[str, dict[str, str]]) -> tuple[int, int, int]:
    """Clicks, signs to type and pages that a class takes in the formgrader.

    A click gives full points or none, and another one leads to the next student; one point of two is a click into each
    of two fields, and has to be written, as its comment has.
    """
    partial = sum(POINTS.get(kind_of(text)) == 1.0 for answers in class_of.values() for text in answers.values())
    answers = sum(map(len, class_of.values()))
    return answers + partial + len(class_of), partial * (len("1") + len(COMMENT)), len(class_of)


def test_the_formgrader_takes_a_click_for_each_answer_and_a_page_for_each_student(
    browser: WebDriver, tmp_path_factory: pytest.TempPathFactory
) -> None:
    course = make_course(tmp_path_factory.mktemp("formgrader") / "course")
    class_of_six = dict(drawn_answers(6))
    for student, answers in class_of_six.items():
        hand_in(course, student, answers)
    with Gradebook(course.db_url) as gradebook:
        notebooks = gradebook.assignment_submissions(ASSIGNMENT)
        whose = {one.notebooks[0].id: one.student.id for one in notebooks}
    clicks = typed = loads = 0
    with jupyter_server(course.root, tmp_path_factory.mktemp("home")) as server:
        page = Formgrader(browser, server)
        page.open(f"submissions/{min(whose)}/")
        while "submissions/" in browser.current_url:
            loads += 1
            student = whose[browser.current_url.partition("submissions/")[2].partition("/")[0].partition("?")[0]]
            page.wait.until(lambda _: browser.execute_script(
                "return formgrader.grades && formgrader.grades.loaded && formgrader.comments.loaded"))  # fmt: skip
            for cell, text in class_of_six[student].items():
                points = POINTS.get(kind_of(text), 0.0)
                place = page.field(cell).find_element(By.XPATH, "ancestor::div[contains(@class, 'nbgrader_cell')]")
                if points == 1.0:
                    page.write(cell, "1")
                    page.write(f"{cell}-comment", COMMENT)
                    clicks, typed = clicks + 2, typed + len("1") + len(COMMENT)
                else:
                    button = ".full-credit" if points else ".no-credit"
                    browser.execute_script("arguments[0].click()", place.find_element(By.CSS_SELECTOR, button))
                    clicks += 1
                page.wait.until(lambda _, cell=cell, student=student: not held(course, student, cell)[2])
            browser.execute_script("document.querySelector('li.next a').click()")
            clicks += 1
            page.wait.until(lambda _, seen=student: seen != whose.get(
                browser.current_url.partition("submissions/")[2].partition("/")[0].partition("?")[0]))  # fmt: skip
    assert (clicks, typed, loads) == by_hand(class_of_six)
    print(f"formgrader: clicks, signs typed and pages of {STUDENTS} students:", by_hand(dict(drawn_answers(STUDENTS))))
    for student, answers in class_of_six.items():
        assert [held(course, student, cell)[0] for cell in answers] == [
            POINTS.get(kind_of(text), 0.0) for text in answers.values()
        ]


def test_keys_for_everything(browser: WebDriver, course: Course, site: Site) -> None:
    page = Page(browser, site.addresses[0])
    page.press("n", loads=True)
    assert page.title == "A figure"
    browser.get(f"{site.addresses[0]}group?x=1_attention%2Fscale")
    answer = browser.find_element(By.CSS_SELECTOR, "a[data-one]").text
    before = held(course, answer, "scale")
    page.press("j")
    page.press("o", loads=True)
    assert len(page.texts()) == 1
    was = page.pressed()
    page.press("2")
    assert page.pressed() != was
    page.press("2")
    assert page.pressed() == was
    page.press("p")
    points = browser.find_element(By.ID, "points")
    assert browser.switch_to.active_element == points
    points.clear()
    points.send_keys("1.5")
    page.press(Keys.ESCAPE)
    page.press("c")
    browser.switch_to.active_element.send_keys("\n\nn0f1 are letters here")
    ActionChains(browser).key_down(Keys.CONTROL).send_keys(Keys.ENTER).key_up(Keys.CONTROL).perform()
    WebDriverWait(browser, 30).until(lambda _: "marked with 1.5 points" in page.said)
    assert held(course, answer, "scale")[0] == 1.5
    assert str(held(course, answer, "scale")[3]).endswith("n0f1 are letters here")
    page.press("u", loads=True)
    assert held(course, answer, "scale") == before
    page.press("m")
    assert browser.switch_to.active_element == browser.find_element(By.ID, "other")
    browser.switch_to.active_element.send_keys(Keys.ARROW_DOWN, Keys.TAB, Keys.ENTER)
    WebDriverWait(browser, 30).until(lambda _: "Take apart again" in browser.page_source)
    page.press("l", loads=True)
    assert "answers" in browser.find_element(By.CSS_SELECTOR, ".look h2").text
    page.press("n", loads=True)
    browser.find_element(By.ID, "single-keys").click()
    page.press("e")
    assert "group?" in browser.current_url
    browser.refresh()
    assert not browser.find_element(By.ID, "single-keys").is_selected()
    browser.find_element(By.ID, "single-keys").click()
    page.press("e", loads=True)
    assert page.title == "Exercises to mark"


def test_every_text_has_to_be_on_the_screen_before_a_group_is_marked(
    browser: WebDriver, tmp_path_factory: pytest.TempPathFactory
) -> None:
    course = make_course(tmp_path_factory.mktemp("long") / "course")
    lines = "\n\n".join(f"Line {number} of a long answer." for number in range(40))
    for number, ending in enumerate(("end", "End", "END.")):
        hand_in(course, f"student{number}", {"scale": f"{lines}\n\n{ending}"})
    with running(Desk(course, ASSIGNMENT)) as site:
        page = Page(browser, site.addresses[0])
        page.press("n", loads=True)
        for left in (3, 2, 1):
            page.press("f")
            assert browser.find_element(By.ID, "said").text == f"{left} more to read below."
            browser.execute_async_script("setTimeout(arguments[0], 200)")  # until the text is on the screen
            assert held(course, "student0", "scale")[0] is None
        page.press("f", loads=True)
        assert [held(course, f"student{number}", "scale")[0] for number in range(3)] == [2.0] * 3


def test_two_people_never_see_the_same_answer_to_mark(
    browser: WebDriver, tmp_path_factory: pytest.TempPathFactory
) -> None:
    course = make_course(tmp_path_factory.mktemp("two") / "course")
    for student, answers in drawn_answers(20):
        hand_in(course, student, answers)
    with running(Desk(course, ASSIGNMENT), "lin", "sam") as site:
        lin = Page(browser, site.addresses[0])
        first = browser.current_window_handle
        lin.press("n", loads=True)
        mine = lin.texts()
        browser.switch_to.new_window("window")
        second = browser.current_window_handle
        sam = Page(browser, site.addresses[1])
        sam.press("n", loads=True)
        theirs = sam.texts()
        assert not {kind_of(text) + text.lower() for text in mine} & {kind_of(text) + text.lower() for text in theirs}
        for _ in range(4):
            for window, page in ((first, lin), (second, sam)):
                browser.switch_to.window(window)
                page.press("f", loads=True)
                assert "marked with 2 points" in page.said and "not" not in page.said
        browser.switch_to.window(second)
        browser.close()
        browser.switch_to.window(first)


@pytest.mark.skipif(not AXE.is_file(), reason="no axe-core here: npm install --prefix build/axe axe-core@4.10.3")
@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize("width", [1400, 700, 390])  # 700: twice as large
def test_axe_finds_nothing_serious_and_nothing_is_wider_than_the_window(
    browser: WebDriver, site: Site, photograph: Photograph, colours: str, width: int
) -> None:
    scheme(browser, colours)
    browser.set_window_size(width, 1000)
    found = {}
    for name, path in {
        "start": "",
        "group": "group?x=1_attention%2Fcls",
        "figure": "group?x=1_attention%2Ffigure",
        "look": "look?x=1_attention%2Fcls",
    }.items():
        browser.get(site.addresses[1] + path)
        found[name] = serious(browser)
        photograph(browser, f"marking-{name}-{colours}-{width}")
        assert overflow(browser, width) == 0, name
    browser.set_window_size(1400, 1000)
    scheme(browser, "light")
    assert found == {name: [] for name in found}


def test_hostile_answers_are_text(browser: WebDriver, tmp_path_factory: pytest.TempPathFactory) -> None:
    course = make_course(tmp_path_factory.mktemp("hostile") / "course")
    for number, text in enumerate(TEXTS.values()):
        hand_in(course, f"text{number}", {"scale": f"{number} {text}"})
    for number, output in enumerate(OUTPUTS.values()):
        hand_in(course, f"output{number}", {"figure": f"plt.plot({number})"}, outputs=(output,))
    with running(Desk(course, ASSIGNMENT)) as site:
        for exercise, count in (("scale", len(TEXTS)), ("figure", len(OUTPUTS))):
            seen = 0
            browser.get(f"{site.addresses[0]}group?x=1_attention%2F{exercise}")
            addresses = [one.get_attribute("href") for one in browser.find_elements(By.CSS_SELECTOR, "nav li a")]
            for address in addresses:
                browser.get(str(address))
                seen += len(browser.find_elements(By.CSS_SELECTOR, "a[data-one]"))
                for bait in browser.find_elements(By.CSS_SELECTOR, "#bait, .body a[href^='javascript' i], [onclick]"):
                    browser.execute_script("arguments[0].click()", bait)
                assert "hacked" not in browser.title
                assert browser.find_elements(By.CSS_SELECTOR, "iframe, .body script, .body form, .body style") == []
            assert seen >= count


def test_the_command_prints_an_address_and_ends_with_ctrl_c(browser: WebDriver, course: Course, tmp_path: Path) -> None:
    import signal
    import subprocess
    import sys

    command = [sys.executable, "-m", "autograder.cli", "--course-dir", str(course.root), "mark", ASSIGNMENT,
               "--graders", "lin,sam", "--anonymous"]  # fmt: skip
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # in the background of a shell it is ignored
    )  # fmt: skip
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(2)]
    addresses = [line.split()[1] for line in lines]
    assert [line.split(":")[0] for line in lines] == ["lin", "sam"] and len(set(addresses)) == 2
    page = Page(browser, addresses[1])
    assert page.title == "Exercises to mark" and "sam" in browser.page_source
    browser.get(addresses[1] + "group?x=1_attention%2Fscale")
    assert "p-" in browser.page_source and "student0" not in browser.page_source
    process.send_signal(signal.SIGINT)
    said, wrong = process.communicate(timeout=30)
    assert process.returncode == 0 and "0 marks stored." in said, wrong

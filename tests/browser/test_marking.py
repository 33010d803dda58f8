"""Marking by question in a browser: sixty students, three questions, by keys alone."""

import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium.webdriver.chrome.webdriver import WebDriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from autograder.marking.desk import Desk
from autograder.model.course import Course
from tests.browser.conftest import Photograph
from tests.browser.test_axe import needs_axe, scheme, serious
from tests.feedback.browser import needs_browser, overflow
from tests.feedback.injections import OUTPUTS, TEXTS
from tests.marking.classroom import ASSIGNMENT, WRITTEN, drawn_answers, hand_in, held, make_course
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


@needs_axe
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

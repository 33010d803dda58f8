"""A term on JupyterHub as docs/jupyterhub.md sets it up: with real users, by the hub's pages; and what stays closed."""

from __future__ import annotations

import json

import pytest
from selenium.webdriver.chrome.webdriver import WebDriver

from tests.browser.conftest import Photograph
from tests.hub.hub import COURSE, INSTRUCTOR, PASSWORD, STUDENTS, Hub
from tests.hub.pages import Person
from tests.hub.term import COMMENT, INBOUND, WHY, Term, go_through

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

"""No attack earns a point, changes anything outside its scratch folder, harms another submission, or sees an answer."""

import json
import os
import re
import shutil
import socket
import threading
from dataclasses import dataclass, replace
from functools import lru_cache

import nbformat
import pytest
from nbgrader.api import Gradebook

from autograder.assignment.assignment import Assignment
from autograder.assignment.submission import Submission
from autograder.feedback.page import render_notebook
from autograder.model.verdict import Graded, to_json
from autograder.pipeline import stored_runs
from autograder.pipeline.execute import Limits
from autograder.pipeline.grade import grade_submission as grade
from autograder.report.similarity import _of_notebook, similar_pairs
from tests.attacks.attack import (
    NOTEBOOK,
    WRONG_ANSWER,
    Attack,
    expected_numbers,
    fingerprint,
    nothing_left_running,
    submission,
)
from tests.attacks.corpus import ATTACKS
from tests.attacks.machine import MACHINE
from tests.grading import ROOT, alone_with, assignment, copy_course, exercises_alone, filled, kernels

# all in one worker: each looks for what the last one left running
pytestmark = pytest.mark.xdist_group("attacks")
SLUG = "distilbert/embeddings"
LIMITS = Limits(cell_seconds=6, submission_seconds=60, memory_bytes=1 << 30, processes=48, disk_bytes=64 << 20)
#: For attacks alone: some of them take all the time that they get.
BRIEF = replace(LIMITS, cell_seconds=3)
TREES = (ROOT / "autograder", ROOT / "course", ROOT / "source")
QUICK = {"T01", "T06", "T07", "T09", "T12-disk", "A01", "A11", "A30", "A51"}


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """An instructor's course with a gradebook, another student's submission and a journal."""
    made = copy_course(tmp_path_factory.mktemp("attacked"), "distilbert")
    with Gradebook(f"sqlite:///{made.root / 'gradebook.db'}") as gradebook:
        gradebook.add_student("other")
    shutil.copytree(ROOT / "release" / "distilbert", made.submitted("other", "distilbert"))
    (made.root / ".autograder").mkdir()
    (made.root / ".autograder" / "distilbert.jsonl").write_text('{"student": "other", "digest": "x"}\n')
    (made.root / stored_runs.FOLDER / "distilbert").mkdir(parents=True)
    (made.root / stored_runs.FOLDER / "distilbert" / "other.zip").write_bytes(b"PATH=/ of another student")
    return made


@pytest.fixture(scope="module")
def untouched(course):
    return fingerprint(course.root, *TREES)


@pytest.fixture(scope="module")
def listener():
    """Somebody who would hear what a submission sends; gives the port and what was heard."""
    heard: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def listen() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                heard.append(b"somebody connected")
                connection.close()

        threading.Thread(target=listen, daemon=True).start()
        yield server.getsockname()[1], heard


@pytest.fixture(scope="module")
def honest():
    """Tells that an attack was tried. An honest submission is graded after each attack on the machine, else after every
    eighth and the last: what outlives its submission harms that one, too."""
    tried: list[str] = []

    def one_more(attack: Attack) -> None:
        tried.append(attack.id)
        if len(tried) == 8 or attack in MACHINE:
            grade_honest()

    def grade_honest() -> None:
        attacks = tried.copy()
        tried.clear()
        assert graded(solved()).verdict.points == 5, f"the next submission suffered, from one of {attacks}"

    yield one_more
    grade_honest()


@lru_cache
def alone() -> Assignment:
    """The assignment with nothing but the exercise that is attacked: its notebook without the cells that only show."""
    source, release = exercises_alone("distilbert", NOTEBOOK, [WRONG_ANSWER])
    return replace(alone_with(assignment("distilbert"), NOTEBOOK, source, release), files={}, deliverables=frozenset())


def graded(data: bytes, limits: Limits = LIMITS) -> Graded:
    return grade(Submission("student", {NOTEBOOK: data}, {}, ()), alone(), kernels(), limits)


def released() -> bytes:
    return nbformat.writes(alone().release[NOTEBOOK]).encode()


def solved(answer: str = "") -> bytes:
    """The released notebook with this answer, or the instructor's."""
    answers = {"embeddings_answer": answer} if answer else {}
    return filled("distilbert", NOTEBOOK, answers, alone().release[NOTEBOOK])


def marked(attacks: list[Attack]) -> list:
    return [
        pytest.param(attack, id=attack.id, marks=() if attack.id in QUICK else pytest.mark.slow) for attack in attacks
    ]


def test_the_wrong_answer_deserves_nothing_and_the_right_one_everything():
    assert graded(solved(WRONG_ANSWER)).verdict.points == 0
    assert graded(solved()).verdict.points == 5


@pytest.mark.parametrize("attack", marked(ATTACKS + MACHINE))
def test_an_attack_earns_nothing_and_touches_nothing(attack, course, listener, untouched, honest):
    port, heard = listener
    with nothing_left_running():
        result = graded(submission(attack, released(), course.root, port), BRIEF)

    verdict = result.verdict.notebooks[0]
    assert verdict.points == 0
    assert verdict.max_points == 5
    assert verdict.status != "infrastructure", result.log
    assert fingerprint(course.root, *TREES) == untouched
    assert not heard

    shown = to_json(result.verdict) + "".join(json.dumps(notebook) for notebook in result.notebooks.values())
    shown = re.sub(r'"seconds": [\d.e-]+', "", shown)  # one of them may look like an expected number
    assert not [number for number in expected_numbers(SLUG) if number in shown]
    assert "SENT OUT" not in shown and "SQLite format" not in shown
    assert "ENVIRON" not in shown or "PATH=/" not in shown.split("ENVIRON", 1)[1][:400]

    honest(attack)


@pytest.mark.slow
def test_a_right_answer_followed_by_a_crash_keeps_its_points():
    data = json.loads(solved())
    data["cells"].append({"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "id": "end",
                          "source": "import os; os._exit(1)"})  # fmt: skip
    assert graded(json.dumps(data).encode()).verdict.points == 5


def test_the_grader_process_itself_holds_no_threads_or_files_of_an_attack():
    def files_after_three() -> int:
        for _ in range(3):
            graded(released())
        kernels().settle()
        return len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0

    files_after_three()  # whatever closes kernels in the background is there now
    count = files_after_three()
    assert files_after_three() <= count + 3


@dataclass(frozen=True)
class Flood:
    id: str
    code: tuple[str, ...] = ()
    markdown: tuple[str, ...] = ()

    def submission(self, honest: bytes) -> bytes:
        notebook = json.loads(honest)
        for kind, texts in (("code", self.code), ("markdown", self.markdown)):
            for number, text in enumerate(texts):
                cell = {"cell_type": kind, "id": f"{kind}{number}", "metadata": {}, "source": text}
                notebook["cells"].append(cell | ({"outputs": [], "execution_count": None} if kind == "code" else {}))
        return json.dumps(notebook).encode()


def _show(kind: str, text: str) -> str:
    return f"from IPython.display import display\ndisplay({{'{kind}': {text}}}, raw=True)"


FLOODS = [
    Flood("control characters", tuple(f"print('\\x01' * {1 << 20})  # {n}" for n in range(14))),
    Flood("empty lines in outputs", tuple(f"print('\\n' * {1 << 20})  # {n}" for n in range(12))),
    Flood("long errors", tuple(f"raise ValueError('\\x01' * 200_000)  # {n}" for n in range(10))),
    Flood("drawings", tuple("figures.attention_block()" + " " * n for n in range(150))),
    Flood("HTML outputs", tuple(_show("text/html", f"'<p>&' * 100_000 + '{n}'") for n in range(10))),
    Flood("formulas in an output", tuple(_show("text/markdown", f"'\\\\\\\\[' * 20_000 + '{n}'") for n in range(3))),
    Flood("blanks", markdown=(" " * 60_000 + "[x]", "<" + " " * 60_000)),
    Flood("dots", code=("if 0: x = " + ".".join("a" * 5_000),)),
    Flood("empty lines", code=("x = 1" + "\n" * 30_000 + "y = 2",)),
]


@pytest.mark.parametrize("flood", FLOODS, ids=lambda flood: flood.id)
def test_a_flood_keeps_its_points_and_stays_small(flood: Flood):
    result = graded(flood.submission(solved()))
    (verdict,) = result.verdict.notebooks
    assert verdict.points == 5
    notebook = result.notebooks[NOTEBOOK]
    assert len(nbformat.writes(notebook).encode()) < 2.5 * LIMITS.notebook_output_bytes
    assert len(render_notebook(notebook, verdict).encode()) < 10 * LIMITS.notebook_output_bytes
    answers = list(_of_notebook("student", notebook, assignment("distilbert").release[NOTEBOOK]))
    assert not similar_pairs(answers)

"""Another user of this machine: nothing stops or waits, nothing is read, nothing is removed or changed.

The grader works in real; a second user, whom the system knows, has laid traps before and attacks meanwhile.
"""

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest

from tests.attacks import __main__ as command
from tests.attacks.ordinary import FULL, Outcome, Unavailable, outcomes
from tests.attacks.other_user import ATTEMPTS, Attempt, Prey
from tests.attacks.second_user import (
    AmongTraps,
    attempts,
    attempts_on_a_grader_at_work,
    grader_among_traps,
    second_user,
)

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("attacks")]


@pytest.fixture(scope="module")
def stranger() -> Iterator[int]:
    try:
        with second_user() as uid:
            yield uid
    except Unavailable as why:
        pytest.skip(str(why))


def test_a_grader_between_the_traps_of_another_user_neither_waits_nor_touches_them(stranger: int) -> None:
    found = grader_among_traps(stranger)
    assert found.traps > 20
    assert found == AmongTraps(("42", "42"), (), (), found.traps)


def test_no_attempt_of_another_user_on_a_grader_at_work_gets_through(stranger: int) -> None:
    found = attempts_on_a_grader_at_work(stranger)
    assert [one.name for one in found[:-1]] == [attempt.__name__.replace("_", " ") for attempt in ATTEMPTS]
    assert [one for one in found if one.got_through] == []
    assert any("Permission denied" in one.detail for one in found if one.name == "connect to sockets")


def test_the_attempts_get_through_where_nothing_is_closed(stranger: int) -> None:
    """Else the test above would say nothing: the same attempts on a folder that is open to all."""
    open_place = Path(tempfile.mkdtemp(dir="/tmp"))
    own, course = open_place / "own", open_place / "course"
    victim = subprocess.Popen(["/bin/sleep", "60"], user=stranger, cwd="/")
    try:
        for folder in (open_place, own, course):
            folder.mkdir(exist_ok=True)
            folder.chmod(0o777)
        (course / "gradebook.db").write_text("grades")
        found = attempts(stranger, Prey((victim.pid,), str(open_place), str(own), str(course)))
        through = {one.name for one in found if one.got_through}
        assert through >= {"list the own folder", "make something in it", "signal processes", "read the course"}
    finally:
        victim.kill()
        victim.wait()
        shutil.rmtree(open_place, ignore_errors=True)


def test_the_command_shows_another_user_as_a_group_of_its_own_and_fails_where_one_gets_through(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    through = [Attempt("read the course", True, ""), Attempt("signal processes", False, "Permission denied")]
    monkeypatch.setattr(command, "second_user", lambda: nullcontext(1000))
    monkeypatch.setattr(command, "attempts_on_a_grader_at_work", lambda uid: through)
    monkeypatch.setattr(command, "grader_among_traps", lambda uid: AmongTraps(("42", "42"), (), (), 30))
    assert command.another_user() == ["read the course"]
    shown = capsys.readouterr().out
    assert "another user of this machine" in shown
    assert "| read the course | GOT THROUGH |" in shown and "| signal processes | refused: Permission denied |" in shown


#: One of each kind: reading, writing, forging, killing, sharing, flooding, and failures at will.
CHOSEN = ("T12-disk", "T15", "T17", "T19-daemon", "A30", "A32", "A36", "M01", "M03", "M07", "M20", "M24")


@pytest.fixture(scope="module")
def results() -> dict[str, Outcome]:
    try:
        return outcomes(CHOSEN)
    except Unavailable as why:
        pytest.skip(str(why))


@pytest.mark.parametrize("attack", CHOSEN)
def test_an_attack_on_an_ordinary_users_grader_earns_nothing_and_touches_nothing(
    attack: str, results: dict[str, Outcome]
) -> None:
    outcome = results[attack]
    assert (outcome.points, outcome.honest_after, outcome.changed) == (0, FULL, False)
    assert outcome.status != "infrastructure"

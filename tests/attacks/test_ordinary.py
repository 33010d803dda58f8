"""The same attacks where the grader is an ordinary user: what a kernel may do is then no matter of its uid."""

from __future__ import annotations

import pytest

from tests.attacks.ordinary import FULL, Outcome, Unavailable, outcomes

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("attacks")]

#: One of each kind: reading, writing, forging, killing, sharing, flooding, and failures at will.
CHOSEN = ("T12-disk", "T15", "T17", "T19-daemon", "A30", "A32", "A36", "M01", "M03", "M07", "M20", "M21")


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

"""What being late costs: each rule both ways. Times are 2026/27 in Berlin unless a test says otherwise."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from autograder.gradebook.late.policy import Lateness, LatePolicy, Rules, decide, decide_term

BERLIN = ZoneInfo("Europe/Berlin")
DEADLINE = datetime(2026, 11, 30, 23, 59, tzinfo=BERLIN)
SECOND, MINUTE, HOUR, DAY = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


def policy(free_days: int = 0, **rules: object) -> LatePolicy:
    return LatePolicy({"sums": Rules(DEADLINE, **rules)}, free_days)  # type: ignore[arg-type]


def late(given: LatePolicy, by: timedelta, student: str = "ada", used: int = 0) -> Lateness:
    return decide(given, "sums", student, DEADLINE.astimezone(UTC) + by, used)


def test_the_last_second_is_on_time_and_the_next_one_starts_a_day():
    given = policy(per_day_share=0.1)
    assert late(given, timedelta(0)) == Lateness(reason="on time")
    assert late(given, SECOND) == Lateness(1, share=0.1, reason="1 day late: 1 at 10 %")
    assert late(given, DAY).days == 1
    assert late(given, DAY + SECOND).days == 2


def test_without_a_cost_late_days_are_counted_and_nothing_is_taken_off():
    decided = late(policy(free_days=3), 2 * DAY)
    assert (decided.days, decided.free_days_used, decided.deduction(10)) == (2, 0, 0)
    assert decided.reason == "2 days late, no deduction"


def test_an_assignment_without_a_deadline_costs_nothing():
    assert decide(policy(per_day_share=0.1), "other", "ada", DEADLINE + 30 * DAY) == Lateness(reason="no deadline")


def test_a_percentage_is_taken_of_what_was_earned():
    decided = late(policy(per_day_share=0.1), 2 * DAY + HOUR)
    assert decided.deduction(10) == pytest.approx(3)
    assert decided.deduction(4) == pytest.approx(1.2)


def test_points_are_taken_off_for_every_started_day():
    assert late(policy(per_day_points=1.5), HOUR).deduction(10) == 1.5
    assert late(policy(per_day_points=1.5), DAY + HOUR).deduction(10) == 3


@pytest.mark.parametrize("rules", [{"per_day_share": 0.4}, {"per_day_points": 4.0}])
def test_a_deduction_never_makes_a_score_negative(rules):
    decided = late(policy(**rules), 100 * DAY)
    assert decided.deduction(10) == 10
    assert decided.deduction(0) == 0
    assert decided.deduction(-2) == 0


def test_free_days_are_spent_first_and_once():
    given = policy(free_days=2, per_day_points=1)
    assert late(given, 2 * DAY) == Lateness(2, 2, reason="2 days late: 2 free")
    assert late(given, 3 * DAY) == Lateness(3, 2, points=1, reason="3 days late: 2 free, 1 at 1 points")
    assert late(given, 2 * DAY, used=1).deduction(10) == 1
    assert late(given, 2 * DAY, used=5).free_days_used == 0


def test_free_days_are_the_terms_and_are_spent_in_the_order_of_deadlines():
    given = LatePolicy(
        {
            "second": Rules(DEADLINE + 14 * DAY, per_day_points=1),
            "first": Rules(DEADLINE, per_day_points=1),
        },
        free_days=3,
    )
    times = {
        "first": {"ada": DEADLINE + 2 * DAY, "bob": DEADLINE},
        "second": {"ada": DEADLINE + 16 * DAY, "bob": DEADLINE + 16 * DAY},
    }
    assert decide_term(given, "first", "ada", times).free_days_used == 2
    ada, bob = (decide_term(given, "second", student, times) for student in ("ada", "bob"))
    assert (ada.free_days_used, ada.deduction(10)) == (1, 1)
    assert (bob.free_days_used, bob.deduction(10)) == (2, 0)


def test_a_refused_submission_spends_no_free_day():
    given = policy(free_days=3, per_day_points=1, hard_deadline=DEADLINE + DAY, afterwards="refused")
    assert late(given, 2 * DAY).free_days_used == 0
    assert late(given, DAY).free_days_used == 1


def test_grace_minutes_move_every_boundary_and_no_further():
    given = policy(per_day_points=1, grace=15 * MINUTE, hard_deadline=DEADLINE + 2 * DAY)
    assert late(given, 15 * MINUTE).days == 0
    assert late(given, 15 * MINUTE + SECOND).days == 1
    assert late(given, DAY + 15 * MINUTE).days == 1
    assert late(given, 2 * DAY + 15 * MINUTE).deduction(10) == 2
    assert late(given, 2 * DAY + 16 * MINUTE).deduction(10) == 10


def test_after_the_hard_deadline_the_score_is_zero_and_says_so():
    given = policy(per_day_share=0.1, hard_deadline=DEADLINE + 3 * DAY)
    assert late(given, 3 * DAY).deduction(10) == pytest.approx(3)
    over = late(given, 3 * DAY + SECOND)
    assert (over.deduction(10), over.refused, over.reason) == (10, False, "after the hard deadline: 0 points")


def test_after_the_hard_deadline_a_submission_may_be_refused_and_has_no_score_at_all():
    given = policy(per_day_share=0.1, hard_deadline=DEADLINE + 3 * DAY, afterwards="refused")
    assert not late(given, 3 * DAY).refused
    over = late(given, 3 * DAY + SECOND)
    assert (over.refused, over.days, over.reason) == (True, 4, "after the hard deadline: refused")


def test_a_hard_deadline_alone_takes_nothing_off_before_it():
    given = policy(hard_deadline=DEADLINE + DAY)
    assert late(given, DAY).deduction(10) == 0
    assert late(given, DAY + SECOND).deduction(10) == 10


def test_an_extension_is_one_students_and_moves_the_hard_deadline_along():
    given = policy(
        per_day_points=1,
        hard_deadline=DEADLINE + 3 * DAY,
        extensions={"ada": 2 * DAY, "bob": DEADLINE + 2 * DAY},
    )
    for student in ("ada", "bob"):
        assert late(given, 2 * DAY, student) == Lateness(reason="on time (with an extension)")
        assert late(given, 2 * DAY + SECOND, student).deduction(10) == 1
        assert late(given, 5 * DAY, student).deduction(10) == 3
        assert late(given, 5 * DAY + SECOND, student).deduction(10) == 10
    assert late(given, 2 * DAY, "eve").deduction(10) == 2


def test_a_submission_without_a_recorded_time_is_on_time_and_says_so():
    decided = decide(policy(per_day_points=1), "sums", "ada", None)
    assert (decided.days, decided.deduction(10)) == (0, 0)
    assert "no time was recorded" in decided.reason


def test_a_time_without_a_zone_is_a_mistake_of_the_caller():
    with pytest.raises(ValueError, match="time zone"):
        decide(policy(), "sums", "ada", datetime(2026, 12, 1))


def test_a_day_ends_at_the_deadlines_hour_although_the_clocks_change():
    # in Berlin the night to 28 March 2027 is 23 hours long
    deadline = datetime(2027, 3, 27, 23, 59, tzinfo=BERLIN)
    given = LatePolicy({"sums": Rules(deadline, per_day_points=1)})
    end_of_first_day = datetime(2027, 3, 28, 23, 59, tzinfo=BERLIN).astimezone(UTC)
    assert end_of_first_day - deadline.astimezone(UTC) == 23 * HOUR
    assert decide(given, "sums", "ada", end_of_first_day).days == 1
    assert decide(given, "sums", "ada", end_of_first_day + SECOND).days == 2


def test_it_does_not_matter_in_which_zone_a_time_is_said():
    given = policy(per_day_points=1)
    moment = DEADLINE.astimezone(UTC) + HOUR
    assert {decide(given, "sums", "ada", moment.astimezone(ZoneInfo(zone))) for zone in ("Asia/Tokyo", "UTC")} == {
        decide(given, "sums", "ada", moment)
    }


def berlin(*moment: int) -> datetime:
    return datetime(*moment, tzinfo=BERLIN)  # type: ignore[misc, arg-type]


@pytest.mark.parametrize("year, spring, autumn", [(2027, (3, 28), (10, 31)), (2026, (3, 29), (10, 25))])
def test_d5_an_extension_moves_the_hard_deadline_by_days_on_the_clock_over_both_changes(year, spring, autumn):
    for month, day in (spring, autumn):
        deadline = berlin(year, month, day, 23, 59) - 2 * DAY
        for extension in (deadline + 3 * DAY, 3 * DAY):  # a time, and a number of days
            rules = Rules(deadline, hard_deadline=deadline + 7 * DAY, extensions={"ada": extension})
            until, hard = rules.deadlines_for("ada")
            assert until == deadline + 3 * DAY and hard == deadline + 10 * DAY
            assert (until.hour, until.minute, hard.hour, hard.minute) == (23, 59, 23, 59)
            given = LatePolicy({"sums": rules})
            assert decide(given, "sums", "ada", hard.astimezone(UTC)).share < 1
            assert decide(given, "sums", "ada", hard.astimezone(UTC) + SECOND).share == 1


def test_d5_the_case_that_cost_everything():
    """Deadline 27 March, hard 3 April, extended to 29 March: 5 April, 23:30 is before the hard deadline."""
    rules = Rules(berlin(2027, 3, 27, 23, 59), per_day_share=0.1, hard_deadline=berlin(2027, 4, 3, 23, 59),
                  extensions={"ada": berlin(2027, 3, 29, 23, 59), "grace": 2 * DAY})  # fmt: skip
    for student in rules.extensions:
        found = decide(LatePolicy({"sums": rules}), "sums", student, berlin(2027, 4, 5, 23, 30))
        assert (found.days, found.share) == (7, pytest.approx(0.7))


def test_d5_an_extension_in_another_zone_is_a_difference_of_clocks_where_the_hard_deadline_is():
    rules = Rules(berlin(2027, 3, 27, 23, 59), hard_deadline=berlin(2027, 4, 3, 23, 59),
                  extensions={"ada": datetime(2027, 3, 29, 21, 59, tzinfo=UTC)})  # fmt: skip
    assert rules.deadlines_for("ada")[1] == berlin(2027, 4, 5, 23, 59)


def test_d5_days_end_at_the_deadlines_hour_in_autumn_too_and_grace_is_real_minutes():
    deadline = berlin(2026, 10, 24, 23, 59)
    given = LatePolicy({"sums": Rules(deadline, per_day_points=1, grace=15 * MINUTE)})
    end = berlin(2026, 10, 25, 23, 59).astimezone(UTC)
    assert end - deadline.astimezone(UTC) == 25 * HOUR
    assert [decide(given, "sums", "ada", end + by).days for by in (15 * MINUTE, 15 * MINUTE + SECOND)] == [1, 2]


def test_d5_a_deadline_that_the_clocks_show_twice_or_never_is_the_later_one():
    twice, never = berlin(2026, 10, 25, 2, 30), berlin(2027, 3, 28, 2, 30)
    for deadline, utc in ((twice, datetime(2026, 10, 25, 1, 30)), (never, datetime(2027, 3, 28, 1, 30))):
        given = LatePolicy({"sums": Rules(deadline, per_day_points=1, hard_deadline=deadline + DAY)})
        moment = utc.replace(tzinfo=UTC)
        assert decide(given, "sums", "ada", moment).days == 0
        assert decide(given, "sums", "ada", moment + SECOND).days == 1

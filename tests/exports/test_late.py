"""What being late costs, and ``late_policy.toml``, which says it: a typo in it is an error in one line."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from autograder.errors import GradingError
from autograder.gradebook.late.file import read_policy
from autograder.gradebook.late.policy import Lateness, LatePolicy, Rules, decide, decide_term

BERLIN = ZoneInfo("Europe/Berlin")
SECOND, MINUTE, HOUR, DAY = (timedelta(seconds=n) for n in (1, 60, 3600, 86400))


def at(*moment: int) -> datetime:
    return datetime(*moment, tzinfo=BERLIN)


END, SPRING, AUTUMN = at(2026, 11, 30, 23, 59), at(2027, 3, 27, 23, 59), at(2026, 10, 24, 23, 59)
TENTH, POINT, GRACE = {"per_day_share": 0.1}, {"per_day_points": 1}, {"grace": 15 * MINUTE}
HARD, REFUSED = {"hard_deadline": END + 3 * DAY}, {"hard_deadline": END + 3 * DAY, "afterwards": "refused"}
LONGER = POINT | HARD | {"extensions": {"ada": 2 * DAY, "bob": END + 2 * DAY}}
#: rules, free days, after the deadline -> days, free days used, taken off 10 points, reason
ROWS = [
    (TENTH, 0, 0 * DAY, 0, 0, 0, "on time"),
    (TENTH, 0, SECOND, 1, 0, 1, "1 day late: 1 at 10 %"),
    (TENTH, 0, DAY, 1, 0, 1, "1 day late: 1 at 10 %"),
    (TENTH, 0, DAY + SECOND, 2, 0, 2, "2 days late: 2 at 10 %"),
    ({}, 3, 2 * DAY, 2, 0, 0, "2 days late, no deduction"),
    ({"per_day_points": 1.5}, 0, HOUR, 1, 0, 1.5, "1 day late: 1 at 1.5 points"),
    ({"per_day_points": 1.5}, 0, DAY + HOUR, 2, 0, 3, "2 days late: 2 at 1.5 points"),
    ({"per_day_share": 0.4}, 0, 100 * DAY, 100, 0, 10, "100 days late: 100 at 40 %"),
    ({"per_day_points": 4}, 0, 100 * DAY, 100, 0, 10, "100 days late: 100 at 4 points"),
    (POINT, 2, 2 * DAY, 2, 2, 0, "2 days late: 2 free"),
    (POINT, 2, 3 * DAY, 3, 2, 1, "3 days late: 2 free, 1 at 1 points"),
    (POINT | REFUSED, 4, 3 * DAY, 3, 3, 0, "3 days late: 3 free"),
    (POINT | REFUSED, 4, 4 * DAY, 4, 0, None, "after the hard deadline: refused"),
    (POINT | GRACE | HARD, 0, 15 * MINUTE, 0, 0, 0, "on time"),
    (POINT | GRACE | HARD, 0, 15 * MINUTE + SECOND, 1, 0, 1, "1 day late: 1 at 1 points"),
    (POINT | GRACE | HARD, 0, DAY + 15 * MINUTE, 1, 0, 1, "1 day late: 1 at 1 points"),
    (POINT | GRACE | HARD, 0, 3 * DAY + 15 * MINUTE, 3, 0, 3, "3 days late: 3 at 1 points"),
    (POINT | GRACE | HARD, 0, 3 * DAY + 16 * MINUTE, 4, 0, 10, "after the hard deadline: 0 points"),
    (TENTH | HARD, 0, 3 * DAY, 3, 0, 3, "3 days late: 3 at 10 %"),
    (TENTH | HARD, 0, 3 * DAY + SECOND, 4, 0, 10, "after the hard deadline: 0 points"),
    (HARD, 0, 3 * DAY, 3, 0, 0, "3 days late, no deduction"),
    (HARD, 0, 3 * DAY + SECOND, 4, 0, 10, "after the hard deadline: 0 points"),
    (LONGER, 0, 2 * DAY, 0, 0, 0, "on time (with an extension)"),
    (LONGER, 0, 2 * DAY + SECOND, 1, 0, 1, "1 day late: 1 at 1 points (with an extension)"),
    (LONGER, 0, 5 * DAY, 3, 0, 3, "3 days late: 3 at 1 points (with an extension)"),
    (LONGER, 0, 5 * DAY + SECOND, 4, 0, 10, "after the hard deadline (with an extension): 0 points"),
]  # fmt: skip


@pytest.mark.parametrize("zone", ["Europe/Berlin", "UTC", "Asia/Tokyo"])  # it does not matter where a time is said
@pytest.mark.parametrize(("rules", "free", "by", "days", "used", "off", "reason"), ROWS)
def test_what_is_decided(rules, free, by, days, used, off, reason, zone):
    policy = LatePolicy({"sums": Rules(END, **rules)}, free)
    for student in rules.get("extensions", {"ada": None}):
        late = decide(policy, "sums", student, (END.astimezone(UTC) + by).astimezone(ZoneInfo(zone)))
        assert (late.days, late.free_days_used, late.refused, late.reason) == (days, used, off is None, reason)
        assert [late.deduction(x) for x in (10, 0, -2)] == [pytest.approx(off or 0), 0, 0]
        assert not rules.get("per_day_share") or days > 2 or late.deduction(4) == pytest.approx(0.4 * (off or 0))
    if "extensions" in rules:  # and nobody else's
        assert decide(policy, "sums", "eve", END.astimezone(UTC) + 2 * DAY).deduction(10) == 2


def test_free_days_are_the_terms_and_are_spent_in_the_order_of_deadlines():
    policy = LatePolicy({"second": Rules(END + 14 * DAY, **POINT), "first": Rules(END, **POINT)}, free_days=3)
    times = {"first": {"ada": END + 2 * DAY, "bob": END}, "second": dict.fromkeys(("ada", "bob"), END + 16 * DAY)}
    decided = [decide_term(policy, *whose, times) for whose in (("first", "ada"), ("second", "ada"), ("second", "bob"))]
    assert [(late.free_days_used, late.deduction(10)) for late in decided] == [(2, 0), (1, 1), (2, 0)]
    for used, deduction in ((1, 0), (2, 1), (5, 2)):
        assert decide(policy, "first", "ada", END + 2 * DAY, used_days=used).deduction(10) == deduction


def test_what_has_no_time_or_no_deadline_costs_nothing():
    policy = LatePolicy({"sums": Rules(END, **POINT)})
    assert decide(policy, "other", "ada", END + 30 * DAY) == Lateness(reason="no deadline")
    assert decide(policy, "sums", "ada", None) == Lateness(reason="no time was recorded: counted as on time")
    with pytest.raises(ValueError, match="time zone"):
        decide(policy, "sums", "ada", datetime(2026, 12, 1))


#: rules -> the last moments that cost 0, 1, 2 ... days; nights in which clocks change are among them
CLOCKS = [
    (Rules(SPRING, **POINT), [SPRING, at(2027, 3, 28, 23, 59)]),  # 23 hours
    (Rules(AUTUMN, **POINT), [AUTUMN, at(2026, 10, 25, 23, 59)]),  # 25 hours
    (Rules(AUTUMN, **POINT, **GRACE), [AUTUMN + 15 * MINUTE, at(2026, 10, 26, 0, 14)]),
    (Rules(at(2026, 10, 25, 2, 30), **POINT), [datetime(2026, 10, 25, 1, 30, tzinfo=UTC)]),  # shown twice: the later
    (Rules(at(2027, 3, 28, 2, 30), **POINT), [datetime(2027, 3, 28, 1, 30, tzinfo=UTC)]),  # never shown
]


@pytest.mark.parametrize(("rules", "ends"), CLOCKS)
def test_a_day_ends_at_the_deadlines_hour_although_the_clocks_change(rules, ends):
    for days, end in enumerate(ends):
        moments = end.astimezone(UTC), end.astimezone(UTC) + SECOND
        assert [decide(LatePolicy({"a": rules}), "a", "ada", one).days for one in moments] == [days, days + 1]


@pytest.mark.parametrize("change", [(2027, 3, 28), (2027, 10, 31), (2026, 3, 29), (2026, 10, 25)])
def test_an_extension_moves_the_hard_deadline_by_days_on_the_clock(change):
    end = at(*change, 23, 59) - 2 * DAY
    for extension in (end + 3 * DAY, 3 * DAY):  # a time, and a number of days
        rules = Rules(end, hard_deadline=end + 7 * DAY, extensions={"ada": extension})
        until, hard = rules.deadlines_for("ada")
        assert (until, hard) == (end + 3 * DAY, end + 10 * DAY)
        assert {(one.hour, one.minute) for one in (until, hard)} == {(23, 59)}
        shares = [decide(LatePolicy({"a": rules}), "a", "ada", (end + 10 * DAY).astimezone(UTC) + by).share
                  for by in (0 * DAY, SECOND)]  # fmt: skip
        assert shares == [0, 1]


@pytest.mark.parametrize("extension", [at(2027, 3, 29, 23, 59), 2 * DAY, datetime(2027, 3, 29, 21, 59, tzinfo=UTC)])
def test_an_extension_over_a_change_costs_nobody_everything(extension):
    """Deadline 27 March, hard 3 April, extended to 29 March: 5 April, 23:30 is before the hard deadline."""
    rules = Rules(SPRING, **TENTH, hard_deadline=at(2027, 4, 3, 23, 59), extensions={"ada": extension})
    assert rules.deadlines_for("ada")[1] == at(2027, 4, 5, 23, 59)
    late = decide(LatePolicy({"sums": rules}), "sums", "ada", at(2027, 4, 5, 23, 30))
    assert (late.days, late.share) == (7, pytest.approx(0.7))


WHOLE = """
timezone = "Europe/Berlin"
free_days = 3
grace_minutes = 10
per_day = "10%"

[assignments.sums]
deadline = 2026-11-30T23:59:00
hard_deadline = 2026-12-07T23:59:00
after_hard_deadline = "refused"

[assignments.sums.extensions]
ada = 2026-12-02T12:00:00
bob = 2

[assignments.loops]
deadline = 2026-12-14T23:59:00+09:00
per_day = 2.5
grace_minutes = 0
"""
STUDENTS, ASSIGNMENTS = ("ada", "bob"), ("sums", "loops")


@pytest.fixture
def read(tmp_path):
    def read(text: str, assignments=ASSIGNMENTS, students=STUDENTS, private: str | None = None):
        (tmp_path / "late_policy.toml").write_text(text, encoding="utf-8")
        if private is not None:
            (tmp_path / "extensions.toml").write_text(private, encoding="utf-8")
        return read_policy(tmp_path, assignments, students)

    return read


def test_a_course_without_the_file_has_no_policy(tmp_path):
    assert read_policy(tmp_path) is None


def test_a_whole_policy_is_read(read):
    policy = read(WHOLE)
    assert policy.free_days == 3
    sums, loops = policy.assignments["sums"], policy.assignments["loops"]
    assert sums.deadline.astimezone(UTC) == datetime(2026, 11, 30, 22, 59, tzinfo=UTC)
    assert (sums.grace, sums.per_day_share, sums.afterwards) == (timedelta(minutes=10), 0.1, "refused")
    assert sums.deadlines_for("ada")[0].astimezone(UTC) == datetime(2026, 12, 2, 11, tzinfo=UTC)
    assert sums.deadlines_for("bob")[0].astimezone(UTC) == datetime(2026, 12, 2, 22, 59, tzinfo=UTC)
    assert loops.deadline.astimezone(UTC) == datetime(2026, 12, 14, 14, 59, tzinfo=UTC)
    assert (loops.grace, loops.per_day_share, loops.per_day_points) == (timedelta(0), 0.0, 2.5)
    assert (loops.hard_deadline, loops.afterwards, dict(loops.extensions)) == (None, "zero", {})


def test_an_empty_file_is_a_policy_without_deadlines(read):
    assert dict(read("").assignments) == {}


def test_who_is_known_is_not_asked_where_nobody_says_it(read):
    assert set(read(WHOLE, None, None).assignments) == {"sums", "loops"}


DATED = "[assignments.sums]\ndeadline = 2026-11-30T23:59:00Z\n"
WITH_ADAS = DATED + "[assignments.sums.extensions]\nada = 1\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("free_days = ", "is not TOML"),
        ("fre_days = 3", "unknown key 'fre_days' in the top of the file; did you mean 'free_days'?"),
        ("free_days = -1", "free_days: expected a whole number of days, 0 or more, got -1"),
        ("free_days = true", "free_days: expected a whole number"),
        ('timezone = "Berlin"', "timezone: expected a name such as"),
        ("timezone = 1", "timezone: expected a name such as"),
        ('timezone = "../../etc/passwd"', "timezone: expected a name such as"),
        ("assignments = 1", "expected [assignments] to be a table"),
        ('per_day = "ten"', "per_day: expected points, 0 or more, or a text such as"),
        ('per_day = "120%"', 'per_day: expected points, 0 or more, or a text such as "10%", got'),
        ("per_day = -1", "per_day: expected points"),
        ("per_day = nan", "per_day: expected points"),
        ("grace_minutes = -5", "grace_minutes: expected a number of minutes"),
        ('after_hard_deadline = "nil"', 'after_hard_deadline: expected "zero" or "refused"'),
        ("[assignments.sms]\ndeadline = 2026-11-30T23:59:00Z", "unknown assignment 'sms'; did you mean 'sums'?"),
        ("[assignments.sums]\n", "[assignments.sums]: expected a deadline"),
        ("[assignments.sums]\ndedline = 1", "unknown key 'dedline' in [assignments.sums]; did you mean 'deadline'?"),
        ("[assignments.sums]\ndeadline = 2026-11-30", "deadline: expected a date and time"),
        ('[assignments.sums]\ndeadline = "tomorrow"', "deadline: expected a date and time"),
        ("[assignments.sums]\ndeadline = 2026-11-30T23:59:00", "has no time zone"),
        (DATED + "hard_deadline = 2026-11-30T23:58:00Z", "hard_deadline must not come before deadline"),
        (DATED + "[assignments.sums.extensions]\nadda = 1", "unknown student 'adda'; did you mean 'ada'?"),
        (DATED + "[assignments.sums.extensions]\nada = -1", "extension of ada: expected a time or a number of days"),
        (DATED + "[assignments.sums.extensions]\nada = 2026-11-29T00:00:00Z", "must not end before the deadline"),
        # in the file with extensions alone
        (
            (WITH_ADAS, "[sums]\nada = 1"),
            "[sums]: ada has two extensions, here or in late_policy.toml: keep one",
        ),
        ((WITH_ADAS, "[sms]\nbob = 1"), "unknown assignment 'sms'; did you mean 'sums'?"),
        ((WITH_ADAS, "[sums]\nbobb = 1"), "unknown student 'bobb'; did you mean 'bob'?"),
        (
            (WITH_ADAS, "[sums]\nbob = -1"),
            "[sums]: extension of bob: expected a time or a number of days",
        ),
        (
            (WITH_ADAS, "[sums]\nbob = 2026-11-29T00:00:00Z"),
            "[sums]: extension of bob: must not end before",
        ),
        ((WITH_ADAS, "[loops]\nbob = 1"), "[loops]: late_policy.toml has no deadline for 'loops'"),
        ((WITH_ADAS, "sums = 1"), "expected [sums] to be a table, got 1"),
        ((WITH_ADAS, "[sums"), "extensions.toml is not TOML"),
    ],
)
def test_a_mistake_in_a_file_is_said_in_one_line(read, text, said):
    policy, private = (text, None) if isinstance(text, str) else text
    with pytest.raises(GradingError) as caught:
        read(policy, private=private)
    message = str(caught.value)
    assert message.startswith("late_policy.toml" if private is None else "extensions.toml")
    assert said in message
    assert "\n" not in message


def test_extensions_may_lie_in_a_file_of_their_own(read):
    found = read(WITH_ADAS, private="[sums]\nbob = 2026-12-02T12:00:00Z\n").assignments["sums"].extensions
    assert found == {"ada": timedelta(days=1), "bob": datetime(2026, 12, 2, 12, tzinfo=UTC)}
    zoned = read('timezone = "Asia/Tokyo"\n' + DATED, private="[sums]\nbob = 2026-12-02T12:00:00\n")
    assert zoned.assignments["sums"].extensions["bob"].utcoffset() == timedelta(hours=9)


def test_extensions_without_a_policy_are_an_error_and_an_empty_file_is_none(tmp_path):
    (tmp_path / "extensions.toml").write_text("[sums]\n")
    assert read_policy(tmp_path, ASSIGNMENTS, STUDENTS) is None
    (tmp_path / "extensions.toml").write_text("[sums]\nada = 1\n")
    with pytest.raises(GradingError, match=r"extends deadlines of late_policy\.toml, which is not there"):
        read_policy(tmp_path, ASSIGNMENTS, STUDENTS)


def test_a_deadline_with_an_offset_keeps_its_hour_where_the_course_has_a_zone(read):
    text = 'timezone = "Europe/Berlin"\n[assignments.sums]\ndeadline = 2027-03-27T22:59:00Z\n'
    deadline = read(text).assignments["sums"].deadline
    assert (deadline + timedelta(days=1)).astimezone(UTC) == datetime(2027, 3, 28, 21, 59, tzinfo=UTC)


@pytest.mark.parametrize("codec", ["utf-8-sig", "utf-16"])
def test_toml_of_windows_editors_is_read(tmp_path, codec):
    (tmp_path / "late_policy.toml").write_bytes((DATED + "# für alle\n").encode(codec))
    (tmp_path / "extensions.toml").write_bytes("[sums]\nada = 1\n".encode(codec))
    policy = read_policy(tmp_path, ASSIGNMENTS, STUDENTS)
    assert policy is not None and policy.assignments["sums"].extensions == {"ada": timedelta(days=1)}


def test_toml_in_another_encoding_is_said_with_its_line(tmp_path):
    (tmp_path / "late_policy.toml").write_bytes((DATED + "# für alle\n").encode("cp1252"))
    with pytest.raises(GradingError, match="line 3 is not in UTF-8: save the file as UTF-8"):
        read_policy(tmp_path, ASSIGNMENTS, STUDENTS)

"""``late_policy.toml``: what it says, and that a typo in it is an error in one line."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from autograder.errors import GradingError
from autograder.gradebook.late.file import read_policy

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
    def read(text: str, assignments=ASSIGNMENTS, students=STUDENTS):
        (tmp_path / "late_policy.toml").write_text(text, encoding="utf-8")
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
    ],
)
def test_a_mistake_in_the_file_is_said_in_one_line(read, text, said):
    with pytest.raises(GradingError) as caught:
        read(text)
    message = str(caught.value)
    assert message.startswith("late_policy.toml")
    assert said in message
    assert "\n" not in message


def extended(root, private: str, policy: str = DATED):
    (root / "late_policy.toml").write_text(policy)
    (root / "extensions.toml").write_text(private)
    return read_policy(root, ASSIGNMENTS, STUDENTS)


def test_extensions_may_lie_in_a_file_of_their_own(tmp_path):
    policy = DATED + "[assignments.sums.extensions]\nada = 1\n"
    found = extended(tmp_path, "[sums]\nbob = 2026-12-02T12:00:00Z\n", policy).assignments["sums"].extensions
    assert found == {"ada": timedelta(days=1), "bob": datetime(2026, 12, 2, 12, tzinfo=UTC)}
    zoned = extended(tmp_path, "[sums]\nbob = 2026-12-02T12:00:00\n", 'timezone = "Asia/Tokyo"\n' + DATED)
    assert zoned.assignments["sums"].extensions["bob"].utcoffset() == timedelta(hours=9)


@pytest.mark.parametrize(
    ("private", "said"),
    [
        ("[sums]\nada = 1", "extensions.toml: [sums]: ada has an extension in late_policy.toml, too: keep one"),
        ("[sms]\nbob = 1", "extensions.toml: unknown assignment 'sms'; did you mean 'sums'?"),
        ("[sums]\nbobb = 1", "extensions.toml: unknown student 'bobb'; did you mean 'bob'?"),
        ("[sums]\nbob = -1", "extensions.toml: [sums]: extension of bob: expected a time or a number of days"),
        ("[sums]\nbob = 2026-11-29T00:00:00Z", "extensions.toml: [sums]: extension of bob: must not end before"),
        ("[loops]\nbob = 1", "extensions.toml: [loops]: late_policy.toml has no deadline for 'loops'"),
        ("sums = 1", "extensions.toml: expected [sums] to be a table, got 1"),
        ("[sums", "extensions.toml is not TOML"),
    ],
)
def test_a_mistake_in_the_private_file_is_said_in_one_line(tmp_path, private, said):
    with pytest.raises(GradingError) as caught:
        extended(tmp_path, private, DATED + "[assignments.sums.extensions]\nada = 1\n")
    assert str(caught.value).startswith(said) and "\n" not in str(caught.value)


def test_extensions_without_a_policy_are_an_error_and_an_empty_file_is_none(tmp_path):
    (tmp_path / "extensions.toml").write_text("[sums]\n")
    assert read_policy(tmp_path, ASSIGNMENTS, STUDENTS) is None
    (tmp_path / "extensions.toml").write_text("[sums]\nada = 1\n")
    with pytest.raises(GradingError, match=r"extends deadlines of late_policy\.toml, which is not there"):
        read_policy(tmp_path, ASSIGNMENTS, STUDENTS)


def test_d5_a_deadline_with_an_offset_keeps_its_hour_where_the_course_has_a_zone(read):
    text = 'timezone = "Europe/Berlin"\n[assignments.sums]\ndeadline = 2027-03-27T22:59:00Z\n'
    deadline = read(text).assignments["sums"].deadline
    assert (deadline + timedelta(days=1)).astimezone(UTC) == datetime(2027, 3, 28, 21, 59, tzinfo=UTC)


@pytest.mark.parametrize("codec", ["utf-8-sig", "utf-16"])
def test_d9_toml_of_windows_editors_is_read(tmp_path, codec):
    (tmp_path / "late_policy.toml").write_bytes((DATED + "# für alle\n").encode(codec))
    (tmp_path / "extensions.toml").write_bytes("[sums]\nada = 1\n".encode(codec))
    policy = read_policy(tmp_path, ASSIGNMENTS, STUDENTS)
    assert policy is not None and policy.assignments["sums"].extensions == {"ada": timedelta(days=1)}


def test_d9_toml_in_another_encoding_is_said_with_its_line(tmp_path):
    (tmp_path / "late_policy.toml").write_bytes((DATED + "# für alle\n").encode("cp1252"))
    with pytest.raises(GradingError, match="line 3 is not in UTF-8: save the file as UTF-8"):
        read_policy(tmp_path, ASSIGNMENTS, STUDENTS)

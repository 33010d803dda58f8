"""``docs/exports.md`` does what it says."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from autograder import cli
from autograder.gradebook.late.file import read_policy
from tests.exports.conftest import cells
from tests.feedback.toy import hand_in

GUIDE = (Path(__file__).resolve().parents[2] / "docs" / "exports.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", GUIDE, re.DOTALL | re.MULTILINE)


def test_every_command_writes_the_file_that_the_guide_names(course, monkeypatch):
    monkeypatch.chdir(course.root)
    hand_in(course, "ada", cells=cells(3.0, 2.0))
    lines = [line.replace("distilbert", "toy") for block in blocks("sh") for line in block.splitlines()]
    assert len(lines) == 8
    for line in lines:
        command, _, said = line.partition("#")
        assert cli.main(shlex.split(command)[1:]) == 0
        assert Path(said.split(":")[0].strip()).is_file(), line


def test_the_late_policy_of_the_guide_is_one(tmp_path):
    text, private = blocks("toml")
    (tmp_path / "extensions.toml").write_text(private, encoding="utf-8")
    (tmp_path / "late_policy.toml").write_text(text, encoding="utf-8")
    policy = read_policy(tmp_path, {"distilbert"}, {"ada", "grace"})
    rules = policy.assignments["distilbert"]
    assert (policy.free_days, rules.per_day_share, rules.afterwards) == (3, 0.1, "refused")
    assert set(rules.extensions) == {"ada", "grace"}

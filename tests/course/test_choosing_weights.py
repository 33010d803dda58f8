"""Which checkpoint ``REAL_WEIGHTS`` chooses: the published one or ``mini``."""

from pathlib import Path

import pytest

from course import hub, pretrained
from course.errors import CheckpointError, DownloadError


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is asked of a hub that answers and has the file; nothing is on this computer, and nobody grades."""
    calls: list[str] = []
    monkeypatch.delenv("COURSE_WEIGHTS", raising=False)
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    monkeypatch.setattr(hub, "cached", lambda file: None)
    monkeypatch.setattr(hub, "answers", lambda file: calls.append("answers") or True)
    monkeypatch.setattr(hub, "fetch", lambda file: calls.append("fetch") or Path("model.safetensors"))
    return calls


@pytest.mark.parametrize(
    ("switch", "chosen", "calls"),
    [("auto", "distilbert", ["answers", "fetch"]), ("yes", "distilbert", ["fetch"]), ("no", "mini", [])],
)
def test_the_switch_chooses_the_checkpoint(switch: str, chosen: str, calls: list[str], asked: list[str]) -> None:
    assert pretrained.choose(switch) == chosen
    assert asked == calls


@pytest.mark.parametrize("switch", pretrained.SWITCHES)
def test_where_a_notebook_is_graded_the_switch_changes_nothing(
    switch: str, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    monkeypatch.setattr(hub, "cached", lambda file: Path("model.safetensors"))
    assert pretrained.choose(switch) == "mini"
    assert asked == []


def test_a_hub_that_does_not_answer_is_not_waited_for(
    asked: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(hub, "answers", lambda file: False)
    assert pretrained.choose() == "mini"
    assert asked == []
    assert capsys.readouterr().out.startswith("mini: the published weights are not on this computer")


def test_a_download_that_breaks_off_leaves_mini_and_says_why(
    asked: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(file: hub.HubFile) -> Path:
        raise DownloadError("The hub cannot be reached.")

    monkeypatch.setattr(hub, "fetch", broken)
    assert pretrained.choose("yes") == "mini"
    assert capsys.readouterr().out == "mini: The hub cannot be reached.\n"


def test_weights_on_this_computer_need_no_hub(asked: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "cached", lambda file: Path("model.safetensors"))
    assert pretrained.choose() == "distilbert"
    assert asked == []


def test_another_switch_is_named(asked: list[str]) -> None:
    with pytest.raises(CheckpointError) as error:
        pretrained.choose("maybe")
    assert "'maybe'" in str(error.value) and "auto, yes, no" in str(error.value)

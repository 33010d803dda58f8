"""The command line itself: commands are found, options mean the same everywhere, mistakes are one or two lines."""

import functools
import logging
import os
import shlex
import subprocess
import sys
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from autograder import cli, commands
from autograder.commands import _output
from autograder.errors import GradingError

NAMES = cli.command_names()
#: The least that each command takes.
LEAST = {
    "accept": ["a", "b", "c"],
    "bundle": ["gradescope", "a"],
    "ci": ["a", "b"],
    "convert": ["otter", "a"],
    "explain": ["a", "b", "c"],
    "export": ["a", "--to", "csv"],
    "waive": ["a", "b", "--full"],
    "publish": ["folder"],
    "student": ["erase", "a"],
    "term": ["archive"],
}
WITHOUT_ARGUMENTS = {"adopt", "doctor", "references", "release", "status"}


def least(name: str) -> list[str]:
    return [name, *LEAST.get(name, [] if name in WITHOUT_ARGUMENTS else ["a"])]


def parsed(monkeypatch: pytest.MonkeyPatch, name: str, argv: list[str], code: int = 0) -> dict[str, Any]:
    """The arguments of the command ``name`` after ``autograder ARGV``, which must end with the exit code."""
    module = import_module(f"autograder.commands.{name.replace('-', '_')}")
    seen: dict[str, Any] = {}

    @functools.wraps(module.run)
    def record(**given: Any) -> int:
        seen.update(given)
        return 0

    with monkeypatch.context() as patched:
        patched.setattr(module, "run", record)
        assert cli.main(argv) == code
    return seen


def failing(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    """Let ``autograder status`` raise the error."""
    module = import_module("autograder.commands.status")

    @functools.wraps(module.run)
    def fail(**given):
        raise error

    monkeypatch.setattr(module, "run", fail)


def test_a_module_in_the_folder_of_commands_is_a_command(tmp_path, monkeypatch, capsys):
    text = """
import typer

EXAMPLE = "autograder hello"


def run(context: typer.Context) -> int:
    "Greet."
    return 1
"""
    (tmp_path / "hello.py").write_text(text)
    (tmp_path / "_helper.py").write_text("raise RuntimeError")
    monkeypatch.setattr(commands, "__path__", [*commands.__path__, str(tmp_path)])
    try:
        assert "hello" in cli.command_names() and "_helper" not in cli.command_names()
        assert cli.main(["hello"]) == 1
        assert cli.main(["hello", "--help"]) == 0
        assert "Greet." in capsys.readouterr().out
    finally:
        sys.modules.pop("autograder.commands.hello", None)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_help_of_a_command_has_an_example_that_can_be_typed(name, monkeypatch, capsys):
    assert cli.main([name, "--help"]) == 0
    example = import_module(f"autograder.commands.{name.replace('-', '_')}").EXAMPLE
    assert " ".join(f"Example: {example}".split()) in " ".join(capsys.readouterr().out.split())
    words = shlex.split(example)
    assert words[:2] == ["autograder", name]
    assert parsed(monkeypatch, name, words[1:])


def test_the_help_names_every_command(capsys):
    assert cli.main(["--help"]) == 0
    told = [line.split()[0] for line in capsys.readouterr().out.splitlines() if line.startswith("  ")]
    assert set(NAMES) <= set(told)


def test_the_help_has_each_command_once_in_the_panel_where_it_is_needed(capsys):
    assert cli.main(["--help"]) == 0
    said = capsys.readouterr().out
    grouped = [name for names in cli.PANELS.values() for name in names]
    assert sorted(grouped) == sorted(NAMES)
    places = [said.index(f"\n{title}:\n") for title in cli.PANELS]
    assert places == sorted(places)
    assert said.index("\n  grade ") < places[1] < said.index("\n  explain ") < places[2] < said.index("\n  term ")


def test_the_version_is_the_distributions(capsys):
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out == f"autograder {version('transformer-course-autograder')}\n"


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("option", ["--course-dir", "--course"])
def test_the_courses_folder_may_stand_before_and_after_the_command(name, option, monkeypatch):
    for argv in ([option, "here", *least(name)], [*least(name), option, "here"]):
        assert parsed(monkeypatch, name, argv)["context"].obj.course_dir == Path("here")


def test_the_courses_folder_behind_the_command_counts_where_there_are_two(monkeypatch):
    words = ["--course-dir", "one", "status", "--course-dir", "two"]
    assert parsed(monkeypatch, "status", words)["context"].obj.course_dir == Path("two")


def test_the_old_name_of_the_courses_folder_is_not_shown(capsys):
    cli.main(["grade", "--help"])
    said = capsys.readouterr().out
    assert "--course-dir" in said and "--course " not in said


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], "Missing command."),
        (["grade"], "Missing argument 'ASSIGNMENT'."),
        (["grdae", "a"], "No such command 'grdae'"),
        (["grade", "a", "--wrokers", "2"], "No such option: --wrokers"),
        (["grade", "a", "--workers", "many"], "'--workers'"),
        (["export", "a"], "Missing option '--to'"),
        (["export", "a", "--to", "pdf"], "'pdf' is not one of"),
        (["bundle", "moodle", "a"], "'moodle' is not one of"),
        (["status", "--course-dir"], "'--course-dir' requires an argument"),
    ],
)
def test_a_mistyped_command_ends_with_2_and_two_lines(words, expected, capsys):
    assert cli.main(words) == 2
    said = capsys.readouterr()
    assert said.out == ""
    first, second = said.err.splitlines()
    assert first.startswith("autograder: ") and expected in first
    assert second.startswith("Try 'autograder") and second.endswith("--help'.")


def test_release_in_an_empty_folder_ends_with_2_and_one_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["release"]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_an_assignment_is_named_without_the_slash_of_its_folder(monkeypatch):
    assert parsed(monkeypatch, "report", ["report", "one/"])["assignment"] == "one"
    assert parsed(monkeypatch, "release", ["release", "one/", "two"])["assignment"] == ["one", "two"]


def test_what_the_user_can_mend_is_one_line(monkeypatch, capsys):
    failing(monkeypatch, GradingError("no such\nthing"))
    assert cli.main(["status"]) == 2
    assert capsys.readouterr().err == "autograder: no such\\nthing\n"


def test_an_unexpected_error_is_one_line_and_with_debug_a_traceback(monkeypatch, capsys):
    failing(monkeypatch, KeyError("lost"))
    assert cli.main(["status"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "KeyError: 'lost'" in line and "--debug" in line
    assert cli.main(["status", "--debug"]) == 2
    said = capsys.readouterr().err
    assert "Traceback" in said and "KeyError: 'lost'" in said.splitlines()[-1]


def test_a_stopped_command_says_how_it_goes_on(monkeypatch, capsys):
    failing(monkeypatch, KeyboardInterrupt())
    assert cli.main(["status"]) == 130
    assert capsys.readouterr().err == "autograder: stopped; the same command begins anew\n"
    assert cli._stopped(["grade", "toy"]) == 130
    assert capsys.readouterr().err == "autograder: stopped; the same command goes on where this one stopped\n"


@pytest.mark.parametrize(
    ("words", "level"), [([], logging.WARNING), (["-v"], logging.INFO), (["--verbose"], logging.INFO),
                         (["--debug"], logging.DEBUG)]
)  # fmt: skip
def test_the_log_says_as_much_as_is_asked_for(words, level, monkeypatch):
    for argv in ([*words, "status"], ["status", *words]):
        parsed(monkeypatch, "status", argv)
        assert logging.getLogger("autograder").getEffectiveLevel() == level


def test_help_imports_nothing_that_takes_long():
    heavy = ("numpy", "nbgrader", "nbformat", "sqlalchemy", "matplotlib", "torch", "rich.markdown", "zmq")
    code = "import sys; from autograder import cli; cli.main(sys.argv[1:]); print(sorted(sys.modules))"
    for words in (["--help"], ["--version"], ["grade", "--help"]):
        said = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=True).stdout
        assert [name for name in heavy if f"'{name}'" in said] == [], words


@pytest.mark.slow
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_shell_completes_commands_and_assignments(shell, tmp_path):
    (tmp_path / "source" / "distilbert").mkdir(parents=True)

    def complete(line: str) -> str:
        environment = {**os.environ, "_AUTOGRADER_COMPLETE": f"complete_{shell}", "COMP_WORDS": line,
                       "COMP_CWORD": str(line.count(" ")), "_TYPER_COMPLETE_ARGS": line,
                       "_TYPER_COMPLETE_FISH_ACTION": "get-args"}  # fmt: skip
        command = [sys.executable, "-m", "autograder.cli"]
        return subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True).stdout

    assert "release" in complete("autograder rel")
    assert "distilbert" in complete("autograder grade dis")


def test_long_work_says_how_far_it_is_where_there_is_no_terminal(monkeypatch, capsys):
    monkeypatch.setattr(_output, "SAY_EVERY", 0.0)
    for quiet, as_json in ((False, False), (False, True), (True, False)):
        output = _output.Output(SimpleNamespace(obj=SimpleNamespace(quiet=quiet)), as_json=as_json)
        with output.progress("graded") as told:
            told(1, 3)
            told(2, 3, "ada: no")
        said = capsys.readouterr()
        assert (said.err if as_json else said.out) == ("" if quiet else "graded: 1 of 3\ngraded: 2 of 3  ada: no\n")

"""``autograder doctor``: what this machine can do, and what to install where it cannot."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import typer

from autograder.commands._options import AsJson
from autograder.commands._output import Output

EXAMPLE = "autograder doctor"
OPTIONAL = {
    "distributed": "grading with --scheduler: pip install dask distributed",
    "psycopg": "a gradebook in PostgreSQL: pip install 'psycopg[binary]'",
    "bertviz": "attention views in notebooks: pip install --no-deps bertviz mpld3 XStatic-jQuery",
}
#: The first version of git without a known way to have a clone execute something, for each line of versions.
GIT = {39: 4, 40: 2, 41: 1, 42: 2, 43: 4, 44: 1}
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def run(context: typer.Context, as_json: AsJson = False) -> int:
    """Show what this machine can do, and what to install.

    Exit code 1 where students' code cannot be confined here, or where an attempt to escape succeeds.
    """
    from autograder import isolation

    output = Output(context, as_json=as_json)
    output.say("Isolation of students' code")
    capabilities = isolation.capabilities()
    for capability in capabilities:
        _line(output, capability.present, f"{capability.name}: {capability.detail}", capability.advice)
    output.say("This machine")
    machine = list(_machine(context))
    for name, good, detail, advice in machine:
        _line(output, good, f"{name}: {detail}", advice, needed=False)
    output.say("Optional")
    optional = {module: find_spec(module) is not None for module in OPTIONAL}
    for module, present in optional.items():
        _line(output, present, module, OPTIONAL[module], needed=False)
    optional["browser"] = any(map(shutil.which, BROWSERS))
    advice = "install chromium and chromium-driver"
    _line(output, optional["browser"], "a browser for the browser tests", advice, needed=False)
    probes = []
    try:
        isolation.available()
    except isolation.IsolationUnavailable:
        output.problem("Students' code cannot be confined here: see what is missing above.")
    else:
        output.say("Attempts to escape")
        probes = isolation.self_test()
        for probe in probes:
            _line(output, probe.passed, f"{probe.name}: {probe.detail}", "THIS ONE ESCAPED: do not grade here")
    confined = bool(probes) and all(probe.passed for probe in probes)
    output.document(
        {
            "confined": confined,
            "capabilities": {capability.name: capability.present for capability in capabilities},
            "machine": {name: good for name, good, _, _ in machine},
            "optional": optional,
            "stopped": {probe.name: probe.passed for probe in probes},
        }
    )
    return 0 if confined else 1


def _machine(context: typer.Context) -> Iterator[tuple[str, bool, str, str]]:
    """(name, whether all is well, detail, advice) of what protects the grader and the course from other people."""
    from autograder.errors import GradingError
    from autograder.files.atomic import open_to_others
    from autograder.files.temporary import own_folder
    from autograder.model.settings import find_course

    python = sys.version_info[:3]
    advice = "other users can execute code in its worker processes (CVE-2022-42919): update to 3.11.1 or newer"
    yield "Python", python != (3, 11, 0), ".".join(map(str, python)), advice
    if version := _git_version():
        advice = "a student's repository can make this version load more from elsewhere: update to 2.39.4 or newer"
        yield "git", is_safe_git(version), ".".join(map(str, version)), advice
    try:
        yield "temporary folder", True, str(own_folder()), ""
    except GradingError as error:
        yield "temporary folder", False, "unsafe", str(error)
    if noatime := getattr(os, "ST_NOATIME", 0):
        kept = [one for one in (tempfile.gettempdir(), sys.prefix) if not os.statvfs(one).f_flag & noatime]
        advice = "by them code may learn a number of a test in its own kernel (docs/security.md): mount with noatime"
        yield "times of the last access", not kept, f"kept in {' and '.join(kept)}" if kept else "not kept", advice
    try:
        root = find_course(context.obj.course_dir or Path.cwd())
    except GradingError:
        return
    closed = not open_to_others(root)
    advice = f"references, submissions and grades can be read by every user of this machine: chmod o-rwx '{root}'"
    yield "the course's folder", closed, "closed to other users" if closed else f"{root} is open to all", advice


def _git_version() -> tuple[int, ...]:
    """Empty where there is no git."""
    try:
        said = subprocess.run(["git", "--version"], capture_output=True, text=True, check=False).stdout
    except OSError:
        return ()
    found = re.search(r"(\d+)\.(\d+)(?:\.(\d+))?", said)
    return tuple(int(part or 0) for part in found.groups()) if found else ()


def is_safe_git(version: tuple[int, ...]) -> bool:
    """Whether ``GIT_NO_LAZY_FETCH`` is heeded, without which a clone of a student's may load from anywhere."""
    major, minor, patch = version
    return major > 2 or (major == 2 and minor >= 39 and patch >= GIT.get(minor, 0))


def _line(output: Output, good: bool, text: str, advice: str, needed: bool = True) -> None:
    say = output.problem if needed and not good else output.say
    say(f"  {'✓' if good else '✗'} {text}" + ("" if good else f"\n      {advice}"))

"""``autograder doctor``: what this machine can do, and what to install where it cannot."""

from __future__ import annotations

import shutil
from importlib.util import find_spec

import typer

from autograder.commands._options import AsJson
from autograder.commands._output import Output

EXAMPLE = "autograder doctor"
OPTIONAL = {
    "distributed": "grading with --scheduler: pip install dask distributed",
    "psycopg": "a gradebook in PostgreSQL: pip install 'psycopg[binary]'",
    "bertviz": "attention views in notebooks: pip install bertviz mpld3 XStatic-jQuery",
}
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
            "optional": optional,
            "stopped": {probe.name: probe.passed for probe in probes},
        }
    )
    return 0 if confined else 1


def _line(output: Output, good: bool, text: str, advice: str, needed: bool = True) -> None:
    say = output.problem if needed and not good else output.say
    say(f"  {'✓' if good else '✗'} {text}" + ("" if good else f"\n      {advice}"))

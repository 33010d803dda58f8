#!/usr/bin/env python3
"""Classroom 50 runs this for every submission, in the student's checkout; what it reads afterwards is ./result.json.

Contract: https://github.com/foundation50/classroom50/wiki/Advanced-Autograding ("classroom50/result/v1"). The grader
lies beside this file in bundle.zip. It runs with an environment of its own: no token of this job is in it. A failure of
the grader ends with exit code 1, which Classroom 50 reports as an error, never as a zero.

AUTOGRADER_PYTHON names a Python with the grader installed, to try this elsewhere.
"""

import datetime
import json
import os
import shutil
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
#: All that the grader gets of this job's environment.
PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "RUNNER_TEMP", "PIP_EXTRA_INDEX_URL")
#: Student code is confined with process-id namespaces, which Ubuntu forbids to ordinary users.
ALLOW = ["sudo", "--non-interactive", "sysctl", "--write", "kernel.apparmor_restrict_unprivileged_userns=0"]
GRADE = """
set -euo pipefail
source ./settings.sh
exec "$PYTHON" -m autograder.cli --course-dir . ci "$ASSIGNMENT" "$SUBMISSION" \
  --student "$STUDENT" --out "$RESULTS" "${CI_OPTIONS[@]}"
"""
INSTALL = """
set -euo pipefail
source ./settings.sh
"$PYTHON" -m pip install --quiet "${PIP_OPTIONS[@]}" "${INSTALL[@]}"
"""


def main() -> int:
    environment = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    with tempfile.TemporaryDirectory(prefix="autograder-") as temporary:
        work = Path(temporary)
        course, results = work / "course", work / "results"
        with zipfile.ZipFile(HERE / "bundle.zip") as archive:
            archive.extractall(course)
        python = os.environ.get("AUTOGRADER_PYTHON", "")
        if not python:
            venv.create(work / "venv", with_pip=True)
            python = str(work / "venv" / "bin" / "python")
            bash(INSTALL, course, {**environment, "PYTHON": python})
            if os.environ.get("GITHUB_ACTIONS") and shutil.which("sudo"):
                subprocess.run(ALLOW, check=False)
        settings = {"SUBMISSION": os.getcwd(), "STUDENT": os.environ.get("USERNAME") or "student",
                    "RESULTS": str(results), "PYTHON": python}  # fmt: skip
        code = bash(GRADE, course, {**environment, **settings})
        found = json.loads((results / "results.json").read_text()) if (results / "results.json").is_file() else {}
        if code or "tests" not in found:
            print(f"::error::not graded: {found.get('output', 'the grader stopped')}", file=sys.stderr)
            return 1
        if (results / "summary.md").is_file():
            put("release-body.md", (results / "summary.md").read_text())
    put("result.json", json.dumps(result(found["tests"]), indent=2) + "\n")
    return 0


def bash(script: str, folder: Path, environment: dict) -> int:
    return subprocess.run(["bash", "-c", script], cwd=folder, env=environment, check=False).returncode


def put(name: str, text: str) -> None:
    """A new file: a link of this name that the student committed is replaced, not followed."""
    Path(name).unlink(missing_ok=True)
    Path(name).write_text(text, encoding="utf-8")


def result(tests: list) -> dict:
    """Only what students may see already. Points are whole numbers there; else all count a hundredfold."""
    shown = [test for test in tests if test.get("visibility") == "visible"]
    points = [test.get(key, 0) for test in shown for key in ("score", "max_score")]
    times = 1 if all(float(value).is_integer() for value in points) else 100
    rows = [
        {
            "test-name": test["name"],
            "passed": test.get("status") == "passed",
            "score": round(test.get("score", 0) * times),
            "max-score": round(test.get("max_score", 0) * times),
        }
        for test in shown
    ]
    commit = os.environ.get("COMMIT_URL", "")
    return {
        "schema": "classroom50/result/v1",
        "classroom": os.environ.get("CLASSROOM", ""),
        "assignment": os.environ.get("ASSIGNMENT", ""),
        "assignment_type": os.environ.get("ASSIGNMENT_TYPE") or "individual",
        "owner": os.environ.get("OWNER") or os.environ.get("USERNAME", ""),
        "submission": os.environ.get("SUBMISSION_TAG", ""),
        "commit": commit,
        "release": os.environ.get("RELEASE_URL", ""),
        "review": os.environ.get("REVIEW_URL") or commit,
        "datetime": committed(),
        "score": round(sum(row["score"] for row in rows), 9),
        "max-score": round(sum(row["max-score"] for row in rows), 9),
        "tests": rows,
    }


def committed() -> str:
    """When the graded commit was made, in UTC; now, where git does not say."""
    command = ["git", "-c", "core.fsmonitor=false", "-c", "safe.directory=*", "log", "-1", "--format=%ct"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    when = datetime.datetime.now(datetime.UTC)
    if done.returncode == 0 and done.stdout.strip().isdigit():
        when = datetime.datetime.fromtimestamp(int(done.stdout), datetime.UTC)
    return when.strftime("%Y-%m-%dT%H:%M:%SZ")


if __name__ == "__main__":
    sys.exit(main())

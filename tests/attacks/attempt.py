"""Turning an attack into a submission, in a course folder where everything worth attacking lies about."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from tests.attacks.attack import Attack, Notebook
from tests.grading import REFERENCES

NOTEBOOK = "1_embedding"
ANSWER = "embeddings_answer"


def submission(attack: Attack, released: bytes, course: Path, port: int) -> bytes:
    """The released notebook with the attack in it."""
    notebook: Notebook = json.loads(released)
    code = f"{attack.code}\n{attack.answer}"
    for name, value in {"course": course, "references": REFERENCES.folder, "port": port}.items():
        code = code.replace("{" + name + "}", str(value))
    for cell in notebook["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == ANSWER:
            cell["source"] = code
    if attack.late:
        notebook["cells"].append({"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None,
                                  "id": "late", "source": attack.late})  # fmt: skip
    if attack.damage is not None:
        attack.damage(notebook)
    return json.dumps(notebook).encode("utf-8", "surrogatepass")


def fingerprint(*folders: Path) -> dict[str, tuple[int, ...]]:
    """path -> what changes with everything that is written there: no process can set a file's ctime."""
    return {str(path): (state.st_ino, state.st_mode, state.st_size, state.st_mtime_ns, state.st_ctime_ns)
            for folder in folders for path in sorted(folder.rglob("*"))
            if path.is_file() and "__pycache__" not in path.parts for state in [path.stat()]}  # fmt: skip


@contextmanager
def nothing_left_running() -> Iterator[None]:
    """Fails where a process that was started inside is still there afterwards."""
    before = set(psutil.pids())
    yield
    fresh = [process for process in psutil.process_iter(["cmdline"]) if process.pid not in before]
    # a kernel is killed at the end of its notebook, and waited for in the background
    _, left = psutil.wait_procs([one for one in fresh if "98765" in " ".join(one.info["cmdline"] or [])], timeout=3)
    assert not left, f"still running: {left}"


def expected_numbers(slug: str) -> set[str]:
    """The expected values as somebody would print them: to six digits, those that are no round numbers."""
    arrays = [array for case in REFERENCES.cases(slug) for array in case.expected.values() if array.dtype.kind == "f"]
    printed = {f"{value:.6f}" for array in arrays for value in array.ravel().tolist()}
    return {number for number in printed if len(number.rstrip("0")) > 6}

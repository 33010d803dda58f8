"""One attack: its texts, what it does to a submission's file, and what it stands before."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from tests.grading import REFERENCES

Notebook = dict
WRONG_ANSWER = """
class Embeddings(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.word_embeddings = nn.Embedding(config.vocab_size, config.dim, padding_idx=config.pad_token_id)
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, config.dim)
        self.LayerNorm = nn.LayerNorm(config.dim, eps=config.eps)

    def forward(self, input_ids):
        return self.LayerNorm(self.word_embeddings(input_ids))
"""


@dataclass(frozen=True)
class Attack:
    """``code`` runs before the wrong answer, in the answer's cell; ``answer`` replaces it; ``late`` runs in a cell
    behind the test; ``damage`` is done to the file; ``files`` lie beside it. ``dangerous``: not against stock nbgrader.
    """

    id: str
    tries: str
    code: str = ""
    answer: str = WRONG_ANSWER
    late: str = ""
    damage: Callable[[Notebook], None] | None = None
    files: dict[str, str] = field(default_factory=dict)
    dangerous: bool = False


def graded(notebook: Notebook) -> list[Notebook]:
    return [cell for cell in notebook["cells"] if cell["metadata"].get("nbgrader", {}).get("grade")]


def skip_tags(notebook: Notebook) -> None:
    for cell in graded(notebook):
        cell["metadata"]["tags"] = ["skip-execution"]


def own_graded_cell(notebook: Notebook) -> None:
    marks = {"grade": True, "grade_id": "bonus", "points": 100, "solution": False, "locked": True, "schema_version": 3,
             "task": False}  # fmt: skip
    notebook["cells"].append({"cell_type": "code", "metadata": {"nbgrader": marks}, "source": "100", "outputs": [],
                              "execution_count": None, "id": "bonus"})  # fmt: skip


def more_points(notebook: Notebook) -> None:
    for cell in graded(notebook):
        cell["metadata"]["nbgrader"]["points"] = 100


def other_kernel(notebook: Notebook) -> None:
    notebook["metadata"]["kernelspec"] = {"name": "../../evil", "display_name": "evil", "language": "bash"}


def test_without_assertions(notebook: Notebook) -> None:
    for cell in graded(notebook):
        cell["source"] = "3.0"


def outputs_sent_along(notebook: Notebook) -> None:
    for cell in graded(notebook):
        cell["outputs"] = [
            {"output_type": "execute_result", "data": {"text/plain": "3.0"}, "metadata": {}, "execution_count": 1}
        ]


def first_of_all(notebook: Notebook) -> None:
    notebook["cells"].insert(0, {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None,
                                 "id": "zero", "source": "import builtins\nreal = builtins.__import__\n"
                                 "def fake(name, *rest):\n"
                                 "    module = real(name, *rest)\n"
                                 "    if name == 'autograder': module.reference = lambda slug: []\n"
                                 "    return module\n"
                                 "builtins.__import__ = fake"})  # fmt: skip


def no_list_of_text(notebook: Notebook) -> None:
    notebook["cells"] += [{"cell_type": 3, "source": [1, None, {}], "metadata": []}, None, 7, "cell"]  # type: ignore[list-item]


def deep_json(notebook: Notebook) -> None:
    nested: list = []
    for _ in range(900):
        nested = [nested]
    notebook["metadata"]["deep"] = nested


def many_cells(notebook: Notebook) -> None:
    notebook["cells"] += [{"cell_type": "code", "metadata": {}, "source": f"x = {n}", "outputs": [],
                           "execution_count": None}
                          for n in range(20000)]  # fmt: skip


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

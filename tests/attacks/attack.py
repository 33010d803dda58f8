"""One attack: its texts, what it does to a submission's file, and what it stands before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

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

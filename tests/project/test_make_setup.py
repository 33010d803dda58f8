"""``make setup`` takes PyTorch's CPU build where nobody chose another, and works where its index does not answer."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.grading import ROOT

#: In place of Python: makes an "environment" whose pip notes what it was asked for, and whose Python asks no index.
PYTHON = """#!/bin/sh
mkdir -p "$3/bin"
printf '#!/bin/sh\\necho "$@" >> "{log}"\\n' > "$3/bin/pip"
printf '#!/bin/sh\\necho asked >> "{log}"\\nexit {answer}\\n' > "$3/bin/python"
chmod +x "$3/bin/pip" "$3/bin/python"
"""


def setup(folder: Path, answer: int, gpu: bool = False, **variables: str) -> list[str]:
    """What pip was asked for, and "asked" where the index was."""
    log, python, programs = folder / "log", folder / "python", folder / "programs"
    programs.mkdir()
    written = {python: PYTHON.format(log=log, answer=answer)} | (
        {programs / "nvidia-smi": "#!/bin/sh\n"} if gpu else {}
    )
    for path, text in written.items():
        path.write_text(text)
        path.chmod(0o755)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "MAKE"))}
    environment |= {"PATH": f"{programs}:{os.environ['PATH']}", **variables}
    make = ["make", "--silent", "setup", f"PYTHON={python}", f"VENV={folder / 'venv'}"]
    subprocess.run(make, cwd=ROOT, env=environment, check=True, capture_output=True, timeout=60)
    return log.read_text().splitlines()


@pytest.mark.parametrize(
    ("answer", "gpu", "variables", "index"),
    [
        (0, False, {}, True),
        (1, False, {}, False),
        (0, True, {}, False),
        (0, False, {"PIP_INDEX_URL": "https://index.example.org/simple"}, False),
        (0, False, {"PIP_EXTRA_INDEX_URL": "https://index.example.org/cpu"}, False),
    ],
    ids=["the index answers", "it does not", "a GPU", "an index of one's own", "one more"],
)
def test_the_cpu_build_is_taken_where_its_index_answers_and_nobody_chose_another(
    tmp_path: Path, answer: int, gpu: bool, variables: dict[str, str], index: bool
) -> None:
    if not gpu and shutil.which("nvidia-smi"):
        pytest.skip("this machine has a GPU")
    asked = setup(tmp_path, answer, gpu, **variables)
    (torch,) = [line for line in asked if line.endswith(" torch")]
    assert ("--extra-index-url https://download.pytorch.org/whl/cpu" in torch) is index
    assert ("asked" in asked) is not (gpu or bool(variables))
    assert any("--editable ./autograder[" in line for line in asked), "everything else is installed in any case"

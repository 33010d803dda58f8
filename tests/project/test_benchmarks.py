"""What the benchmarks measure with: a command that says much, and one that fails."""

from pathlib import Path

import pytest

from tools.bench.courses import ASSIGNMENT, ROOT, make_course
from tools.bench.measure import watched


def test_a_command_that_says_more_than_a_pipe_holds_comes_to_its_end(tmp_path: Path) -> None:
    (tmp_path / "noisy.py").write_text("import sys, time; sys.stderr.write('x' * 1_000_000); time.sleep(0.3)\n")
    measured = watched(tmp_path, "noisy")
    assert measured.seconds >= 0.3 and measured.parent_mb > 1


def test_a_command_that_fails_ends_the_benchmark_with_its_last_words(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("raise SystemExit('no such course')\n")
    with pytest.raises(SystemExit, match=r"broken ended with 1:\nno such course"):
        watched(tmp_path, "broken")


@pytest.mark.slow
def test_the_bare_limit_runs_the_notebooks(tmp_path: Path) -> None:
    course = make_course(tmp_path / "course", 2, only="1_embedding")
    assert float(watched(ROOT, "tools.bench.bare", str(course.root), ASSIGNMENT, "2", "2").last_line) > 0

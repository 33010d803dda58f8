"""The one folder for everything temporary: what other users put in its way is passed over, and nothing is followed."""

import ast
import os
import stat
import tempfile
import threading
from pathlib import Path

import pytest

from autograder.errors import GradingError
from autograder.files import temporary
from autograder.files.temporary import TemporaryFolder, own_folder, remove_tree
from tests.grading import ROOT
from tests.tree import modules

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the folder is each user's own on Windows")
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can make what belongs to somebody else")
#: What another user may put where the folder would be.
STRANGER = 54321


@pytest.fixture
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A temporary folder like /tmp."""
    place = tmp_path / "shared"
    place.mkdir()
    place.chmod(0o1777)
    monkeypatch.setattr("tempfile.tempdir", str(place))
    return place


def usual(place: Path) -> Path:
    return place / f"autograder-{os.geteuid()}"


def test_the_folder_is_the_same_each_time_and_closed_to_others(shared: Path) -> None:
    assert own_folder() == own_folder() == usual(shared)
    closed = 0o711 if os.geteuid() == 0 else 0o700
    assert stat.S_IMODE(usual(shared).stat().st_mode) == closed
    usual(shared).chmod(0o755)  # made by hand
    assert own_folder() == usual(shared) and stat.S_IMODE(usual(shared).stat().st_mode) == closed


@pytest.mark.parametrize("kind", ["link", "pipe", "file", "open to all", pytest.param("of a stranger", marks=as_root)])
def test_what_somebody_else_made_is_passed_over_without_waiting(shared: Path, tmp_path: Path, kind: str) -> None:
    treasure = tmp_path / "treasure"
    treasure.mkdir()
    (treasure / "thesis").write_text("years of work")
    name = usual(shared)
    if kind == "link":
        name.symlink_to(treasure)
    elif kind == "pipe":
        os.mkfifo(name)
    elif kind == "file":
        name.write_text("")
    else:
        name.mkdir()
        name.chmod(0o777 if kind == "open to all" else 0o700)
    if kind == "of a stranger":
        os.mkfifo(name / "lock")
        os.chown(name, STRANGER, STRANGER)
    with TemporaryFolder() as folder:
        assert not folder.is_relative_to(name) and not folder.is_relative_to(treasure)
        assert own_folder() == folder.parent  # found again by the next process
    assert (treasure / "thesis").read_text() == "years of work"


@pytest.mark.parametrize("mode", [0o777, 0o775])
@as_root
def test_a_temporary_folder_in_which_others_may_rename_is_refused(shared: Path, mode: int) -> None:
    os.chown(shared, 0, STRANGER)
    inner = shared / "inner"
    inner.mkdir(mode=0o755)
    tempfile.tempdir = str(inner)
    shared.chmod(mode)
    with pytest.raises(GradingError, match=rf"they may write in {shared}: set TMPDIR"):
        own_folder()


def test_a_tree_is_removed_by_descriptor_and_no_link_is_followed(tmp_path: Path) -> None:
    treasure = tmp_path / "treasure"
    (treasure / "inner").mkdir(parents=True)
    root = tmp_path / "root"
    (root / "a" / "b").mkdir(parents=True)
    for link in (root / "link", root / "a" / "link", root / "a" / "b" / "link"):
        link.symlink_to(treasure)
    os.mkfifo(root / "a" / "pipe")
    (root / "a" / "b").chmod(0)
    (root / "a").chmod(0)
    remove_tree(root)
    assert not root.exists() and (treasure / "inner").is_dir()
    root.symlink_to(treasure)
    remove_tree(root)
    assert root.is_symlink() and (treasure / "inner").is_dir()
    root.unlink()
    root.mkdir()
    assert temporary._mode(tmp_path / "nothing") == 0
    remove_tree(tmp_path / "nothing")


def test_a_tree_that_is_deeper_than_any_path_may_be_is_removed(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    inner = os.open(root, os.O_RDONLY)
    for _ in range(1200):  # more than Python's recursion, longer than a path
        os.mkdir("deeper", dir_fd=inner)
        inner, outer = os.open("deeper", os.O_RDONLY, dir_fd=inner), inner
        os.close(outer)
    os.close(inner)
    remove_tree(root)
    assert not root.exists()


def test_a_folder_that_is_in_use_stays_and_one_that_was_left_goes(shared: Path) -> None:
    used, left = TemporaryFolder(), TemporaryFolder()
    assert left._lock is not None
    os.close(left._lock)  # as the system does when a process is killed
    (left.path / "inner").mkdir()
    with TemporaryFolder():
        assert used.path.exists() and not left.path.exists()
    used.remove()
    used.remove()
    assert list(own_folder().iterdir()) == []


def test_a_new_folder_that_another_process_takes_for_one_that_was_left_is_not_used(
    shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other one holds its lock just when ours is to be taken, and removes it then."""
    make, taken, removers = tempfile.mkdtemp, [], []

    def taken_at_once(**where: str) -> str:
        path = make(**where)
        if not taken:
            taken.append(path)
            folder = os.open(path, os.O_RDONLY)
            assert temporary.locked(folder)
            remover = threading.Timer(0.2, lambda: (os.rmdir(path), os.close(folder)))
            remover.start()
            removers.append(remover)
        return path

    monkeypatch.setattr("tempfile.mkdtemp", taken_at_once)
    new = TemporaryFolder()
    removers[0].join()
    assert new.path.exists() and str(new.path) not in taken
    new.remove()


def test_no_module_makes_temporary_files_anywhere_else() -> None:
    """``tempfile`` is asked for something only where the folder is named: one of ours, or the course's."""
    found = []
    for path in modules("autograder"):
        if path.name == "temporary.py" or "bundle_files" in path.parts:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("tempfile."):
                asked = node.func.attr if isinstance(node.func, ast.Attribute) else ""
                if asked != "gettempdir" and not any(keyword.arg == "dir" for keyword in node.keywords):
                    found.append(f"{path.relative_to(ROOT)}:{node.lineno}: {ast.unparse(node)}")
    assert found == []

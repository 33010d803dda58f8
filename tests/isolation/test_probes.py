"""The confinement holds, probe by probe, on this machine."""

import ctypes
import errno
import json
import os
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

from autograder import isolation
from autograder.errors import InfrastructureError
from autograder.isolation import policy, probes, selftest, syscalls, system
from autograder.kernel.fork_server import ForkServerClient
from autograder.kernel.imports import KernelImports
from autograder.kernel.kernels import Kernels
from tests.isolation.conftest import confined

NAMES = [selftest._title(probe) for probe in (*probes.ATTEMPTS, *probes.BOMBS)]


@cache
def results() -> dict[str, isolation.Probe]:
    return {probe.name: probe for probe in isolation.self_test()}


@pytest.mark.parametrize("name", NAMES)
def test_a_confined_process_is_stopped_when_it_tries_to(name: str) -> None:
    probe = results()[name]
    assert probe.passed, probe.detail


def test_the_self_test_runs_every_probe() -> None:
    assert sorted(results()) == sorted(NAMES)


def test_an_attempt_that_ends_the_process_leaves_the_others_theirs() -> None:
    """Most attempts share a process; an escape is told whatever becomes of it."""
    code = """
import os
from autograder.isolation import probes, selftest
def end_it(target): os._exit(3)
def get_out(target): raise probes.Escaped("out")
probes.ATTEMPTS = probes.read_a_secret, end_it, get_out, probes.write_outside
probes.BOMBS.clear()
selftest.run_probes()
"""
    found = [(probe["name"], probe["passed"]) for probe in json.loads(selftest._answers(code))]
    assert found == [("read a secret", True), ("end it", False), ("get out", False), ("write outside", True)]


def test_the_probes_escape_from_a_process_that_is_not_confined(tmp_path: Path) -> None:
    """A probe that passes everywhere would prove nothing."""
    secret = tmp_path / "outside" / "secret"
    secret.parent.mkdir()
    secret.write_text("42")
    with probes.shared_by_number() as shared:
        target = probes.Target(tmp_path, secret, tmp_path, 0, 0, os.getpid(), shared)
        for probe in (
            probes.read_a_secret, probes.list_a_folder_outside, probes.write_outside,
            probes.change_the_mode_of_a_file_outside, probes.reach_out_by_a_symlink, probes.reach_out_by_a_hard_link,
            probes.listen_over_tcp, probes.read_another_process, probes.attach_the_shared_memory_of_another_process,
            probes.make_shared_memory_that_outlives_it, probes.change_the_semaphores_of_another_process,
            probes.read_the_messages_of_another_process, probes.open_the_message_queue_of_another_process,
            probes.pass_on_a_descriptor,
        ):  # fmt: skip
            with pytest.raises(probes.Escaped):
                probe(target)


def test_every_capability_that_is_missing_comes_with_advice() -> None:
    assert all(capability.advice for capability in isolation.capabilities() if not capability.present)


def test_grading_is_refused_where_a_probe_escapes(monkeypatch: pytest.MonkeyPatch) -> None:
    escaped = [isolation.Probe("read a secret", False, "ESCAPED: read /etc/shadow")]
    monkeypatch.setattr(selftest, "self_test", lambda: escaped)
    with pytest.raises(isolation.IsolationUnavailable, match="read a secret: ESCAPED"):
        isolation.require()


def test_isolation_is_refused_where_the_system_has_no_landlock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selftest.landlock, "abi", lambda: 0)
    with pytest.raises(isolation.IsolationUnavailable, match=r"Landlock \(none\)"):
        isolation.available()


def test_the_references_are_never_readable_even_where_the_package_lies_in_the_environment(tmp_path: Path) -> None:
    package = tmp_path / "site-packages" / "autograder"
    (package / "references").mkdir(parents=True)
    (tmp_path / "site-packages" / "torch").mkdir()
    listed: set[str] = set()
    readable = list(policy._without(tmp_path, package, listed))
    assert readable == [str(tmp_path / "site-packages" / "torch")]
    assert listed == {str(tmp_path), str(tmp_path / "site-packages")}


def test_no_readable_folder_holds_the_package_of_the_grader() -> None:
    package = Path(isolation.__file__).resolve().parents[1]
    for path in map(Path, policy.environment().read):
        assert package != path.resolve() and path.resolve() not in package.parents, path


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
@pytest.mark.parametrize("with_namespaces", [True, False])
def test_the_confinement_needs_no_root(tmp_path: Path, with_namespaces: bool) -> None:
    """Under an ordinary uid, with and without process-id namespaces; the system's Python, which that uid can read."""
    python = "/usr/bin/python3"
    if not os.path.exists(python):
        pytest.skip("no system Python")
    package = tmp_path / "autograder"
    for name in ("isolation", "files"):
        shutil.copytree(Path(isolation.__file__).parents[1] / name, package / name)
    shutil.copy(Path(isolation.__file__).parents[1] / "errors.py", package)
    (package / "__init__.py").touch()
    place = tmp_path
    while place != Path("/tmp") and place != place.parent:
        place.chmod(0o755)
        place = place.parent
    deny = "" if with_namespaces else "supervisor.separate_pids = lambda: False; "
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from autograder.isolation import selftest, supervisor; "
        f"{deny}selftest.run_probes()"
    )
    done = subprocess.run(
        ["setpriv", "--reuid=12345", "--regid=12345", "--clear-groups", python, "-I", "-c", code],
        capture_output=True, text=True, timeout=60, check=False, env={"PATH": os.environ["PATH"]},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert '"passed": false' not in done.stdout, done.stdout
    assert done.stdout.count('"passed": true') == len(NAMES)


def test_a_course_inside_the_environments_folder_is_not_graded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``python -m venv .`` in the course's folder makes all of the course readable."""
    stored = tmp_path / "course" / "exercises" / "toy"
    stored.mkdir(parents=True)
    kernels = Kernels(tmp_path, ForkServerClient("nowhere"), KernelImports())
    kernels.require_out_of_reach(stored)
    exposed = policy.Readable((str(tmp_path / "course"),), ())
    monkeypatch.setattr("autograder.kernel.kernels.environment", lambda: exposed)
    with pytest.raises(InfrastructureError, match="move the course out of the Python environment"):
        kernels.require_out_of_reach(stored)


def test_each_filter_alone_stops_what_processes_share_by_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a namespace of its own too, where the numbers are those of everybody."""
    code = (
        "from autograder.isolation import selftest, supervisor; "
        "supervisor.separate_pids = lambda: False; selftest.run_probes()"
    )
    found = json.loads(selftest._answers(code))
    assert [probe for probe in found if not probe["passed"]] == []
    refused = {probe["name"]: probe["detail"] for probe in found}
    for name in ("attach the shared memory of another process", "read the messages of another process"):
        assert refused[name] == "PermissionError: Operation not permitted"


def test_whatever_is_not_on_the_list_of_system_calls_is_refused() -> None:
    """All numbers are really tried, by a confined process, with arguments that make no sense."""
    listed = {numbers[0 if system.MACHINE == "x86_64" else 1] for numbers in syscalls.ALLOWED.values()}
    refused = {
        numbers[0 if system.MACHINE == "x86_64" else 1]: syscalls.ERRORS.get(name, errno.EPERM)
        for name, numbers in syscalls.ANSWERED.items()
    }

    never_filtered = (
        {335, 336} if system.MACHINE == "x86_64" else set()
    )  # uretprobe and uprobe, by Linux's own decision

    def attempt() -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        for number in sorted(set(range(syscalls.LAST_KNOWN + 40)) - listed - never_filtered):
            ctypes.set_errno(0)
            libc.syscall(ctypes.c_long(number), *[ctypes.c_long(-1)] * 6)
            expected = refused.get(number, errno.EPERM if number <= syscalls.LAST_KNOWN else errno.ENOSYS)
            if ctypes.get_errno() != expected:
                os.write(1, f"{number} gives {ctypes.get_errno()}\n".encode())

    ending = confined(attempt)
    assert (ending.status, ending.log) == (0, "")


@pytest.mark.skipif(not shutil.which("gcc"), reason="the numbers stand in the headers of Linux, which gcc finds")
@pytest.mark.parametrize("column, header", [(0, "asm/unistd_64.h"), (1, "asm-generic/unistd.h")])
def test_the_numbers_of_system_calls_are_those_of_linux(column: int, header: str) -> None:
    if column == 0 and system.MACHINE != "x86_64":
        pytest.skip("the headers of this machine are those of another processor")
    words = ("RENAMEAT", "SET_GET_RLIMIT", "NEW_STAT", "MEMFD_SECRET", "SYS_CLONE3")
    wanted = "".join(f"#define __ARCH_WANT_{word}\n" for word in words)
    text = f"#define __BITS_PER_LONG 64\n{wanted}#include <{header}>\n"
    done = subprocess.run(["gcc", "-E", "-dM", "-xc", "-"], input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("no headers of Linux")
    known = dict(re.findall(r"#define __NR(?:3264)?_(\w+) (\w+)", done.stdout))
    for name, numbers in (syscalls.ALLOWED | syscalls.ANSWERED).items():
        value = known.get(name, "")
        if value.isdigit():
            assert numbers[column] == int(value), name

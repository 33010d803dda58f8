"""Does the confinement hold on this machine? Real attempts by really confined processes."""

import contextlib
import errno
import json
import os
import platform
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from autograder.files.temporary import TemporaryFolder, own_folder
from autograder.isolation import landlock, probes, seccomp, system, usage
from autograder.isolation.policy import Policy, environment
from autograder.isolation.supervisor import Confined, channel_pair, supervise

_SELF_TEST_SECONDS = 60.0
_PROJECT = Path(__file__).resolve().parents[2]
_PROBES = "from autograder.isolation.selftest import run_probes; run_probes()"
_LINE = 4  # the descriptor of a confined process's line
_SMALL = Policy((), (), memory_bytes=128 << 20, processes=24, disk_bytes=16 << 20)


@dataclass(frozen=True)
class Probe:
    """One attempt to escape. ``passed`` is True where it was stopped."""

    name: str
    passed: bool
    detail: str


@dataclass(frozen=True)
class Capability:
    """One thing that this machine offers, or lacks. ``advice`` says what to do about a lack."""

    name: str
    present: bool
    detail: str
    advice: str = ""


def capabilities() -> list[Capability]:
    """What this machine offers for confining processes, for a person to read. Starts nothing that lasts."""
    return _capabilities(_separates_pids)


def _separates_pids() -> bool:
    return _answers("from autograder.isolation.confine import separate_pids; print(separate_pids())") == "True"


def _capabilities(separates_pids: Callable[[], bool]) -> list[Capability]:
    linux = Capability("Linux", system.LINUX, f"{platform.system()} {platform.release()}",
                       "grade on Linux (or a container, or WSL 2), or with --no-isolation your own work")  # fmt: skip
    if not system.LINUX:
        return [linux]
    version = landlock.abi()
    pids = separates_pids()
    return [
        linux,
        Capability("processor", system.MACHINE is not None, platform.machine(),
                   "the system-call filter knows x86_64 and aarch64"),
        Capability("Landlock", version >= landlock.LOWEST_ABI, f"version {version}" if version else "none",
                   "Linux 6.2 or newer with landlock among the security modules (add it to `lsm=` on the kernel's "
                   "command line); in a container, a seccomp profile that lets the landlock calls through"),
        Capability("process-id namespaces", pids, "yes" if pids else "no",
                   "not needed where Landlock is of version 6: processes are then ended one by one. To have them, "
                   "allow unprivileged user namespaces (sysctl kernel.apparmor_restrict_unprivileged_userns=0)"),
        Capability("signals stay inside", pids or version >= landlock.SIGNALS_ABI,
                   "by process-id namespace" if pids else f"by Landlock version {version}",
                   "Linux 6.12 or newer, or process-id namespaces"),
    ]  # fmt: skip


def available() -> None:
    """Raise IsolationUnavailable, with what to do, unless this machine has all that the confinement stands on."""
    # a process is started to find out about namespaces, and only where something depends on them
    looked_at = _capabilities(lambda: landlock.abi() < landlock.SIGNALS_ABI and _separates_pids())
    lacks = [f"{lack.name} ({lack.detail}): {lack.advice}" for lack in looked_at if not lack.present
             and lack.name != "process-id namespaces"]  # fmt: skip
    if lacks:
        raise IsolationUnavailable("student code cannot be confined on this machine.\n" + "\n".join(lacks))


def require() -> list[Probe]:
    """Run the self-test; raise IsolationUnavailable where the machine lacks something or a probe escapes."""
    available()
    return verify()


def verify() -> list[Probe]:
    """The self-test alone, for who has asked :func:`available` before.

    Raises IsolationUnavailable; OSError where the disk is too full to try what would fill it.
    """
    if shutil.disk_usage(own_folder(short=True)).free < 4 * _SMALL.disk_bytes:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    results = self_test()
    escaped = [f"{probe.name}: {probe.detail}" for probe in results if not probe.passed]
    if escaped:
        raise IsolationUnavailable("the confinement does not hold on this machine.\n" + "\n".join(escaped))
    return results


def self_test() -> list[Probe]:
    """Try to escape in all known ways from a process confined as kernels are; takes a few seconds.

    Raises IsolationUnavailable where the probes cannot be run at all.
    """
    answer = _answers(_PROBES)
    try:
        return [Probe(**probe) for probe in json.loads(answer)]
    except ValueError:
        raise IsolationUnavailable(f"the self-test of the confinement did not run: {answer[-500:]}") from None


def _answers(code: str) -> str:
    """What a fresh Python prints: forking is safe there, as it has one thread."""
    start = f"import gc, sys; gc.disable(); sys.path.insert(0, {str(_PROJECT)!r}); {code}"
    pipe = subprocess.PIPE
    with system.start([sys.executable, "-I", "-c", start], stdout=pipe, stderr=pipe, text=True) as process:
        try:
            printed, errors = process.communicate(timeout=_SELF_TEST_SECONDS)
        except BaseException:
            process.kill()
            raise
    return str(printed).strip() or str(errors).strip()


def run_probes() -> None:
    """The body of the self-test, in a process of its own: prints a JSON list of probes."""
    seccomp.prepare()
    system.prctl(system.PR_SET_CHILD_SUBREAPER, 1)  # what a supervisor forgot would turn up here
    with TemporaryFolder("s-", short=True) as base, _targets(base) as target:
        results = _attempts(target)
        results += [_bomb(probe, target, stopped) for probe, stopped in probes.BOMBS.items()]
    print(json.dumps([asdict(result) for result in results]))


@contextlib.contextmanager
def _targets(base: Path) -> Iterator[probes.Target]:
    secret, other = base / "outside" / "secret", base / "other"
    secret.parent.mkdir()
    secret.write_text("42")
    other.mkdir()
    (other / "answer").write_text("42")
    victim = os.fork()
    if victim == 0:
        time.sleep(2 * _SELF_TEST_SECONDS)
        os._exit(0)
    with (
        socket.create_server(("127.0.0.1", 0)) as tcp,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp,
        socket.socket(socket.AF_UNIX) as unix,
        probes.shared_by_number() as shared,
    ):
        udp.bind(("127.0.0.1", 0))
        unix.bind(str(other / "socket"))
        unix.listen()
        try:
            yield probes.Target(
                base / "scratch", secret, other, tcp.getsockname()[1], udp.getsockname()[1], victim, shared
            )
        finally:
            os.kill(victim, signal.SIGKILL)
            os.waitpid(victim, 0)


def _attempts(target: probes.Target) -> list[Probe]:
    """One confined process makes all attempts, in order. What it did not come to, each makes in one of its own."""
    ours, theirs = channel_pair()
    with ours:
        _run(_attempt_all, target, theirs)
        told = dict(_told(ours))
    return [told.get(_title(probe)) or _attempt(probe, target) for probe in probes.ATTEMPTS]


def _attempt_all(target: probes.Target) -> str:
    with socket.socket(fileno=_LINE) as line:
        for probe in probes.ATTEMPTS:
            with contextlib.suppress(Exception):  # it is made again, alone
                line.send(json.dumps(asdict(_outcome(probe, target))).encode())
    return ""


def _outcome(probe: Callable[[probes.Target], str], target: probes.Target) -> Probe:
    try:
        return Probe(_title(probe), True, probe(target))
    except probes.Escaped as escape:
        return Probe(_title(probe), False, f"ESCAPED: {escape}")


def _told(line: socket.socket) -> Iterator[tuple[str, Probe]]:
    """What the confined process, which has ended, said of its attempts."""
    while packet := line.recv(1 << 16):
        probe = Probe(**json.loads(packet))
        yield probe.name, probe


def _attempt(probe: Callable[[probes.Target], str], target: probes.Target) -> Probe:
    passed, detail, _ = _run(probe, target)
    return Probe(_title(probe), passed, detail)


def _bomb(probe: Callable[[probes.Target], str], target: probes.Target, stopped: bool) -> Probe:
    """A bomb must be bounded, and everything it started must be gone afterwards."""
    passed, detail, reason = _run(probe, target)
    if stopped or reason:
        passed, detail = bool(reason), reason or detail
    deadline = time.monotonic() + 2
    while left := _left_over():
        if time.monotonic() > deadline:
            return Probe(_title(probe), False, f"{len(left)} processes outlived it")
        time.sleep(0.01)
    return Probe(_title(probe), passed, f"{detail}; nothing left over")


def _left_over() -> list[int]:
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    victims = 1
    return usage.descendants(os.getpid())[victims:]


def _run(
    probe: Callable[[probes.Target], str], target: probes.Target, line: socket.socket | None = None
) -> tuple[bool, str, str]:
    """Whether the probe was stopped, by what, and the supervisor's reason where it had one. ``line``: the probe's."""
    shutil.rmtree(target.scratch, ignore_errors=True)
    target.scratch.mkdir()
    readable = environment()
    policy = replace(_SMALL, read=readable.read, listed=readable.listed, write=(str(target.scratch),))
    ours, theirs = channel_pair()
    if os.fork() == 0:
        supervise(theirs, policy, lambda: _report(probe, target), line)
    theirs.close()
    if line is not None:
        line.close()
    confined = Confined(ours)
    ending = confined.wait(10)
    confined.close()
    if ending is None:
        return False, "did not end", ""
    return ending.exit_code == 0, ending.log.strip() or str(ending), ending.reason


def _report(probe: Callable[[probes.Target], str], target: probes.Target) -> None:
    try:
        print(probe(target), flush=True)
    except probes.Escaped as escape:
        print(f"ESCAPED: {escape}", flush=True)
        os._exit(3)


def _title(probe: Callable[[probes.Target], str]) -> str:
    return probe.__name__.replace("_", " ")


class IsolationUnavailable(RuntimeError):
    """This machine cannot confine a process, or lets one escape. The message says what to do about it."""

"""What a tree of processes holds is counted, wherever it lies; each bound is tried by a really confined process."""

import ctypes
import errno
import mmap
import os
import signal
import socket
import threading
import time
from pathlib import Path

import pytest

from autograder.isolation import supervisor, usage
from autograder.kernel.channels import FLOOD, GraderMemoryGuard
from tests.isolation.conftest import confined

MB = 1 << 20
_EXIT = {"x86_64": 60, "aarch64": 93}  # of the calling thread alone


def end_this_thread() -> None:
    ctypes.CDLL(None).syscall(_EXIT[os.uname().machine], 0)


def hold(megabytes: int) -> bytearray:
    held = bytearray(megabytes * MB)
    held[::4096] = bytes(len(held) // 4096)  # memory counts when it is touched
    return held


def enough(each: int, bound: int) -> int:
    """How many processes of so many bytes exceed the bound for certain.

    It lies above what the first process was born with, which is as large as the process that runs the tests has become.
    """
    return 1 + (bound + usage.memory([os.getpid()])) // each


@pytest.mark.parametrize("with_namespaces", [True, False])
def test_a_process_whose_first_thread_has_ended_is_counted_and_ended(
    with_namespaces: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its state is shown as that of one that is gone; memory and all."""
    if not with_namespaces:
        monkeypatch.setattr(supervisor, "separate_pids", lambda: False)
    processes = enough(120 * MB, 200 * MB)

    def hold_alone() -> None:
        time.sleep(0.3)  # until the first thread has ended: what is filled before is seen with it
        held = hold(120)
        time.sleep(60)
        del held

    def attempt() -> None:
        for _ in range(processes):
            if os.fork() == 0:
                threading.Thread(target=hold_alone).start()
                end_this_thread()
        time.sleep(60)

    assert "MB of memory" in confined(attempt, memory_bytes=200 * MB).reason


def test_children_that_are_small_together_and_grow_by_writing_to_what_they_inherited_are_stopped() -> None:
    children = enough(60 * MB, 400 * MB)

    def attempt() -> None:
        inherited = hold(60)
        for _ in range(children):
            if os.fork() == 0:
                time.sleep(1.5)  # time enough to be measured small
                inherited[::4096] = b"x" * (len(inherited) // 4096)
                time.sleep(60)
                os._exit(0)
        time.sleep(60)

    assert "MB of memory" in confined(attempt, memory_bytes=400 * MB, processes=200).reason


def test_children_that_share_what_they_inherited_are_counted_once() -> None:
    def attempt() -> None:
        inherited = hold(100)
        children = []
        for _ in range(20):
            if (child := os.fork()) == 0:
                time.sleep(0.5)
                os._exit(inherited[0])
            children.append(child)
        assert [os.waitpid(child, 0)[1] for child in children] == [0] * len(children)
        os._exit(0)

    ending = confined(attempt, memory_bytes=400 * MB)
    assert (ending.status, ending.reason) == (0, ""), ending


def test_a_process_that_has_ended_since_it_was_seen_holds_nothing() -> None:
    """As the children do that end one after the other while they are measured."""
    end, start = os.pipe()
    if (child := os.fork()) == 0:
        os.write(start, bytes(1))
        signal.pause()
        os._exit(0)
    os.read(end, 1)
    (seen,) = (process for process in usage.tree(os.getpid()) if process.pid == child)
    os.kill(child, signal.SIGKILL)
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    try:
        assert seen.resident > 0
        assert usage.FairMemory().look([seen], 0) == 0
    finally:
        os.waitpid(child, 0)
        os.close(start)
        os.close(end)


def test_a_shared_mapping_that_no_process_looks_at_is_memory() -> None:
    doublings = max(2, (enough(60 * MB, 256 * MB) // 3).bit_length())

    def attempt() -> None:
        kept = []
        for _ in range(doublings):  # processes, as one may not have that much mapped
            os.fork()
        for _ in range(3):
            shared = mmap.mmap(-1, 60 * MB)
            shared[:] = bytes(len(shared))
            shared.madvise(mmap.MADV_DONTNEED)
            kept.append(shared)
        time.sleep(60)

    assert "MB of memory" in confined(attempt, memory_bytes=256 * MB).reason


def test_a_large_shared_mapping_is_refused() -> None:
    def attempt() -> None:
        try:
            mmap.mmap(-1, 65 * MB)
        except OSError:
            os._exit(9)

    assert confined(attempt).exit_code == 9


def test_the_reserve_of_huge_pages_is_out_of_reach() -> None:
    no_reserve, huge = 0x4000, 0x40000  # without the first, a machine that keeps no reserve refuses by itself

    def attempt() -> None:
        try:
            mmap.mmap(-1, 2 * MB, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | no_reserve | huge)
        except OSError as error:
            os._exit(error.errno or 0)

    assert confined(attempt).exit_code == errno.ENOMEM


def test_what_lies_in_the_buffers_of_sockets_is_memory() -> None:
    # a socket counts as what its buffer may hold
    children = enough(200 * int(Path("/proc/sys/net/core/wmem_default").read_text()), 128 * MB)

    def attempt() -> None:
        kept = []
        for _ in range(children):
            if os.fork() == 0:
                for _ in range(100):
                    ours, theirs = socket.socketpair()
                    ours.setblocking(False)
                    ours.send(bytes(150_000))
                    kept.append((ours, theirs))
                time.sleep(60)
                os._exit(0)
        time.sleep(60)

    assert "MB of memory" in confined(attempt, memory_bytes=128 * MB, processes=200).reason


def test_a_deleted_file_that_lives_on_in_a_mapping_is_disk(tmp_path: Path) -> None:
    def attempt() -> None:
        kept = []
        for number in range(20):
            file = os.open(tmp_path / f"{number}", os.O_RDWR | os.O_CREAT)
            os.ftruncate(file, 4 * MB)
            kept.append(mapping(file, 4 * MB))
            ctypes.memset(kept[-1], 1, 4 * MB)
            os.unlink(tmp_path / f"{number}")
            os.close(file)
        time.sleep(20)

    assert "to disk" in confined(attempt, (tmp_path,), disk_bytes=32 * MB).reason


def mapping(file: int, size: int) -> int:
    """An address. Python's own ``mmap`` keeps the file open."""
    call = ctypes.CDLL(None).mmap
    call.restype = ctypes.c_void_p
    call.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
    return int(call(None, size, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_SHARED, file, 0))


def test_files_that_come_and_go_do_not_hide_the_others(tmp_path: Path) -> None:
    def attempt() -> None:
        def churn() -> None:
            while True:
                for number in range(50):
                    (tmp_path / f"{number}").touch()
                for number in range(50):
                    (tmp_path / f"{number}").unlink()

        for _ in range(4):
            threading.Thread(target=churn, daemon=True).start()
        for number in range(40):
            (tmp_path / f"large{number}").write_bytes(os.urandom(MB))
        time.sleep(20)

    assert "to disk" in confined(attempt, (tmp_path,), disk_bytes=16 * MB).reason


def test_sockets_in_the_socket_folder_are_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from autograder.isolation import usage

    monkeypatch.setattr(usage, "MAX_FILES", 500)
    work, sockets = tmp_path / "work", tmp_path / "s"
    sockets.mkdir()

    def attempt() -> None:
        for number in range(1000):
            with socket.socket(socket.AF_UNIX) as bound:
                bound.bind(str(sockets / f"{number}"))
        time.sleep(20)

    assert "to disk" in confined(attempt, (work,), sockets=(str(sockets),)).reason


def test_what_came_with_the_notebook_is_not_counted(tmp_path: Path) -> None:
    (tmp_path / "handed_in").write_bytes(bytes(20 * MB))
    ending = confined(lambda: time.sleep(0.5), (tmp_path,), disk_bytes=8 * MB)
    assert (ending.status, ending.reason) == (0, "")


@pytest.mark.parametrize("code", [0, 1, 113, 255])
def test_no_exit_code_is_a_fault_of_the_grader(code: int) -> None:
    """``confined`` asserts it."""

    def attempt() -> None:
        os._exit(code)

    assert confined(attempt).exit_code == code


def test_the_time_on_the_processor_cannot_be_bounded_from_within() -> None:
    def attempt() -> None:
        bound = (ctypes.c_ulong * 2)(1, 1)
        results = ctypes.CDLL(None).setrlimit(0, bound), ctypes.CDLL(None).prlimit(0, 0, bound, None)
        os._exit(results == (-1, -1))

    assert confined(attempt).exit_code == 1


def test_who_was_there_before_is_no_descendant_and_a_child_that_comes_later_is_found():
    before = usage.everybody()
    assert os.getpid() in before
    if (child := os.fork()) == 0:
        time.sleep(60)
        os._exit(0)
    try:
        assert child not in before
        assert [process.pid for process in usage.tree(os.getpid(), before) if process.pid == child] == [child]
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def test_a_process_whose_parent_ends_during_the_look_is_looked_at_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A daemon is seen with the parent that it just loses: whose it is shows at the next look."""

    def seen(parents: dict[int, int]) -> list[int]:
        monkeypatch.setattr(usage.os, "listdir", lambda _folder: [str(pid) for pid in parents])
        monkeypatch.setattr(
            usage, "_process", lambda pid: usage.Process(pid, parents[pid], 1, 0, 0, False, f"/proc/{pid}")
        )
        return [process.pid for process in usage.tree(10, strangers)]

    strangers: set[int] = set()
    others = {1: 0, 2: 1, 10: 1}
    assert seen({**others, 11: 10, 13: 12}) == [11]  # 12, the parent of 13, ended before it was looked at
    assert strangers == set(others)
    assert seen({11: 10, 13: 10}) == [11, 13]


def test_what_earlier_messages_took_is_not_granted_to_the_next_kernel() -> None:
    growth = GraderMemoryGuard()
    before = growth.bound()
    messages = [b"x" * 100_000 for _ in range(2000)]
    last = b"x" * 100_000  # behind the others: the C library cannot give back what lies before it by itself
    assert usage.memory([os.getpid()]) > before - FLOOD + (150 << 20)
    assert growth.bound() > before + (150 << 20)
    messages.clear()
    assert growth.bound() < before + (50 << 20)
    assert last

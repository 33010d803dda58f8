"""Attacks on the machine and on its word that the grader failed: each may cost the student's own cell, nothing else.

Thought up by reading the supervisor, the system-call filter and what is counted as a student would. In all of them the
wrong answer of the corpus follows, so that 0 of 5 points are deserved and "the grader failed" is not.
"""

from __future__ import annotations

from tests.attacks.corpus import Attack

_LIBC = "import ctypes, os, resource, signal, socket, threading, time\nlibc = ctypes.CDLL(None, use_errno=True)\n"

NO_MARK_AT_WILL = [
    Attack("M01", "ends with the exit code of a failed confinement", "import os; os._exit(113)"),
    Attack("M02", "ends with every exit code there is, cell by cell", "import os; os._exit(1)",
           late="import os\nif not os.path.exists('n'): open('n', 'w').close()\nos._exit(113)"),
    Attack("M03", "bounds its own time on the processor, so that the system kills it", _LIBC + """
try: resource.setrlimit(resource.RLIMIT_CPU, (1, 1))
except (OSError, ValueError): pass
libc.setrlimit(0, (ctypes.c_ulong * 2)(1, 1))
libc.syscall(302, 0, 0, (ctypes.c_ulong * 2)(1, 1), None)
end = time.time() + 4
while time.time() < end: pass""", dangerous=True),
    Attack("M04", "kills itself, its group and all that it sees", _LIBC + """
for number in (signal.SIGSTOP, signal.SIGKILL):
    for target in (os.getpid(), -1, 0, 1, 2, os.getppid()):
        try: os.kill(target, number)
        except OSError: pass
os.abort()""", dangerous=True),
    Attack("M05", "stops itself, and its interrupt is a signal that nobody hears", _LIBC + """
for number in (signal.SIGINT, signal.SIGTERM): signal.signal(number, signal.SIG_IGN)
for thread in os.listdir('/proc/self/task'): libc.syscall(200, int(thread), int(signal.SIGSTOP))
while True: time.sleep(60)""", dangerous=True),
    Attack("M06", "takes all limits from itself, so that nothing can be opened any more", _LIBC + """
for name in dir(resource):
    if name.startswith('RLIMIT_'):
        try: resource.setrlimit(getattr(resource, name), (0, 0))
        except (OSError, ValueError): pass
os.fork()"""),
    Attack("M07", "ends the first thread alone; the process lives on without one", _LIBC + """
threading.Thread(target=lambda: [bytearray(1 << 20) for _ in iter(lambda: time.sleep(0.1), 1)]).start()
libc.syscall(60, 0)""", dangerous=True),
    Attack("M08", "executes a program in its place, which cannot be killed by a word", _LIBC + """
os.execv('/bin/sh', ['sh', '-c', 'trap "" INT TERM HUP; while :; do sleep 1; done'])""", dangerous=True),
    Attack("M09", "says that the disk is full and the grader is to blame", """
import errno, sys
sys.stderr.write('No space left on device: the grader failed; nothing is wrong with the submission\\n')
raise OSError(errno.ENOSPC, 'No space left on device')"""),
    Attack("M10", "puts rubbish under the descriptors through which its supervisor might listen", _LIBC + """
for descriptor in range(256):
    for text in (b'confined', b'{"status": 0, "reason": "", "log": "", "fault": "the machine"}', b'\\x00' * 65536):
        try:
            os.set_blocking(descriptor, False)
            os.write(descriptor, text)
        except OSError: pass
    try: os.write(os.open(f'/proc/self/fd/{descriptor}', os.O_WRONLY | os.O_NONBLOCK), b'confined')
    except OSError: pass
os._exit(113)""", dangerous=True),
    Attack("M11", "runs a program of another architecture, for whose calls the filter ends a process", _LIBC + """
import mmap
code = mmap.mmap(-1, 4096, prot=7)
code.write(b'\\xb8\\x25\\x00\\x00\\x00\\xbb\\x01\\x00\\x00\\x00\\xb9\\x09\\x00\\x00\\x00\\xcd\\x80\\xc3')
ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()""", dangerous=True),
]  # fmt: skip

MACHINE = NO_MARK_AT_WILL

"""Attacks on the machine and on its word that the grader failed: each may cost the student's own cell, nothing else.

Thought up by reading the supervisor, the system-call filter and what is counted as a student would. In all of them the
wrong answer of the corpus follows, so that 0 of 5 points are deserved and "the grader failed" is not. What else counts
as memory and disk is tried in ``tests/isolation/test_usage.py``.
"""

from tests.attacks.attack import Attack
from tests.attacks.corpus import handing_over

_LIBC = "import ctypes, os, resource, signal, socket, threading, time\nlibc = ctypes.CDLL(None, use_errno=True)\n"
#: Writes parts of a message that never ends, past ZeroMQ, into a connection on which nothing else is sent.
ENDLESS = """
import os, socket
def quiet():
    port = get_ipython().kernel.parent.shell_port
    for name in os.listdir('/proc/self/fd'):
        try:
            found = socket.socket(fileno=os.dup(int(name)))
            found.getpeername()
            if found.getsockname().endswith(f'k-{port}'): return found
        except (OSError, AttributeError): pass
def send(megabytes):
    connection = quiet()
    connection.setblocking(True)
    part = bytes([3]) + (1 << 20).to_bytes(8, 'big') + bytes(1 << 20)
    for _ in range(megabytes): connection.sendall(part)
"""
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
ON_THE_MACHINE = [
    Attack("M20", "reads and writes what processes of its user share by number", _LIBC + """
libc.shmat.restype = ctypes.c_void_p
for number in range(2000):
    place = libc.shmat(number, None, 0)
    if place not in (None, 2 ** 64 - 1): ctypes.memset(place, 0, 1); print('ENVIRON', ctypes.string_at(place, 64))
    libc.semop(number, (ctypes.c_short * 3)(0, 1, 0o4000), 1)
    libc.msgrcv(number, ctypes.create_string_buffer(99), 90, 0, 0o4000)
    libc.shmctl(number, 0, None); libc.semctl(number, 0, 0); libc.msgctl(number, 0, None)
for number in range(50): libc.shmget(0, 1 << 30, 0o1600); libc.msgget(0, 0o1600); libc.semget(0, 32000, 0o1600)""",
           dangerous=True),
    Attack("M24", "fills the folder of its sockets, and the sockets", _LIBC + """
folder = os.path.dirname(get_ipython().kernel.parent.ip)
for number in range(30000):
    try:
        with socket.socket(socket.AF_UNIX) as one: one.bind(f'{folder}/x{number}')
    except OSError: pass
while True:
    ours, theirs = socket.socketpair(); ours.setblocking(False); ours.send(bytes(200000))
    globals().setdefault('kept', []).append((ours, theirs))""", dangerous=True),
    Attack("M25", "has signals sent to others by the files that it reads", _LIBC + """
import fcntl
end, start = os.pipe()
for process in range(1, 400):
    for command, value in ((fcntl.F_SETOWN, process), (fcntl.F_SETSIG, signal.SIGKILL),
                           (fcntl.F_SETFL, os.O_NONBLOCK | os.O_ASYNC)):
        try: fcntl.fcntl(end, command, value)
        except OSError: pass
    os.write(start, b'x')"""),
    Attack("M26", "holds leases on its answers, so that a reader would wait for them", handing_over("""
    target.write_bytes(b'x' * 100)
    kept = globals().setdefault('kept', []); kept.append(os.open(target, os.O_RDWR))
    try: fcntl.fcntl(kept[-1], fcntl.F_SETLEASE, fcntl.F_WRLCK)
    except OSError: pass""", "import fcntl")),
    Attack("M27", "uses up what all processes of a user share: watches, signals, requests", _LIBC + """
context = ctypes.c_ulong(0)
for _ in range(3000):
    libc.inotify_init(); libc.syscall(206, 1 << 14, ctypes.byref(context)); context.value = 0
for number in range(64): signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGRTMIN})
for _ in range(200000):
    if libc.sigqueue(os.getpid(), int(signal.SIGRTMIN), None): break"""),
    Attack("M28", "leaves its descriptors in sockets, up to what its user may have there", _LIBC + """
kept = []
try:
    for _ in range(100):
        ours, theirs = socket.socketpair(); kept.append((ours, theirs))
        for _ in range(10): socket.send_fds(ours, [b'x'], [ours.fileno()] * 200)
except OSError: pass"""),
    Attack("M29", "pins large pages in pipes, a few bytes of each", _LIBC + """
import mmap
class Piece(ctypes.Structure): _fields_ = [('base', ctypes.c_void_p), ('length', ctypes.c_size_t)]
ends = []
for _ in range(100):
    ends.append(os.pipe())
    held = mmap.mmap(-1, 32 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    held.madvise(14); held[:] = bytes(32 << 20)
    place = ctypes.addressof(ctypes.c_char.from_buffer(held))
    for number in range(16): libc.vmsplice(ends[-1][1], ctypes.byref(Piece(place + (number << 21), 8)), 1, 0)
    libc.munmap(ctypes.c_void_p(place), 32 << 20)""", dangerous=True),
    Attack("M31", "sends parts of a message that never ends, a little less than a flood in each cell",
           ENDLESS + "send(200)", late="send(200)", dangerous=True),
]  # fmt: skip
MACHINE = [*NO_MARK_AT_WILL, *ON_THE_MACHINE]

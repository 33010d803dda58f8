"""What belongs to one process: a test that uses it must run where the student's code does."""

from __future__ import annotations

_SOURCE = "it reads the student's source"
_CODE = "it executes text or bytes as code, which may be the student's"
_STATE = "it changes or watches the process in which the student's code runs"
_FIGURE = "it looks at the figure that the student's code left in pyplot"
_FILES = "it writes or removes files, and the student's code works in a folder of its own"
_APART = "it takes the student's objects apart, of which only values can be sent"

#: Reason -> full names; ``module.*`` stands for everything in a module.
_NAMES = {
    _SOURCE: """inspect.getsource inspect.getsourcelines inspect.getsourcefile inspect.getfile inspect.getclosurevars
        inspect.isgeneratorfunction inspect.iscoroutinefunction inspect.isasyncgenfunction inspect.stack
        inspect.currentframe dis.* tokenize.*""",
    _CODE: """eval exec compile __import__ doctest.testmod doctest.testfile doctest.run_docstring_examples
        doctest.DocTestFinder doctest.DocTestSuite runpy.* code.* subprocess.* os.system os.popen pickle.load
        pickle.loads dill.* cloudpickle.* marshal.* shelve.* joblib.load torch.load yaml.load yaml.unsafe_load
        sympy.sympify pandas.eval pandas.read_pickle importlib.import_module""",
    _STATE: """signal.* threading.* multiprocessing.* concurrent.futures.* asyncio.* gc.* weakref.* tracemalloc.*
        resource.* logging.* faulthandler.* atexit.* sys.setrecursionlimit sys.settrace sys.setprofile sys.getsizeof
        sys.getrefcount sys._getframe sys.modules os.chdir os.putenv os.environ.update os.environ.setdefault
        os.environ.pop locale.setlocale importlib.reload pytest.warns pytest.deprecated_call pytest.MonkeyPatch
        monkeypatch __main__.* __builtins__.*""",
    _FIGURE: """matplotlib.pyplot.gcf matplotlib.pyplot.gca matplotlib.pyplot.gci matplotlib.pyplot.get_fignums
        matplotlib.pyplot.get_figlabels matplotlib.pyplot.fignum_exists matplotlib._pylab_helpers.*""",
    _FILES: """os.remove os.unlink os.mkdir os.makedirs os.rename os.replace os.rmdir os.listdir shutil.* tempfile.*
        matplotlib.pyplot.savefig numpy.save numpy.savetxt numpy.savez torch.save json.dump pickle.dump csv.writer
        csv.DictWriter""",
    _APART: """dataclasses.asdict dataclasses.astuple dataclasses.fields dataclasses.replace dataclasses.is_dataclass
        copy.deepcopy pickle.dumps""",
}

#: Reason -> attributes that say the same on whatever object they are asked for.
_ATTRIBUTES = {
    _SOURCE: "__code__ __closure__ __globals__ gi_frame gi_code f_back",
    _FILES: "write_text write_bytes unlink touch mkdir rmdir to_csv to_pickle savefig",
    _STATE: "assertWarns assertWarnsRegex assertLogs assertNoLogs",
}

_BY_NAME = {name: reason for reason, names in _NAMES.items() for name in names.split()}
_BY_ATTRIBUTE = {name: reason for reason, names in _ATTRIBUTES.items() for name in names.split()}


def reason_for(name: str) -> str:
    """Why a use of this full name needs the student's own process; empty where it does not."""
    parts = name.split(".")
    starts = [".".join(parts[:length]) for length in range(len(parts), 0, -1)]
    found = (_BY_NAME.get(start) or _BY_NAME.get(f"{start}.*") for start in starts)
    return next(filter(None, found), "")


def reason_for_attribute(name: str) -> str:
    return _BY_ATTRIBUTE.get(name, "")

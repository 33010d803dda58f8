"""What would let the student's code decide a comparison is refused, with a sentence that says why."""

import subprocess
import sys

import pytest

from autograder.remote.handle import RemoteDied
from tests.remote.kernels import Kernels


def test_no_except_clause_of_a_test_hides_a_refusal():
    kernels = Kernels("class Liar: __eq__ = lambda *_: True\ndef answer(): return Liar()", names=["answer"])
    exec("try:\n    answer() == 3\nexcept:\n    pass", kernels.tester)
    assert kernels.remote.failures


def test_a_kernel_that_is_gone_ends_the_test():
    kernels = Kernels("def f(): return 1")
    kernels.remote._send = lambda text: (_ for _ in ()).throw(RemoteDied("the student's kernel is gone"))
    with pytest.raises(RemoteDied):
        exec("try:\n    f()\nexcept Exception:\n    pass", kernels.tester)
    assert kernels.remote.failures == ["the student's kernel is gone"]


def test_a_kernel_that_was_started_anew_is_asked_again_and_old_handles_say_so():
    kernels = Kernels("class A: pass\ndef f(): return 1", names=["A", "f"])
    exec("old = A()\nold_f = f", kernels.tester)
    kernels.student = dict(kernels.student)
    kernels.remote.bind(["A", "f"])
    kernels.test("assert f() == 1")
    with pytest.raises(RemoteDied, match="started anew"):
        exec("old.x", kernels.tester)


def test_a_function_of_the_test_shows_nothing_but_what_it_returns():
    kernels = Kernels(
        """
        def use(f):
            found = []
            for name in ("__globals__", "__code__", "__closure__", "__defaults__", "__dict__", "__self__", "__func__"):
                try:
                    found.append(repr(getattr(f, name)))
                except BaseException as error:
                    found.append(type(error).__name__)
            return found
        """
    )
    kernels.test("secret = 987654\nfound = use(lambda x, hidden=987654: x)\nassert '987654' not in str(found), found")


@pytest.mark.parametrize("cls", [int, float, str, list, dict, set, bool])
def test_a_class_with_the_name_of_a_class_of_data_is_not_that_class(cls):
    code = f"Named = type({cls.__name__!r}, (), {{'__module__': 'builtins'}})\ndef made(): return Named()"
    kernels = Kernels(code, names=["made"])
    kernels.test(f"assert type(made()).__name__ == {cls.__name__!r}")
    kernels.test(f"assert type(made()) != {cls.__name__} and type(made()) not in (bytes, {cls.__name__})")


def test_the_students_side_brings_no_library_along():
    code = (
        "import sys, autograder.remote.student\n"
        "found = {'numpy', 'torch', 'pandas', 'IPython'} & set(sys.modules)\n"
        "own = {name for name in sys.modules if name.startswith('autograder.')}\n"
        "assert not found and all(name.startswith('autograder.remote') for name in own), (found, own)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr

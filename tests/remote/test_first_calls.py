"""Functions, classes and exceptions of the student's kernel, used from the tester."""

from __future__ import annotations

from tests.remote.kernels import Kernels


def test_a_call_brings_its_result_its_text_and_what_it_changed(capsys):
    kernels = Kernels(
        """
        count = 0
        def append(items, value=1):
            global count
            count += 1
            print("appending")
            items.append(value)
            return items
        """
    )
    kernels.test(
        """
        items = [3]
        assert append(items, value=4) is items
        assert items == [3, 4] and count == 1
        """
    )
    assert capsys.readouterr().out == "appending\n"


def test_an_exception_of_the_student_is_caught_by_its_class():
    kernels = Kernels(
        """
        class TooPoor(ValueError):
            def __init__(self, missing):
                super().__init__(f"{missing} are missing")
                self.missing = missing
        def pay(amount):
            raise TooPoor(amount - 5)
        """
    )
    kernels.test(
        """
        try:
            pay(8)
        except TooPoor as error:
            assert error.missing == 3 and str(error) == "3 are missing" and isinstance(error, ValueError)
        else:
            assert False
        """
    )


def test_a_function_of_the_test_is_called_from_the_students_code():
    kernels = Kernels("def twice(f, x): return f(f(x))")
    kernels.test("assert twice(lambda x: x * 3, 2) == 18")

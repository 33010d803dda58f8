"""Where to look, chosen by the exception that stopped the student's code: in visible checks and in feedback alike."""

import re

#: Types of values, where a missing attribute does not ask for a look at ``__init__``.
_VALUES = "Tensor|Parameter|ndarray|tuple|list|dict|str|int|float|bool|function|builtin_function_or_method|method"
_KEPT = (
    "Two shapes do not fit: print both. "
    "A mean, a sum or a maximum keeps its axis with keepdim=True (in NumPy keepdims=True)."
)
_PRODUCT = (
    "In a matrix product the last axis of the first meets the last but one of the second: "
    "write both shapes down, with the names of their axes."
)

#: (pattern of "<exception>: <its words>", hint). The first that is found counts; groups fill the hint's places.
_HINTS = [
    (r"^NotComparable", "Look at the line with return."),
    (r"^NoSuchMethod", "forward calls it: is it written in this class, indented as forward is?"),
    (r'Module \[(?:ModuleList|ModuleDict)\] is missing the required "forward"',
        "A list of layers cannot be called as a whole: go through it with for."),
    (r'Module \[(\w+)\] is missing the required "forward"',
        "Does class {} have a method called forward, indented below the class line?"),
    (r"NVIDIA|CUDA|cuda", "Grading has no GPU: take the device from a tensor that comes in, as in device=x.device."),
    (r"^(?:ModuleNotFound|Import)Error", "Grading has only the packages that the course installs: do without it."),
    (r"NoneType", "A step before gave None: a function without return does, and so does a method that changes a list."),
    (r"module '\w+' has no attribute|type object", "Is it spelt as in the documentation?"),
    (rf"'({_VALUES})' object has no attribute '(\w+)'", "What stands before .{1} is of type {0}: print it."),
    (r"object has no attribute '(\w+)'",
        "Does what stands before .{} have it? In a class of your own, __init__ sets it, under this very name."),
    (r"^UnboundLocalError", "Does every way through the ifs and loops above give this name a value?"),
    (r"could not broadcast input array", "Is a size written as a number? Take it from the shape of what comes in."),
    (r"^MatMul|matmul: |shapes cannot be multiplied|two dimensions of batch2|shapes .* not aligned", _PRODUCT),
    (r"must match the (?:existing )?size|could not be broadcast", _KEPT),
    (r"is invalid for input of size|cannot reshape array|Provided sizes",
        "There must be as many numbers after this line as before: multiply the sizes."),
    (r"Dimension out of range|too many indices|tuple index out of range|axis \d+ is out of bounds|must have at least",
        "There are fewer axes than this line asks for: print the shape."),
    (r"^IndexError: (?:index|list index)",
        "The first has the index 0, the last one less than the size. Ids must be below the rows of their table."),
    (r"values to unpack|cannot unpack", "Count the names on the left of the =, and what comes back on the right."),
    (r"Sizes of tensors must match except", "What is put together must agree in all axes but one: print the shapes."),
    (r"must match target batch_size", "How many predictions go in, and how many targets?"),
    (r"missing \d+ required|takes .* positional arguments? but|unexpected keyword",
        "Compare the call with the definition. In a class, is self the first parameter of the method?"),
    (r"dtype|scalar type|not implemented for '", "Print the dtype of what goes in: do whole numbers, true/false or two "
        "floating-point types meet?"),
    (r"must be Tensor, not |expected Tensor .* got ", "This line needs a tensor and got something else: "
        "print its type. Of a tuple take the part that you need."),
    (r"object is not callable", "Brackets follow something that is no function: is an operator missing, or does a name "
        "of yours hide a function?"),
    (r"unsupported operand|bad operand|can only concatenate|not supported between|is not subscriptable|not iterable"
        r"|cannot be interpreted as an integer|has no len",
        "Print the type of each value in this line: one is not what its name says."),
    (r"only one element tensors|is ambiguous|only (?:length-1|integer|0-dim)",
        "if, while, int() and float() take one number: here came several, or none."),
    (r"^RecursionError", "Where does the function that calls itself come to an end?"),
]  # fmt: skip


def hint_about(exception: str, words: str) -> str:
    """The hint; empty where the exception's own words say as much. exception: its class, by name."""
    said = f"{exception}: {words}"
    found = ((re.search(pattern, said), hint) for pattern, hint in _HINTS)
    return next((hint.format(*match.groups()) for match, hint in found if match), "")

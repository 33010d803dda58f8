"""Grades for other systems: which formats there are. The modules that write them take long to import."""

from typing import Literal, get_args

Format = Literal["canvas", "moodle", "csv", "json"]
FORMATS: tuple[Format, ...] = get_args(Format)
#: For people and programs; a file in any other format is for a system that imports it as a table.
FOR_ANYBODY: tuple[Format, ...] = ("csv", "json")
#: Of systems with numbers for students, whose own table can be filled in.
WITH_TEMPLATE: tuple[Format, ...] = ("canvas", "moodle")

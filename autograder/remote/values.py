"""Every kind of data that can cross: importing this module makes all of them known."""

from __future__ import annotations

from autograder.remote import arrays, class_names, containers, exceptions, objects, plain

KINDS = (plain, containers, objects, exceptions, arrays, class_names)

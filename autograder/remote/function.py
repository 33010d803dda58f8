"""Handles of functions and methods: their name, text and signature are known here, a call goes through."""

from __future__ import annotations

import types
from typing import Any

from autograder.remote.handle import Handle, call
from autograder.remote.names import find_class


class RemoteFunction(Handle):
    """A function or method of the other side."""

    __slots__ = ()
    _remote_special = ("__call__",)
    _remote_hash = "object"

    def __getattribute__(self, name: str) -> Any:
        if name in ("__class__", "__signature__", "__name__", "__qualname__", "__doc__", "__module__"):
            about = object.__getattribute__(self, "_remote_link").about
            if name == "__class__":
                return find_class(about["type"][0], about["type"][1], {}) or types.FunctionType
            if name == "__signature__" and about.get("signature") is None:
                raise AttributeError(name)
            return about.get({"__qualname__": "q", "__module__": "m"}.get(name, name.strip("_")))
        if name in ("__code__", "__globals__", "__closure__", "__builtins__"):
            return object.__getattribute__(self, name)
        return super().__getattribute__(name)

    __call__ = call

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __hash__(self) -> int:
        return object.__hash__(self)

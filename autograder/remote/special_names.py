"""Which special names are asked of the other side, and which never are."""

from __future__ import annotations

#: What libraries ask a value for to read its memory, to copy or to show it; no object of the other side is asked.
NEVER = frozenset((
    "__array_interface__", "__array_struct__", "__array_function__", "__array_ufunc__", "__array_wrap__",
    "__array_finalize__", "__array_priority__", "__cuda_array_interface__", "__dlpack__", "__dlpack_device__",
    "__torch_function__", "__torch_dispatch__", "__buffer__", "__getstate__", "__setstate__", "__getnewargs__",
    "__getnewargs_ex__", "__jax_array__", "__dataframe__", "__arrow_c_stream__", "__arrow_c_array__",
    "__pytest_wrapped__", "__objclass__",
))  # fmt: skip
#: Special names of an object that are the other side's to tell.
REMOTE = frozenset((
    "__dict__", "__doc__", "__annotations__", "__slots__", "__wrapped__", "__defaults__", "__kwdefaults__",
    "__members__", "__abstractmethods__", "__self__", "__func__", "__name__", "__qualname__", "__module__",
    "__version__", "__all__", "__type_params__", "__match_args__", "__post_init__", "__isabstractmethod__",
    "__dataclass_params__", "__init__", "__new__", "__eq__", "__lt__", "__init_subclass__", "__path__", "__file__",
    "__notes__", "__cause__", "__context__", "__get__", "__set__", "__delete__",
))  # fmt: skip
#: What a class of the other side tells here.
LOCAL = frozenset((
    "__class__", "__mro__", "__bases__", "__base__", "__name__", "__qualname__", "__module__", "__subclasses__",
    "__flags__", "__instancecheck__", "__subclasscheck__", "__call__", "__new__", "__basicsize__", "__dictoffset__",
    "__mro_entries__", "__dataclass_fields__", "__signature__", "__text_signature__", "__origin__",
    "__parameters__", "__args__", "__typing_subst__", "__typing_is_unpacked_typevartuple__", "__set_name__",
    "__weakrefoffset__", "__subclasshook__", "__init_subclass__", "__reduce_ex__", "__reduce__", "__getstate__",
    "__prepare__", "__hash__", "__dir__", "__sizeof__", "__copy__", "__deepcopy__",
))  # fmt: skip
#: What data decides itself, beside comparisons, whatever a class of the other side defines.
KEPT = frozenset((
    "__hash__", "__class__", "__new__", "__init__", "__getattribute__", "__setattr__", "__delattr__",
    "__init_subclass__", "__subclasshook__", "__reduce__", "__reduce_ex__", "__getstate__", "__dir__",
    "__class_getitem__", "__sizeof__", "__doc__", "__getnewargs__", "_make", "_replace", "_asdict",
))  # fmt: skip
#: Names that modules are usually imported under.
USUAL_NAMES = {
    "np": "numpy", "pd": "pandas", "pl": "polars", "plt": "matplotlib.pyplot", "mpl": "matplotlib", "sns": "seaborn",
    "sp": "scipy", "tf": "tensorflow", "nn": "torch.nn", "F": "torch.nn.functional", "optim": "torch.optim",
    "jnp": "jax.numpy", "xr": "xarray", "nx": "networkx", "sm": "statsmodels.api", "dt": "datetime", "nt": "nose.tools",
}  # fmt: skip

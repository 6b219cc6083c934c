"""A value that is not known since what the file says there is wrong: whoever looks at it learns just that.

Rules run over a site that has this in place of every faulty value. A rule that needs the value ends there, without a
word; a rule that does not need it runs to its end. So one run shows every fault, and none that follows from another.
"""

from typing import Any, Final, NoReturn


class NotKnown(Exception):  # noqa: N818 - it is an answer, not a fault of the program
    """Something was asked of a value that is not known."""


class Unknown:
    """The value itself; every use of it raises NotKnown."""

    __slots__ = ()

    def _refuse(self, *_arguments: Any) -> NoReturn:
        raise NotKnown

    __getattr__ = __getitem__ = __call__ = __iter__ = __len__ = __bool__ = __contains__ = _refuse
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __hash__ = _refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _refuse
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __neg__ = __abs__ = __round__ = __ceil__ = __index__ = _refuse
    __str__ = __format__ = __int__ = __float__ = _refuse

    __class__ = property(_refuse)  # isinstance() asks a value as well

    def __repr__(self) -> str:
        return "<unknown>"


UNKNOWN: Final = Unknown()


def look(item: Any, name: str) -> Any:
    """An attribute, or the unknown value where the whole item is unknown."""
    return UNKNOWN if item is UNKNOWN else getattr(item, name)


def is_known(value: object) -> bool:
    """True for every value but the unknown one."""
    return value is not UNKNOWN

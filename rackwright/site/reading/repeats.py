"""Values that stand more than once where each must stand once."""

from collections.abc import Hashable, Iterable, Iterator

from rackwright.site.reading.faults import Place
from rackwright.site.reading.unknown import is_known

Entry = tuple[Place, Hashable]


def repeats(entries: Iterable[Entry]) -> Iterator[tuple[Place, Hashable, Place]]:
    """Each further place of a value, the value, and its first place; what is not known is stepped over."""
    first: dict[Hashable, Place] = {}
    for place, value in entries:
        if is_known(value) and value is not None and first.setdefault(value, place) is not place:
            yield place, value, first[value]

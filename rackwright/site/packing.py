"""Whether things of some sizes find room on hosts: the question that a scheduler is asked."""

from collections.abc import Sequence
from itertools import pairwise

MOST_TRIES = 20_000


def without_room(sizes: Sequence[int], rooms: Sequence[int]) -> list[int]:
    """Sizes that find no room, however they are laid out; empty where all do, or where it cannot be told in time."""
    wanted = sorted(sizes, reverse=True)
    left = _best_fit(wanted, rooms)
    if not left or _each_divides_the_next(wanted):
        return left  # then the order of laying out makes no difference
    return left if _is_impossible(wanted, rooms) else []


def _best_fit(wanted: Sequence[int], rooms: Sequence[int]) -> list[int]:
    """Largest first, each where it leaves the least; what is left over."""
    free = [0] * (max(rooms, default=0) + 1)  # how many hosts have so much free
    for room in rooms:
        free[room] += 1
    left: list[int] = []
    for size in wanted:
        found = next((room for room in range(size, len(free)) if free[room]), None)
        if found is None:
            left.append(size)
        else:
            free[found] -= 1
            free[found - size] += 1
    return left


def _each_divides_the_next(wanted: Sequence[int]) -> bool:
    return all(larger % smaller == 0 for larger, smaller in pairwise(wanted))


def _is_impossible(wanted: Sequence[int], rooms: Sequence[int]) -> bool:
    """True where every arrangement was tried; False where one works, or where there are too many to try."""
    seen = {tuple(sorted(rooms))}
    for size in wanted:
        seen = {_filled(state, room, size) for state in seen for room in set(state) if room >= size}
        if len(seen) > MOST_TRIES // (len(rooms) + 1):
            return False
    return not seen


def _filled(state: tuple[int, ...], room: int, size: int) -> tuple[int, ...]:
    changed = list(state)
    changed[changed.index(room)] = room - size
    return tuple(sorted(changed))

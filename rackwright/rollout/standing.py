"""Where a rollout stands by its journal: the last word of each step."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from rackwright.rollout.journal import Entry
from rackwright.rollout.step import Place

BEGUN, DONE, TAKING_BACK, TAKEN_BACK = "begun", "done", "taking back", "taken back"
WORDS = frozenset({BEGUN, DONE, TAKING_BACK, TAKEN_BACK})


@dataclass
class Standing:
    """Of each step its last word, and with which inputs it was done."""

    last: dict[str, Entry] = field(default_factory=dict)

    @classmethod
    def of(cls, entries: Iterable[Entry]) -> "Standing":
        """The standing after these entries."""
        return cls({entry.step: entry for entry in entries if entry.event in WORDS})

    def word(self, name: str) -> str:
        """A step's last word; nothing where it has none, or was taken back."""
        entry = self.last.get(name)
        return "" if entry is None or entry.event == TAKEN_BACK else entry.event

    def inputs(self, name: str) -> Mapping[str, str]:
        """Fingerprints of the parts of the site with which a step was begun or done."""
        found = self.last[name].data.get("inputs", {}) if self.word(name) else {}
        return found if isinstance(found, Mapping) else {}

    def is_passed(self, place: Place, places: Sequence[Place]) -> bool:
        """True where a step was done, and one after it begun: that one's gates vouched for it."""
        later = places[places.index(place) + 1 :]
        return self.word(place.name) == DONE and any(self.word(each.name) for each in later)

    def point_of_no_return(self, places: Iterable[Place]) -> Entry | None:
        """The word by which the way back was given up, if it was."""
        found = (place for place in places if place.step.ends_the_way_back and self.word(place.name))
        return next((self.last[place.name] for place in found), None)

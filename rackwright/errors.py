"""The one way in which Rackwright says no."""


class Refusal(Exception):  # noqa: N818 - it is an answer, not a fault of the program
    """What is wrong, in one sentence, and what cures it, in another."""

    def __init__(self, what: str, cure: str) -> None:
        super().__init__(f"{what} {cure}")
        self.what = what
        self.cure = cure

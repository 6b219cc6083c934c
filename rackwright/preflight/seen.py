"""What a machine did not show."""


class NotSeen(Exception):  # noqa: N818 - it is an answer, not a fault of the program
    """What was looked for, and why it was not seen; a check that meets it ends."""

    def __init__(self, what: str, why: str) -> None:
        super().__init__(f"{what}: {why}")
        self.what = what
        self.why = why

"""What a component registers when it is laid by itself, through Pulumi's mocks."""

import asyncio
from collections.abc import Callable
from typing import Any

import pulumi
from pulumi.runtime.mocks import Mocks


class _Recorded(Mocks):
    def __init__(self):
        self.objects: dict[tuple[str, str], dict[str, Any]] = {}

    def new_resource(self, args):
        self.objects[args.typ.rpartition(":")[2], args.name] = args.inputs
        return f"{args.name}-id", args.inputs

    def call(self, args):
        raise AssertionError(args.token)


def registered(program: Callable[[], None]) -> dict[tuple[str, str], dict[str, Any]]:
    """Every object that the program registers, by its kind and name."""
    seen = _Recorded()
    asyncio.set_event_loop(asyncio.new_event_loop())  # Pulumi wants one, and whoever ran one before took it away
    pulumi.runtime.set_mocks(seen, "rackwright", "phase2")
    pulumi.runtime.test(program)()
    return seen.objects

"""Pulumi's door: the stack's name says which phase is laid."""

import sys
from pathlib import Path

import pulumi

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # Pulumi puts only this folder there

from rackwright.errors import Refusal
from stacks import given, phase1, phase2


def main() -> None:
    """Lay the phase that the stack is named for."""
    stack = pulumi.get_stack()
    if stack == "phase1":
        phase1.lay(given.read(phase=1))
    elif stack == "phase2":
        phase2.lay(given.read(phase=2))
    else:
        raise Refusal(f"The stack {stack} is none of ours.", "Name it for its phase: pulumi up -s phase1.")


try:
    main()
except Refusal as refusal:
    raise pulumi.RunError(f"{refusal.what}\n{refusal.cure}") from None

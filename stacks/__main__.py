"""Pulumi's door: the stack's name says which phase is laid."""

import sys
from pathlib import Path

import pulumi

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # Pulumi puts only this folder there

from rackwright.errors import Refusal
from stacks import given, phase1


def main() -> None:
    """Lay the phase that the stack is named for."""
    stack = pulumi.get_stack()
    if stack == "phase2":
        raise Refusal("Phase 2 is not built yet.", "Lay phase 1: pulumi up -s phase1.")
    if stack != "phase1":
        raise Refusal(f"The stack {stack} is none of ours.", "Name it for its phase: pulumi up -s phase1.")
    phase1.lay(given.read(phase=1))


try:
    main()
except Refusal as refusal:
    raise pulumi.RunError(f"{refusal.what}\n{refusal.cure}") from None

"""Whether machines and their cluster are what their site says, once everything was done: shown in, faults out."""

from rackwright.verify.ask import asked
from rackwright.verify.proof import Proof, proof

__all__ = ["Proof", "asked", "proof"]

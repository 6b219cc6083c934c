"""Rackwright: from a rack of bare-metal GPU servers to an inference platform."""

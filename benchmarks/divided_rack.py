"""A simulated rack whose prompts are computed apart: real pickers, real doors, simulators for the engines.

RACKWRIGHT_DOOR names llm-d-router's `pd-sidecar`, beside the programs that a rack needs anyway. Simulators say where a
cache would lie, and move none.
"""

import json
import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from simulated_rack import MODEL, ProgramMissingError, Rack, free_ports, wait_for

from components.llm_d.picking import configuration
from components.vllm.halves import ROLE, door_arguments
from rackwright.site.models import Model

VARIABLE = "RACKWRIGHT_DOOR"
LEAST_TOKENS = 400  # from which on a prompt is computed apart


def door_program() -> Path:
    """The door's program; ProgramMissingError where none is named."""
    path = os.environ.get(VARIABLE, "")
    if not path or not Path(path).is_file():
        raise ProgramMissingError(f"{VARIABLE} names no program: the real door was not run")
    return Path(path)


def divided(prefill: int, decode: int) -> Model:
    """The model with so many replicas of either half."""
    parts = {"replicas": prefill + decode, "disaggregation": {"prefill": prefill, "decode": decode}}
    return Model.model_validate(MODEL.model_dump() | {"phase2": parts})


@dataclass
class DividedRack(Rack):
    """Of its replicas, the first `prefill` compute prompts; before each other one stands a door."""

    prefill: int = 1
    engines: dict[int, int] = field(default_factory=dict)  # of a door's port, the port of the engine behind it
    doors: dict[int, subprocess.Popen[bytes]] = field(default_factory=dict)

    def __exit__(self, *_: object) -> None:
        for process in self.doors.values():
            process.kill()
            process.wait()
        super().__exit__()

    @property
    def computing(self) -> list[int]:
        """Ports of the replicas that compute prompts."""
        return self.ports[: self.prefill]

    @property
    def answering(self) -> list[int]:
        """Ports of the doors."""
        return self.ports[self.prefill :]

    @property
    def plain(self) -> list[int]:
        """Those that answer, as the model's name leads to them alone."""
        return self.answering

    def simulate(self, port: int) -> None:
        """Start a replica, with its door where it answers."""
        if port in self.computing:
            super().simulate(port)
            return
        self.engines[port] = free_ports(1)[0]
        super().simulate(self.engines[port])
        wait_for(f"http://127.0.0.1:{self.engines[port]}/health")
        words = [str(door_program()), *door_arguments(port, self.engines[port])]
        self.doors[port] = self.run(words, f"door-{port}", {})

    def list_replicas(self, ports: list[int]) -> None:
        """Tell the pickers who is there, and of which half."""
        halves = {port: "prefill" if port in self.computing else "decode" for port in ports}
        named = [
            {"name": f"replica-{port}", "namespace": "models", "address": "127.0.0.1", "port": str(port)}
            | {"labels": {ROLE: half}}
            for port, half in halves.items()
        ]
        fresh = self.folder / "endpoints.fresh"
        fresh.write_text(json.dumps({"endpoints": named}))
        fresh.replace(self.folder / "endpoints.yaml")

    def told(self) -> dict[str, Any]:
        """What the component tells the pickers of a divided model, and where the replicas are."""
        model = divided(len(self.computing), len(self.answering))
        told = configuration(model, self.routing, LEAST_TOKENS)
        found = {"path": str(self.folder / "endpoints.yaml"), "watchFile": True}
        told["plugins"] = [*told["plugins"], {"type": "file-discovery", "parameters": found}]
        return told | {"dataLayer": {"discovery": {"pluginRef": "file-discovery"}}}

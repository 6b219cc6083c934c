"""Pulumi's language host for Python, for an engine that was built here and so came without one.

The engine starts it, reads the port from its standard output and calls it over gRPC. The program runs inside this
process, with this interpreter, so what the program imports is what the project has installed.
"""

from __future__ import annotations

import asyncio
import contextvars
import logging
import os
import runpy
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from types import TracebackType
from typing import Any

import grpc  # type: ignore[import-untyped] # it ships no types
import pulumi
from google.protobuf.empty_pb2 import Empty  # type: ignore[import-untyped] # as above
from pulumi.runtime import proto, reset_options, run_in_stack, set_all_config
from pulumi.runtime.proto import language_pb2, plugin_pb2

from rackwright.errors import Refusal

# The engine's own limit for a message is 400 MiB; gRPC's default of 4 MiB is too small for a large stack's inputs.
CHANNEL = (("grpc.max_receive_message_length", 400 * 1024 * 1024), ("grpc.max_send_message_length", -1))
THREADS = 64


def program_path(request: language_pb2.RunRequest) -> Path:
    """The file or folder that holds the program."""
    return Path(request.info.program_directory or request.pwd) / (request.info.entry_point or ".")


def explain(error: BaseException, program: Path) -> str:
    """What a person is told: a refusal's two sentences, or where in the program it went wrong."""
    if isinstance(error, Refusal):
        return f"{error.what}\n{error.cure}"
    if isinstance(error, pulumi.RunError):
        return str(error)
    if isinstance(error, grpc.RpcError):
        return f"The engine answered: {error.details()}"
    start = _first_frame_of(error.__traceback__, program.parent)
    return "".join(traceback.format_exception(type(error), error, start)).rstrip()


def _first_frame_of(frames: TracebackType | None, folder: Path) -> TracebackType | None:
    """The traceback from the first line below a folder on; all of it if no line is."""
    frame = frames
    while frame is not None:
        if Path(frame.tb_frame.f_code.co_filename).is_relative_to(folder):
            return frame
        frame = frame.tb_next
    return frames


def execute(coroutine: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run to the end in a loop of its own, and leave no task behind that would complain."""
    loop = asyncio.new_event_loop()
    executor = ThreadPoolExecutor(max_workers=THREADS)
    loop.set_default_executor(executor)
    try:
        loop.run_until_complete(coroutine())
    finally:
        for task in asyncio.all_tasks(loop):
            task.cancel()
            with suppress(asyncio.CancelledError, Exception):
                loop.run_until_complete(task)
        executor.shutdown(wait=True)
        loop.close()
        sys.stdout.flush()
        sys.stderr.flush()


class LanguageHost(proto.LanguageRuntimeServicer):
    """Answers the engine; says plainly what it does not do. The names are gRPC's."""

    # ruff: noqa: N802, ARG002, D102 - gRPC gives the methods of this class their names, arguments and meaning

    def __init__(self, engine: str, stopping: threading.Event) -> None:
        self.engine = engine
        self.stopping = stopping

    def Handshake(self, request: language_pb2.LanguageHandshakeRequest, context: object) -> Any:
        self.engine = request.engine_address or self.engine
        return language_pb2.LanguageHandshakeResponse()

    def Run(self, request: language_pb2.RunRequest, context: object) -> language_pb2.RunResponse:
        return contextvars.copy_context().run(self._run, request)

    def _run(self, request: language_pb2.RunRequest) -> language_pb2.RunResponse:
        reset_options(
            project=request.project,
            stack=request.stack,
            root_directory=request.info.root_directory or None,
            parallel=request.parallel,
            engine_address=self.engine,
            monitor_address=request.monitor_address,
            preview=request.dryRun,
            organization=request.organization or "organization",
        )
        set_all_config(dict(request.config), list(request.configSecretKeys))
        program = program_path(request)
        os.chdir(request.pwd)
        sys.argv[:] = [str(program), *request.args]

        def run() -> None:
            runpy.run_path(str(program), run_name="__main__")

        try:
            execute(lambda: run_in_stack(run))
        except BaseException as error:  # noqa: BLE001 - whatever a program raises is the engine's to report
            if isinstance(error, grpc.RpcError) and error.code() == grpc.StatusCode.UNAVAILABLE:
                return language_pb2.RunResponse(bail=True)  # the engine is going; it knows why
            pulumi.log.error(explain(error, program))
            return language_pb2.RunResponse(bail=True)  # said already, so the engine need not say it again
        return language_pb2.RunResponse()

    def GetRequiredPlugins(self, request: object, context: object) -> Any:
        return language_pb2.GetRequiredPluginsResponse()  # the provider lies on PATH beside this host

    def GetRequiredPackages(self, request: object, context: object) -> Any:
        return language_pb2.GetRequiredPackagesResponse()

    def GetPluginInfo(self, request: Empty, context: object) -> Any:
        return plugin_pb2.PluginInfo(version=metadata.version("pulumi"))

    def About(self, request: object, context: object) -> Any:
        version = ".".join(str(part) for part in sys.version_info[:3])
        return language_pb2.AboutResponse(
            executable=sys.executable, version=version, metadata={"language host": "Rackwright's own"}
        )

    def GetProgramDependencies(self, request: object, context: object) -> Any:
        found = {package.metadata["Name"]: package.version for package in metadata.distributions()}
        dependencies = [language_pb2.DependencyInfo(name=name, version=found[name]) for name in sorted(found)]
        return language_pb2.GetProgramDependenciesResponse(dependencies=dependencies)

    def InstallDependencies(self, request: object, context: object) -> Iterator[Any]:
        said = f"Nothing is installed here: bin/rackwright makes the environment, and {sys.executable} is in use.\n"
        yield language_pb2.InstallDependenciesResponse(stdout=said.encode())

    def Cancel(self, request: Empty, context: object) -> Empty:
        self.stopping.set()
        return Empty()


def serve(engine: str) -> None:
    """Serve until the engine cancels, ends or is gone; only then return."""
    stopping = threading.Event()
    # The terminal sends Ctrl-C to the engine as well, which decides what happens to resources that are under way.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: stopping.set())
    # Pulumi's programming model leaves futures unobserved when a run fails; asyncio would report each of them.
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    server = grpc.server(ThreadPoolExecutor(max_workers=4), options=CHANNEL)
    proto.language_pb2_grpc.add_LanguageRuntimeServicer_to_server(LanguageHost(engine, stopping), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    print(port, flush=True)  # noqa: T201 - this is how the engine learns where to call
    parent = os.getppid()
    while not stopping.wait(timeout=1) and os.getppid() == parent:
        pass
    server.stop(grace=1).wait()


def main() -> None:
    """What `pulumi-language-python` runs; the engine's address is the last argument, after flags we do not need."""
    addresses = [argument for argument in sys.argv[1:] if not argument.startswith("-")]
    serve(addresses[-1] if addresses else "")
    os._exit(0)  # a program that hangs in a call to a dead engine must not keep this process


if __name__ == "__main__":
    main()

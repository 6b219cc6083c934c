"""`k3s`, played: reads its real configuration file, refuses what the real one refuses, and runs no container."""

import os
import signal
import sys
import threading
from collections.abc import Sequence
from importlib import resources

from rackwright.guests.stand_ins.k3s.program import answers, checks, serving, state
from rackwright.guests.stand_ins.k3s.program.certificates import certificates
from rackwright.guests.stand_ins.k3s.program.configuration import Value, configuration, listed
from rackwright.guests.stand_ins.k3s.program.place import WHO, Trouble, say


def main(arguments: Sequence[str]) -> int:
    """One command; 1 with a line where it could not be done."""
    try:
        return _command(list(arguments))
    except Trouble as trouble:
        say(f'level=fatal msg="{trouble}"')
        return 1


def version() -> str:
    """The version that it plays."""
    return resources.files(__package__).joinpath("version").read_text(encoding="utf-8").strip()


def _command(arguments: list[str]) -> int:
    match arguments:
        case ["--version" | "-v", *_]:
            answers.out(f"k3s version {version()} ({WHO})")
        case ["server" | "agent" as kind]:
            _run(kind)
        case ["kubectl", *rest]:
            answers.out(answers.kubectl(rest))
        case ["etcd-snapshot", *rest]:
            answers.out(answers.etcd_snapshot(rest, version()))
        case ["secrets-encrypt", "status", *_]:
            answers.out(answers.secrets_encrypt())
        case ["check-config"]:
            answers.out(answers.check_config())
        case _:
            raise Trouble(f"{' '.join(arguments) or 'no command'} is more than the {WHO} plays")
    return 0


def _run(kind: str) -> None:
    """Start as the real one does, and stay until told to end."""
    if checks.is_the_machine_itself() and os.geteuid() != 0:
        raise Trouble(f"{kind} must run as root")
    found = configuration(kind)
    token = checks.token(found)
    checks.check(found, kind)
    _show_name(f"k3s-{kind}")
    state.keep_containerd(found)
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    mine = state.node(found, version(), kind)
    if kind == "server":
        _serve(found, token)
        state.keep_node(mine)
    else:
        serving.join(str(found.get("server")), token.rpartition(":")[2], mine)
    serving.ready()
    say(f"{version()} {kind} is up and running; no container runs here")
    ended.wait()


def _serve(found: dict[str, Value], token: str) -> None:
    names = ["kubernetes", "localhost", "127.0.0.1", *listed(found.get("tls-san")), *listed(found.get("node-ip"))]
    certificates(list(dict.fromkeys(names)))
    state.keep_token(token)
    state.keep_server(found)
    state.keep_kubeconfig(found)
    server = serving.listening(
        int(os.environ.get("K3S_STAND_IN_PORT") or str(found.get("https-listen-port", answers.PORT)))
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()


def _show_name(name: str) -> None:
    """The name that ss and ps show, by which preflight knows the cluster's own programs."""
    with open("/proc/self/comm", "w", encoding="utf-8") as own:  # noqa: PTH123 - no Path of a process's own
        own.write(name)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

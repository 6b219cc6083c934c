"""One stack as a user runs it, natively: the real program, engine and provider, with a state and a home of its own."""

import os
import subprocess
from pathlib import Path

import yaml

from rackwright.sandbox.control_plane import ControlPlane
from rackwright.secrets import open_vault, throw_away
from rackwright.site.site import Site

ROOT = Path(__file__).resolve().parents[1]


class Native:
    """One stack as a user would run it, with a state and a home of its own."""

    def __init__(self, folder: Path, cluster: ControlPlane, toolbox, site: Site) -> None:
        self.folder, self.cluster, self.place = folder, cluster, f"inventory/{site.name}"
        self.said: list[str] = []
        vault = throw_away(site, folder / "vault")
        mine = {name: value for name, value in os.environ.items() if not name.startswith(("PULUMI", "KUBECONFIG"))}
        os.environ["ANSIBLE_VAULT_PASSWORD_FILE"] = str(vault.password_file)
        self.secrets = open_vault(folder / "vault")
        self.environment = mine | toolbox.environment() | {
            "ANSIBLE_VAULT_PASSWORD_FILE": str(vault.password_file),
            "PULUMI_BACKEND_URL": f"file://{folder / 'state'}",
            "PULUMI_HOME": str(folder / "home"),
            "PULUMI_CONFIG_PASSPHRASE": self.secrets["pulumi_passphrase"],
            "KUBECACHEDIR": str(folder / "kube"),
            "TMPDIR": str(folder / "temporary"),
        }  # fmt: skip
        for name in ("state", "home", "project", "temporary"):
            (folder / name).mkdir()
        (folder / "project" / "Pulumi.yaml").write_text("{name: rackwright, runtime: python}")
        self.run("stack", "init", "phase1", "--no-select", at=folder / "project")
        self.configure(kubeconfig=str(cluster.kubeconfig))

    @property
    def file(self) -> Path:
        return self.folder / "Pulumi.phase1.yaml"

    def configure(self, **changes: str) -> None:
        salt = yaml.safe_load((self.folder / "project" / "Pulumi.phase1.yaml").read_text())
        settings = {
            "site": self.place,
            "secrets": str(self.folder / "vault"),
            "charts": "rackwright/sandbox/charts",
            "kubeconfig": str(self.cluster.kubeconfig),
        } | changes
        config = {f"rackwright:{name}": value for name, value in settings.items()}
        self.file.write_text(yaml.safe_dump({**salt, "config": config}))

    def run(self, *arguments: str, at: Path = ROOT, succeeds: bool = True) -> str:
        done = subprocess.run(
            ["pulumi", *arguments, "--non-interactive"],
            cwd=at, env=self.environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        self.said.append(done.stdout + done.stderr)
        assert (done.returncode == 0) is succeeds, self.said[-1]
        return self.said[-1]

    def stack(self, *arguments: str, succeeds: bool = True) -> str:
        return self.run(*arguments, "-s", "phase1", "--config-file", str(self.file), succeeds=succeeds)

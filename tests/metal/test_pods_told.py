"""Static pods that run with older files than there are, by the role's own module; crictl is played."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROLE = Path(__file__).resolve().parents[2] / "playbooks/roles/kubernetes"


def untold(folder: Path, files: dict[str, list[str]], *containers: tuple[str, float]) -> list[str]:
    """What the module says where containers run that were made at some second."""
    said = {"containers": [{"metadata": {"name": name}, "createdAt": str(int(at * 1e9))} for name, at in containers]}
    (folder / "said").write_text(json.dumps(said))
    program = folder / "crictl"
    program.write_text(f"#!/bin/sh\n[ \"$*\" = 'ps --output json' ] && cat {folder}/said\n")
    program.chmod(0o755)
    done = subprocess.run(
        [sys.executable, ROLE / "library/pods_told.py"],
        input=json.dumps({"ANSIBLE_MODULE_ARGS": {"files": files}}),
        env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    return json.loads(done.stdout)["untold"]


def test_a_part_with_an_older_certificate_than_there_is_was_not_told(tmp_path):
    """Of a renewal that was cut off: it is not due any more, and without this the old certificate would run out."""
    certificate, none = tmp_path / "server.crt", str(tmp_path / "none")
    certificate.write_text("")
    os.utime(certificate, (1000.5, 1000.5))
    files = {"etcd": [str(certificate), none], "kube-scheduler": [none]}
    assert untold(tmp_path, files, ("etcd", 1000.4), ("kube-scheduler", 10)) == ["etcd"]
    assert untold(tmp_path, files, ("etcd", 1000.4), ("etcd", 1000.6)) == []
    assert untold(tmp_path, files) == []

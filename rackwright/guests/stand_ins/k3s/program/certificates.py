"""The authority and the certificates that k3s makes for itself, by openssl."""

import subprocess
from pathlib import Path

from rackwright.guests.stand_ins.k3s.program.place import at

FOLDER = "/var/lib/rancher/k3s/server/tls"
LEAF_DAYS, AUTHORITY_DAYS = 365, 3650
RENEWED_BEFORE_S = 120 * 24 * 3600
SUBJECTS = {"serving-kube-apiserver": "/CN=kube-apiserver", "client-admin": "/O=system:masters/CN=system:admin"}


def certificates(names: list[str]) -> None:
    """Make what is not there, and anew what ends soon, as k3s does when it starts."""
    folder = at(FOLDER)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    for authority in ("server-ca", "client-ca"):
        if not (folder / f"{authority}.crt").exists():
            _key(folder / f"{authority}.key")
            _openssl(
                *("req", "-x509", "-new", "-key", folder / f"{authority}.key", "-subj", f"/CN=k3s-{authority}"),
                *("-days", str(AUTHORITY_DAYS), "-out", folder / f"{authority}.crt"),
            )
    _leaf(folder, "serving-kube-apiserver", "server-ca", names)
    _leaf(folder, "client-admin", "client-ca", [])


def _leaf(folder: Path, name: str, authority: str, names: list[str]) -> None:
    crt, key = folder / f"{name}.crt", folder / f"{name}.key"
    if crt.exists() and _lasts(crt):
        return
    _key(key)
    kinds = ",".join(f"{'IP' if each.replace('.', '').isdigit() else 'DNS'}:{each}" for each in names)
    request, extra = folder / f"{name}.csr", folder / f"{name}.ext"
    extra.write_text(f"subjectAltName={kinds}\n" if kinds else "basicConstraints=CA:FALSE\n", encoding="utf-8")
    _openssl("req", "-new", "-key", key, "-subj", SUBJECTS[name], "-out", request)
    _openssl(
        *("x509", "-req", "-in", request, "-CA", folder / f"{authority}.crt", "-CAkey", folder / f"{authority}.key"),
        *("-days", str(LEAF_DAYS), "-extfile", extra, "-out", crt),
    )
    request.unlink()
    extra.unlink()


def _lasts(crt: Path) -> bool:
    told = subprocess.run(
        ["openssl", "x509", "-checkend", str(RENEWED_BEFORE_S), "-noout", "-in", str(crt)],  # noqa: S607 - on PATH
        capture_output=True,
        check=False,
    )
    return told.returncode == 0


def _key(path: Path) -> None:
    _openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", path)
    path.chmod(0o600)


def _openssl(*arguments: str | Path) -> None:
    subprocess.run(["openssl", *map(str, arguments)], capture_output=True, check=True)  # noqa: S607 - on PATH

"""Keys that sign repositories: reckoned as OpenPGP says, and compared by the role's own tasks."""

import base64
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from rackwright.errors import Refusal
from rackwright.metal import containerd, kubernetes_packages
from rackwright.metal.openpgp import fingerprints
from rackwright.metal.repositories import cuda, toolkit
from rackwright.site.catalog import Catalog
from rackwright.site.operating_system import OperatingSystem

ROOT = Path(__file__).resolve().parents[2]
TASKS = ROOT / "playbooks/roles/package_repository/tasks/key.yml"
CATALOG = Catalog.load()
SYSTEMS = [
    OperatingSystem(name=name, release=release)
    for name, release in (
        ("ubuntu", "22.04"), ("ubuntu", "24.04"), ("debian", "12"), ("debian", "13"), ("rocky", "9"), ("rhel", "9"),
    )
]  # fmt: skip
# GnuPG's own: made by it for nobody, and named by it.
FINGERPRINT = "F1CB04ECA7F5B714E44D2FAF29F13DEB81EBAC7A"
KEY = """\
-----BEGIN PGP PUBLIC KEY BLOCK-----

mDMEawztvBYJKwYBBAHaRw8BAQdA5qHbqGuY7UHCeHHQWjEYbolCtvYzAWToT/FA
b6BZKa20Jk5vYm9keSBlZDI1NTE5IDxlZDI1NTE5QHJhY2suaW50ZXJuYWw+iJAE
ExYIADgWIQTxywTsp/W3FORNL68p8T3rgeusegUCawztvAIbAwULCQgHAgYVCgkI
CwIEFgIDAQIeAQIXgAAKCRAp8T3rgeusehsBAQC4XUoVmGcGXxf334pbmB/oRnzx
mxqV0a3mdZYRbkj2ywD/cGfuejlFEFwbl3cHYEy9c2niXIGtf2uP+r7X3UOMPAc=
=jcKp
-----END PGP PUBLIC KEY BLOCK-----
"""


def plain() -> bytes:
    """The key without its armour."""
    lines = KEY.splitlines()[2:-2]
    return base64.b64decode("".join(lines))


def test_a_fingerprint_is_the_one_that_gnupg_says():
    assert fingerprints(KEY.encode()) == [FINGERPRINT]
    assert fingerprints(KEY.replace("\n", "\r\n").encode()) == [FINGERPRINT]
    assert fingerprints(KEY.replace("BLOCK-----\n", "BLOCK-----\nComment: by hand\n", 1).encode()) == [FINGERPRINT]
    assert fingerprints(plain()) == [FINGERPRINT]
    assert fingerprints(plain() * 2) == [FINGERPRINT] * 2


def with_new_header(data: bytes) -> bytes:
    """The first packet with a header of the newer form, its length in five bytes."""
    length = data[1]
    return bytes([0xC6, 0xFF]) + length.to_bytes(4, "big") + data[2:]


def test_both_forms_of_headers_are_read():
    assert fingerprints(with_new_header(plain())) == [FINGERPRINT]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"<html>404</html>",
        plain()[:20],
        KEY.replace("mDME", "m!!!", 1).encode(),
        bytes([0x99, 0, 1, 6]),  # of a later version, whose fingerprints are others
        bytes([0x9B]),
        bytes([0xC6, 0xE1]),
    ],
)
def test_what_is_no_key_is_refused(content):
    with pytest.raises(Refusal):
        fingerprints(content)


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda each: f"{each.name}-{each.release}")
def test_every_repository_of_others_names_who_signs_it(system):
    found = [cuda(system, CATALOG).fingerprints, toolkit(system, CATALOG).fingerprints]
    found += [containerd.repository(system, CATALOG)["fingerprints"]]
    found += [kubernetes_packages.repository(system, CATALOG)["fingerprints"]]
    assert all(len(each) == 1 and each[0] in CATALOG.signing_keys.values() for each in found)


def test_a_key_of_the_drivers_repository_ends_as_its_file_is_called():
    for system in SYSTEMS:
        repository = cuda(system, CATALOG)
        (fingerprint,) = repository.fingerprints
        assert fingerprint.endswith(Path(repository.key).stem.upper())


def test_every_pinned_key_is_some_repository_s():
    used = {
        fingerprint
        for system in SYSTEMS
        for source in (containerd.repository(system, CATALOG), kubernetes_packages.repository(system, CATALOG))
        for fingerprint in (*source["fingerprints"], *cuda(system, CATALOG).fingerprints)
    }
    used |= {fingerprint for system in SYSTEMS for fingerprint in toolkit(system, CATALOG).fingerprints}
    assert used == set(CATALOG.signing_keys.values())


def run(tmp_path, pinned):
    """The role's tasks, with a key that lies on this machine."""
    (tmp_path / "from.asc").write_text(KEY)
    source = {"key": f"file://{tmp_path}/from.asc"} | ({} if pinned is None else {"fingerprints": pinned})
    play = {
        "hosts": "localhost",
        "gather_facts": False,
        "vars": {"package_repository_source": source, "__package_repository_key": f"{tmp_path}/keys/some.asc"},
        "tasks": [{"name": "Key", "ansible.builtin.include_tasks": str(TASKS)}],
    }
    file = tmp_path / "play.yml"
    file.write_text(yaml.safe_dump([play]))
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
        "ANSIBLE_FILTER_PLUGINS": str(ROOT / "playbooks/filter_plugins"),
    }
    command = ["ansible-playbook", "--inventory=localhost,", "--connection=local", file]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, " ".join(done.stdout.split())


def test_the_pinned_key_is_believed_and_a_second_run_changes_nothing(tmp_path):
    code, words = run(tmp_path, ["0" * 40, FINGERPRINT])
    assert code == 0, words
    assert "changed=2" in words
    code, words = run(tmp_path, [FINGERPRINT])
    assert code == 0, words
    assert "changed=0" in words


def test_a_key_that_a_power_cut_left_empty_is_fetched_again(tmp_path):
    file = tmp_path / "keys/some.asc"
    file.parent.mkdir()
    file.write_text("")
    code, words = run(tmp_path, [FINGERPRINT])
    assert code == 0, words
    assert file.read_text() == KEY


def test_another_key_is_not_believed(tmp_path):
    code, words = run(tmp_path, ["0" * 40])
    assert code
    assert FINGERPRINT in words
    assert "nobody pinned" in words


def test_a_mirror_with_a_key_of_its_own_is_the_sites_matter(tmp_path):
    code, words = run(tmp_path, None)
    assert code == 0, words

"""A site as guests play it."""

from pathlib import Path

import pytest
import yaml

from rackwright.errors import Refusal
from rackwright.guests.site_copy import as_booted, lay_out
from rackwright.site.site import Site

INVENTORY = Path(__file__).resolve().parents[2] / "inventory"


@pytest.mark.parametrize("name", ["example", "lab", "workstation"])
def test_it_is_the_site_with_the_system_that_is_booted(name, tmp_path):
    lay_out(INVENTORY / name, tmp_path / "site")
    assert Site.load(tmp_path / "site") == as_booted(Site.load(INVENTORY / name))


def test_what_is_said_of_hosts_goes_along_and_secrets_do_not(tmp_path):
    source = tmp_path / "lab"
    (source / "group_vars" / "all").mkdir(parents=True)
    (source / "site.yml").write_text((INVENTORY / "lab" / "site.yml").read_text())
    for name in ("connection.yml", "secrets.yml"):
        (source / "group_vars" / "all" / name).write_text("{}\n")
    lay_out(source, tmp_path / "site")
    assert [file.name for file in (tmp_path / "site" / "group_vars" / "all").iterdir()] == ["connection.yml"]


def test_kubeconfigs_of_the_real_clusters_are_left_alone(tmp_path):
    lay_out(INVENTORY / "lab", tmp_path / "site", tmp_path / "kube")
    clusters = Site.load(tmp_path / "site").clusters
    assert clusters.phase1.kubeconfig == str(tmp_path / "kube" / "phase1")
    assert clusters.phase2.kubeconfig == str(tmp_path / "kube" / "phase2")


def test_a_site_that_needs_its_own_system_is_refused(tmp_path):
    source = tmp_path / "lab"
    source.mkdir()
    data = yaml.safe_load((INVENTORY / "lab" / "site.yml").read_text())
    data["gpu"]["driver_source"] = "distribution"
    (source / "site.yml").write_text(yaml.safe_dump(data))
    with pytest.raises(Refusal, match="Guests are Debian 13, and as such the site is refused"):
        lay_out(source, tmp_path / "site")

"""What k3s is told, by the sites that the checkout ships."""

from ipaddress import IPv4Network
from pathlib import Path

import pytest

from rackwright.metal import k3s
from rackwright.metal.links import vlan_name
from rackwright.metal.reserved import reserved
from rackwright.site.hosts import Vlan
from rackwright.site.object_storage import ObjectStorage
from rackwright.site.site import Site

INVENTORY = Path(__file__).resolve().parents[2] / "inventory"


@pytest.fixture(params=["example", "lab", "workstation"])
def site(request):
    return Site.load(INVENTORY / request.param)


def told(site, **changed):
    host = site.hosts_in(1)[0].model_copy(update=changed)
    system = host.operating_system or site.operating_system
    return k3s.server(
        host, system, site.clusters.phase1, site.networks, site=site.name, object_storage=site.object_storage
    )


def test_etcd_is_there_from_the_first_day_and_keeps_snapshots(site):
    found = told(site)
    assert found["cluster-init"] is True
    assert found["etcd-snapshot-schedule-cron"].split()[1] == "*/6"
    assert found["etcd-snapshot-retention"] == 28


def test_what_the_platform_brings_itself_is_off_and_the_load_balancer_is_not(site):
    assert told(site)["disable"] == ["traefik", "local-storage"]


def test_the_node_is_the_sites_host(site):
    host, found = site.hosts_in(1)[0], told(site)
    assert (found["node-name"], found["node-ip"]) == (host.name, str(host.address))
    assert str(site.clusters.phase1.api) in found["tls-san"]
    assert found["cluster-cidr"] == str(site.clusters.phase1.pods)
    assert found["service-cidr"] == str(site.clusters.phase1.services)


def test_pods_get_the_whole_mtu_by_the_link_that_bears_the_address():
    assert told(Site.load(INVENTORY / "lab"))["flannel-iface"] == "bond0"
    found = told(Site.load(INVENTORY / "workstation"))
    assert (found["flannel-iface"], found["flannel-backend"]) == ("lan0", "host-gw")


def test_a_tagged_node_network_is_found():
    host = Site.load(INVENTORY / "lab").hosts_in(1)[0]
    bond = host.bonds[0].model_copy(update={"network": None})
    tagged = host.model_copy(update={"bonds": (bond,), "vlans": (Vlan(id=120, over="bond0", network="nodes"),)})
    assert k3s.node_link(tagged) == vlan_name(tagged.vlans[0])


def test_nvidias_runtime_is_the_default_on_hosts_with_gpus_only(site):
    assert told(site)["default-runtime"] == "nvidia"
    assert "default-runtime" not in told(site, gpus=None)


def test_a_mig_layout_is_the_nodes_label(site):
    gpus = site.hosts_in(1)[0].gpus
    assert "node-label" not in told(site, gpus=gpus.model_copy(update={"mig": None}))
    assert told(site, gpus=gpus.model_copy(update={"mig": "all-1g.10gb"}))["node-label"] == [
        "nvidia.com/mig.config=all-1g.10gb"
    ]


def test_secrets_are_encrypted_and_the_kernel_is_not_changed_by_the_kubelet(site):
    found = told(site)
    assert found["secrets-encryption"] is True
    assert found["protect-kernel-defaults"] is True
    assert found["write-kubeconfig-mode"] == "0600"


def test_no_secret_stands_in_the_configuration(site):
    assert not {"token", "agent-token", "etcd-s3-access-key", "etcd-s3-secret-key", "datastore-endpoint"} & set(
        told(site)
    )


def test_snapshots_go_to_the_sites_store_where_it_has_one():
    found = told(Site.load(INVENTORY / "lab"))
    assert found["etcd-s3"] is True
    assert (found["etcd-s3-endpoint"], found["etcd-s3-folder"]) == ("s3.lab.internal", "lab/k3s")
    assert "etcd-s3-insecure" not in found
    assert "etcd-s3" not in told(Site.load(INVENTORY / "workstation"))


@pytest.mark.parametrize(
    ("endpoint", "wanted"),
    [
        ("http://10.0.0.9:9000", {"etcd-s3-endpoint": "10.0.0.9:9000", "etcd-s3-insecure": True}),
        ("https://s3.internal/", {"etcd-s3-endpoint": "s3.internal"}),
        ("https://internal/s3", {}),  # k3s takes no path
    ],
)
def test_a_store_is_told_as_host_and_port(endpoint, wanted):
    site = Site.load(INVENTORY / "workstation")
    found = told(site.model_copy(update={"object_storage": ObjectStorage(endpoint=endpoint, bucket="rackwright")}))
    assert {key: found.get(key) for key in wanted} == wanted
    assert ("etcd-s3" in found) is bool(wanted)


def test_pods_ask_the_sites_resolvers_where_it_names_any():
    assert told(Site.load(INVENTORY / "lab"))["resolv-conf"] == k3s.NAMES_FILE
    assert "resolv-conf" not in told(Site.load(INVENTORY / "workstation"))


def test_selinux_is_told_where_the_system_enforces_it(site):
    system = site.operating_system.model_copy(update={"name": "rocky", "release": "9"})
    assert told(site, operating_system=system)["selinux"] is True
    assert "selinux" not in told(site)


def test_an_agent_is_told_nothing_of_the_server_but_its_address(site):
    host, cluster = site.hosts_in(1)[0], site.clusters.phase1
    found = k3s.agent(host, site.operating_system, cluster, site.networks)
    assert found["server"] == f"https://{cluster.api}:6443"
    of_both = set(found) - {"server"}
    assert of_both < set(told(site))
    assert not {"cluster-init", "disable", "secrets-encryption", "etcd-s3"} & of_both


def test_a_large_host_keeps_what_the_rules_count_and_a_small_one_an_eighth(site):
    host = site.hosts_in(1)[0]
    assert reserved(host) == (2000, 3584, 512)
    small = reserved(host.model_copy(update={"cores": 4, "memory_gib": 4}))
    assert small == (500, 412, 100)
    assert small.memory_mib + small.eviction_mib == 512


def test_without_a_proxy_and_a_store_the_environment_is_empty():
    site = Site.load(INVENTORY / "workstation")
    assert k3s.environment(site.clusters.phase1, site.networks, "", None, None) == {}


def test_nothing_of_the_site_goes_through_the_proxy():
    site = Site.load(INVENTORY / "lab")
    found = k3s.environment(
        site.clusters.phase1, site.networks, "http://proxy:3128", site.object_storage, ("name", "key")
    )
    direct = found["NO_PROXY"].split(",")
    for each in (site.networks.nodes.cidr, site.networks.storage.cidr, IPv4Network("10.42.0.0/16")):
        assert str(each) in direct
    assert {".svc", ".cluster.local", "s3.lab.internal"} <= set(direct)
    assert found["HTTPS_PROXY"] == "http://proxy:3128"
    assert (found["AWS_ACCESS_KEY_ID"], found["AWS_SECRET_ACCESS_KEY"]) == ("name", "key")

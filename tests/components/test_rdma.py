"""The plugin that hands out ports which read GPUs' memory."""

import json

from components.rdma import CONFIGURATION, FILE, daemon, settings, told
from components.vllm.spread import stateful_set
from rackwright.site.node_marks import labels as marks
from rackwright.site.rdma_ports import PODS, RESOURCE, rdma_gbps, rdma_ports


def test_the_ports_are_those_of_the_storage_network(lab):
    hosts = lab.hosts_in(2, "inference")
    (offered,) = told(hosts)["configList"]
    assert offered["selectors"] == {"ifNames": ["fabric0"]}
    assert f"{offered['resourcePrefix']}/{offered['resourceName']}" == RESOURCE
    assert [rdma_gbps(host) for host in hosts] == [100] * 3
    assert all(port.name in offered["selectors"]["ifNames"] for host in hosts for port in rdma_ports(host))


def test_a_host_without_such_a_port_has_no_speed(lab):
    assert rdma_gbps(lab.hosts_in(2, "control")[0]) is None


def test_more_pods_may_have_a_port_than_there_are_gpus(lab):
    assert max(host.gpu_count for host in lab.hosts) <= PODS


def test_the_plugin_runs_where_models_are_served_and_finds_its_file(lab, catalog):
    manifest = daemon(catalog.images["rdma-shared-device-plugin"])
    pod = manifest["spec"]["template"]["spec"]
    for host in lab.hosts_in(2):
        may = pod["nodeSelector"].items() <= marks(host).items()
        assert may == ("inference" in host.roles), host.name
    engine = stateful_set(*lab.models_in(2)[0], image=catalog.images["vllm"], before=[], gpu=lab.gpu)
    assert pod["tolerations"] == engine["spec"]["template"]["spec"]["tolerations"]
    (plugin,) = pod["containers"]
    mounted = {each["name"]: each["mountPath"] for each in plugin["volumeMounts"]}
    assert mounted["configuration"] == CONFIGURATION
    assert mounted.keys() == {each["name"] for each in pod["volumes"]}
    assert json.loads(settings(lab.hosts)["data"][FILE]) == told(lab.hosts)

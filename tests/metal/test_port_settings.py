"""How ports are set, and which of them speak RoCE."""

import importlib.util
import json
from pathlib import Path

import pytest
from network_facts import PORTS, fresh, host

from rackwright.metal.ports import port_settings

PROGRAM = Path(__file__).resolve().parents[2] / "playbooks" / "roles" / "network" / "files" / "port_settings.py"


def test_only_fast_ports_of_the_storage_network_speak_roce():
    settings = port_settings(host(), fresh())
    assert [name for name, each in settings.items() if each["roce"]] == ["fabric0"]
    assert (settings["node0"]["queues"], settings["fabric0"]["queues"]) == (8, 32)


def test_a_card_of_another_maker_does_not():
    facts = fresh()
    facts["ports"] = {**PORTS, "enp27s0": {**PORTS["enp27s0"], "driver": "bnxt_en"}}
    assert not port_settings(host(), facts)["fabric0"]["roce"]


def test_a_bond_of_fast_ports_with_a_vlan_does():
    nics = [{"name": f"node{n}", "mac": f"b8:3f:d2:00:01:1{n}", "speed_gbps": 100} for n in (0, 1)]
    vlans = [{"id": 120, "over": "bond0", "network": "storage"}]
    settings = port_settings(host(nics=nics, vlans=vlans), fresh())
    assert all(each["roce"] for each in settings.values())


@pytest.fixture
def program(tmp_path, monkeypatch):
    """The program on a machine of files, with ethtool and dcb that only remember."""
    spec = importlib.util.spec_from_file_location("port_settings", PROGRAM)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.LINKS, module.INTERRUPTS, module.CONFIGURED = (tmp_path / name for name in ("net", "irq", "rdma_cm"))
    module.MODULES = tmp_path / "module"
    module.MODULES.mkdir()
    device = module.LINKS / "fabric0" / "device"
    (device / "msi_irqs").mkdir(parents=True)
    (device / "local_cpulist").write_text("4-7\n")
    for number in range(100, 106):
        (device / "msi_irqs" / str(number)).touch()
        (module.INTERRUPTS / str(number)).mkdir(parents=True)
        (module.INTERRUPTS / str(number) / "smp_affinity_list").write_text("0-63\n")
    for side in ("roce_np", "roce_rp"):
        (module.LINKS / "fabric0" / "ecn" / side / "enable").mkdir(parents=True)
        (module.LINKS / "fabric0" / "ecn" / side / "enable" / "3").write_text("0")
    (device / "infiniband" / "mlx5_2").mkdir(parents=True)
    (module.CONFIGURED / "mlx5_2" / "ports" / "1").mkdir(parents=True)
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "ethtool").write_text(ETHTOOL.format(state=tmp_path))
    (tools / "dcb").write_text(DCB.format(state=tmp_path))
    (tools / "modprobe").write_text(f"#!/bin/sh\nmkdir {module.MODULES}/$1\n")
    for tool in tools.iterdir():
        tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:/usr/bin:/bin")
    return module


ETHTOOL = """#!/bin/sh
case $1 in
-l) printf 'Channel parameters for %s:\\nPre-set maximums:\\nRX:\\t\\tn/a\\nTX:\\t\\tn/a\\nCombined:\\t63\\n' $2
    printf 'Current hardware settings:\\nRX:\\t\\tn/a\\nCombined:\\t%s\\n' $(cat {state}/combined || echo 63) ;;
-g) printf 'Ring parameters for %s:\\nPre-set maximums:\\nRX:\\t\\t4096\\nTX:\\t\\t8192\\n' $2
    printf 'Current hardware settings:\\nRX:\\t\\t%s\\n' $(cat {state}/rx || echo 1024)
    printf 'TX:\\t\\t%s\\n' $(cat {state}/tx || echo 1024) ;;
-[LG]) echo $4 > {state}/$3; echo "$@" >> {state}/said ;;
esac 2>/dev/null
"""
DCB = """#!/bin/sh
echo "dcb $*" >> {state}/said
case "$*" in
"dcbx show"*) cat {state}/dcbx 2>/dev/null ;;
"dcbx set"*) echo 'ieee host' > {state}/dcbx ;;
"pfc show"*) cat {state}/pfc 2>/dev/null || echo 'prio-pfc 0:off 1:off 2:off 3:off 4:off 5:off 6:off 7:off' ;;
"pfc set"*) echo 'prio-pfc 0:off 1:off 2:off 3:on 4:off 5:off 6:off 7:off' > {state}/pfc ;;
"-N app show"*) cat {state}/app 2>/dev/null ;;
"app replace"*) echo 'dscp-prio 26:3' > {state}/app ;;
esac
exit 0
"""
SETTINGS = {"queues": 32, "ring": 8192, "driver": "mlx5_core", "roce": True}


def run(program, *options):
    return program.main([*options, "fabric0", json.dumps(SETTINGS)])


def test_a_port_is_set_once_and_then_left_alone(program, tmp_path, capsys):
    assert run(program, "--check") == 1
    assert not (program.CONFIGURED / "mlx5_2" / "ports" / "1" / "default_roce_tos").exists(), "looking sets nothing"
    assert run(program) == 0
    assert (tmp_path / "combined").read_text() == "4\n", "no more queues than processors beside the card"
    assert ((tmp_path / "rx").read_text(), (tmp_path / "tx").read_text()) == ("4096\n", "8192\n")
    places = [(program.INTERRUPTS / str(number) / "smp_affinity_list").read_text() for number in range(100, 106)]
    assert places == ["4", "5", "6", "7", "4", "5"]
    for side in ("roce_np", "roce_rp"):
        assert (program.LINKS / "fabric0" / "ecn" / side / "enable" / "3").read_text() == "1"
    defaults = program.CONFIGURED / "mlx5_2" / "ports" / "1"
    assert (defaults / "default_roce_mode").read_text() == "RoCE v2"
    assert (defaults / "default_roce_tos").read_text() == "106"
    said = (tmp_path / "said").read_text()
    assert "dcb pfc set dev fabric0 prio-pfc all:off 3:on" in said
    assert "dcb app replace dev fabric0 dscp-prio 26:3" in said
    assert {path.name for path in program.MODULES.iterdir()} == {"rdma_ucm", "ib_umad"}
    (tmp_path / "said").unlink()
    capsys.readouterr()
    assert run(program, "--check") == 0
    assert run(program) == 0
    assert capsys.readouterr().out.strip() == ""
    assert "set" not in (tmp_path / "said").read_text()


def test_of_several_ports_each_is_looked_at(program, capsys):
    settings = json.dumps({**SETTINGS, "roce": False})
    assert program.main(["--check", "lan0", settings, "fabric0", settings]) == 1
    assert {line.split(":")[0] for line in capsys.readouterr().out.splitlines()} == {"lan0", "fabric0"}


def test_a_port_without_roce_is_not_asked_about_it(program, tmp_path):
    assert program.main(["fabric0", json.dumps({**SETTINGS, "roce": False})]) == 0
    assert "dcb" not in (tmp_path / "said").read_text()
    assert not list(program.MODULES.iterdir())

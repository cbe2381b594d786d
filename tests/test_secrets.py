"""Secrets never enter: random tokens in every source, and none of them in the snapshot."""

import json
import secrets
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lab import site
from lab.fleet.tools import ANSWERS
from lab.sshd_fleet import Host, running
from railwright.collect import runner
from railwright.collect.probe import probes, read_only_tools
from railwright.store.lookup import find
from tests.searching import everything

pytestmark = pytest.mark.fleet

MLXCONFIG = """
Device #1:
----------

Device type:        ConnectX7
Name:               MCX75310AAS-NEA_Ax
Description:        NVIDIA ConnectX-7 HHHL Adapter card; 400GbE
Device:             0000:18:00.0
# TOKEN
TOKEN: TOKEN

Configurations:                       Default              Current              Next Boot
        SRIOV_EN                      False(0)             True(1)              True(1)
        TOKEN                         TOKEN(1)             5                    6
        BOOT_PASSWORD_P1              TOKEN                TOKEN                TOKEN
        password=TOKEN
"""
NVIDIA = """<nvidia_smi_log>
	<driver_version>570.86.15</driver_version>
	<gpu id="00000000:19:00.0">
		<product_name>NVIDIA H100 80GB HBM3</product_name>
		<!-- TOKEN -->
		<TOKEN>TOKEN</TOKEN>
		<processes><process_info><process_name>/opt/train --api-key=TOKEN</process_name></process_info></processes>
	</gpu>
</nvidia_smi_log>
"""
DMESG = """[    0.000000] Command line: root=/dev/sda1 password=TOKEN TOKEN=TOKEN
[   12.100000] mlx5_core 0000:18:00.0: 252.048 Gb/s available PCIe bandwidth (16.0 GT/s PCIe x16 link)
[   13.100000] mlx5_core 0000:18:00.0: note TOKEN
[   14.100000] NVRM: Xid (PCI:0000:19:00): 79, pid=1234, name=python --token=TOKEN
[   15.100000] audit: argv TOKEN
"""
LLDP = json.dumps(
    {"lldp": [{"interface": [{
        "name": "enp24s0np0", "via": "LLDP", "rid": "1", "age": "0 day, 00:01:00",
        "chassis": [{
            "id": [{"type": "mac", "value": "5c:25:73:c0:01:00"}],
            "name": [{"value": "leaf01"}],
            "descr": [{"value": "SONiC Software Version: SONiC.202411.0 - HwSku: X - pw TOKEN"}],
            "TOKEN": [{"value": "TOKEN"}],
            "mgmt-ip": [{"value": "198.51.100.21"}]}],
        "port": [{
            "id": [{"type": "ifname", "value": "etp1a"}],
            "descr": [{"value": "to rack 4, call TOKEN"}],
            "ttl": [{"value": "120"}]}],
        "vlan": [{"vlan-id": "10", "value": "TOKEN"}],
        "unknown-tlvs": [{"unknown-tlv": [{"value": "TOKEN"}]}],
    }]}]}
)  # fmt: skip


class Planter:
    """Puts a fresh token wherever a text says TOKEN, and remembers them all."""

    def __init__(self) -> None:
        self.tokens: list[str] = []

    def token(self) -> str:
        self.tokens.append("TOK" + secrets.token_hex(12).upper())
        return self.tokens[-1]

    def plant(self, text: str) -> str:
        while "TOKEN" in text:
            text = text.replace("TOKEN", self.token(), 1)
        return text

    def tool(self, text: str) -> str:
        return f"#!/bin/sh\ncat <<'END_OF_ANSWER'\n{self.plant(text)}\nEND_OF_ANSWER\n"


def programs() -> dict[str, str]:
    """Every program that a probe runs, and where it lies."""
    return {name: tool.paths[0].lstrip("/") for name, tool in read_only_tools().items()}


# Probes whose tool fails with "Permission denied" on host 2; the GPUs' too, for they are in use.
FAILING = ("mlxconfig", "lldpctl", "nvidia-smi", "dmesg", "ethtool", "mlxlink", "ip", "lscpu")


def failing_host(plant: Planter, tree: Path) -> Host:
    """Tools that fail and say too much about it, on both outputs."""
    script = "#!/bin/sh\necho 'TOKEN: password TOKEN'\necho 'TOKEN: Permission denied: TOKEN' >&2\nexit 1\n"
    paths = [programs()[name] for name in FAILING] + ["usr/bin/ip"]
    return Host(2, tree=tree, extra=tuple((path, plant.plant(script), 0o755) for path in paths))


def chatty_host(plant: Planter, tree: Path) -> Host:
    """Every tool says what it should, and between its lines what nobody should hear."""
    answers = tree / "files" / ANSWERS
    extra = []
    for path in sorted(answers.rglob("*.out")):
        said = path.read_text()
        try:
            said = with_secrets(json.loads(said))
        except ValueError:
            lines = said.splitlines()
            for place in range(len(lines), -1, -max(1, len(lines) // 3)):
                lines.insert(place, plant.plant("note TOKEN: password=TOKEN # TOKEN"))
            said = "\n".join(lines) + "\n"
        extra.append((f"{ANSWERS}/{path.relative_to(answers)}", plant.plant(said), 0o644))
    for name, text in FILES.items():
        extra.append((name, plant.plant(text), 0o644))
    return Host(3, tree=tree, extra=tuple(extra))


def with_secrets(tree: Any) -> str:
    """A key that nobody asked for, in every object."""

    def walk(value: Any) -> Any:
        if isinstance(value, dict):
            return {**{key: walk(part) for key, part in value.items()}, "comment": "TOKEN"}
        return [walk(part) for part in value] if isinstance(value, list) else value

    return json.dumps(walk(tree))


FILES = {
    "etc/nccl.conf": "NCCL_IB_HCA=mlx5_0\n# TOKEN\nNCCL_API_KEY=TOKEN\nNCCL_X=TOKEN TOKEN\nS3=TOKEN\n",
    "etc/environment": "NCCL_DEBUG=INFO\nDB_PASSWORD=TOKEN\nUCX_AUTH_KEY=TOKEN\n",
    "etc/profile.d/site.sh": "export NCCL_SOCKET_IFNAME=eno1 # TOKEN\nexport AWS_SECRET=TOKEN\n",
    "etc/security/limits.d/90-x.conf": "* soft memlock unlimited # TOKEN\nTOKEN hard memlock TOKEN\n",
}


def test_no_secret_enters_a_snapshot(tmp_path: Path) -> None:
    site.make_root()
    plant = Planter()
    tree = site.make_trees(tmp_path / "trees", 1)[0]
    for name in ("infiniband/mlx5_0/node_desc", "infiniband/mlx5_0/note", "net/enp24s0np0/ifalias"):
        (tree / "sys/class" / name).write_text(plant.token())
    extra = (
        ("usr/bin/mlxconfig", plant.tool(MLXCONFIG), 0o755),
        ("usr/sbin/lldpctl", plant.tool(LLDP), 0o755),
        ("usr/bin/nvidia-smi", plant.tool(NVIDIA), 0o755),
        ("usr/bin/dmesg", plant.tool(DMESG), 0o755),
        ("etc/modprobe.d/secret.conf", plant.plant("# TOKEN\noptions x key=TOKEN\n"), 0o644),
    )
    host = Host(1, tree=tree, extra=extra)
    hosts = [host, failing_host(plant, tree), chatty_host(plant, tree)]
    with running("rws", hosts, tmp_path / "run") as fleet:
        # A process on the host with secrets in its arguments and environment.
        busy = subprocess.Popen(
            ["nsenter", "-t", str(fleet.init_pid(host)), "-p", "-m", "-r",
             "sh", "-c", "sleep 100", plant.token()],
            env={"SECRET": plant.token(), "PATH": "/usr/bin:/bin"},
        )  # fmt: skip
        done = fleet.run(
            [sys.executable, "-m", "railwright", "collect", "-w", "host[1-3]",
             "-F", str(fleet.ssh_config), "--store", str(tmp_path / "store"),
             "--state-from", "none"],
            capture_output=True, text=True,
        )  # fmt: skip
        busy.kill()
        busy.wait()
    snapshot = find(tmp_path / "store", None)
    with snapshot.database(evidence=True) as database:

        def one(query: str) -> tuple[object, ...]:
            return database.execute(query).fetchone()

        assert one("SELECT count(*) FROM target WHERE status = 'reached'") == (3,), done.stderr
        denied = one("SELECT count(DISTINCT probe) FROM probe_result WHERE status = 'denied'")
        # One probe each, but two of nvidia-smi, six of ethtool, five of ip (one asks for the route back).
        assert denied == (len(FAILING) + 1 + 5 + 4,)
        # What is asked for is there, however much is said around it.
        kept = "SELECT count(DISTINCT probe) FROM probe_result WHERE target = 'host3' AND "
        assert one(kept + "status = 'not understood'") == (0,)
        assert one(kept + "status = 'ok' AND dropped > 0")[0] > 20
        settings = "SELECT value FROM library_setting WHERE target = 'host3' AND name = "
        assert one(settings + "'NCCL_DEBUG'") == ("INFO",)
        # What was asked for is there ...
        assert one(
            "SELECT current_text FROM nic_parameter WHERE name = 'SRIOV_EN' AND target = 'host1'"
        ) == ("True(1)",)
        assert one(
            "SELECT system_name, system_description, port_description FROM lldp_neighbor "
            "WHERE target = 'host1'"
        ) == (
            "leaf01",
            "SONiC Software Version: SONiC.202411.0 - HwSku: X",
            None,
        )
        kernel = one("SELECT stdout FROM evidence WHERE probe = 'dmesg' AND target = 'host1'")[0]
        assert b"252.048 Gb/s available PCIe bandwidth" in kernel
        assert b"Xid (PCI:0000:19:00): 79" in kernel
        # ... what was dropped left a count ...
        dropped = dict(
            database.execute("SELECT probe, sum(dropped) FROM probe_result GROUP BY 1").fetchall()
        )
        assert all(dropped[probe] > 0 for probe in ("mlxconfig", "lldpctl", "nvidia_smi", "dmesg"))
    # ... and no token is anywhere, in any column of any table or any file.
    found = list(everything(snapshot))
    found.append((done.stdout + done.stderr).encode())
    assert len(plant.tokens) > 400
    assert [t for t in plant.tokens for part in found if t.encode() in part] == []


# As the four systems send them; that of Onyx is from a real switch.
DESCRIPTIONS = (
    "SONiC Software Version: SONiC.202411.0 - HwSku: Mellanox-SN5600-O128",
    "Cumulus Linux version 5.9.2 running on Mellanox SN4700",
    "Arista Networks EOS version 4.32.1F running on an Arista Networks DCS-7060X6-64PE",
    "Mellanox MSN2700,MLNX-OS,SWv3.6.5000-04",
)


@pytest.mark.parametrize("said", DESCRIPTIONS)
def test_a_switch_is_named_and_nothing_behind_it(said: str) -> None:
    """What a host hears from a known system is kept; what people wrote behind it is not."""
    answer = json.dumps({"descr": f"{said}, call 555 TOKEN"}).encode()
    kept, dropped = runner.keep_json(answer, probes()["lldpctl"].keep)
    assert (json.loads(kept)["descr"], dropped) == (said, 1)

"""Writes on a live host, over real ssh, and the log of them."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest

from lab.live import client
from lab.live.options import Options
from lab.live.place import Place

pytestmark = [pytest.mark.fleet, pytest.mark.timeout(300)]
HOST, NETDEV, BDF = "ember-h001", "enp24s0np0", "18:00.0"
LAB = [sys.executable, "-m", "lab"]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    here = Place(tmp_path_factory.mktemp("lab") / "live")
    options = Options(hosts=1, models=("hgx_h100",), seconds_to_boot=0.2)
    client.start(here, options, lambda _: None)
    yield here
    client.end(here)


def lab(place: Place, *words: str) -> "subprocess.CompletedProcess[str]":
    command = [*LAB, "--folder", str(place.folder), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def told(place: Place, command: str) -> str:
    done = lab(place, "run", "--", "ssh", HOST, command)
    assert done.returncode == 0, done.stderr
    return done.stdout


def log(place: Place) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (place.fleet / "writes.jsonl").read_text().splitlines()]


def test_a_tool_an_attribute_and_files(place: Place) -> None:
    before = len(log(place)) if (place.fleet / "writes.jsonl").exists() else 0
    ecn = f"/sys/class/net/{NETDEV}/ecn/roce_rp/enable/3"
    said = told(place, f"mlnx_qos -i {NETDEV} --pfc 0,0,0,0,1,0,0,0 >/dev/null; dcb -j pfc show dev {NETDEV}; "
                f"cat /sys/class/net/{NETDEV}/carrier_changes")  # fmt: skip
    assert '"prio_pfc":[false,false,false,false,true,false,false,false]' in said
    assert said.endswith("\n4\n")
    # A tool looks at what is newer than the state before it answers.
    told(place, f"echo 0 > {ecn}; echo 'NCCL_IB_TC=96' > /etc/nccl.conf; chmod 600 /etc/nccl.conf; "
         f"sysctl -q -w net.ipv4.conf.all.arp_ignore=1; mlnx_qos -i {NETDEV} > /dev/null")  # fmt: skip
    new = log(place)[before:]
    found = {tuple(one["argv"][:2]): one["changes"] for one in new if one["machine"] == HOST}
    changes = found["mlnx_qos", "-i"]
    on, off = [False] * 3 + [True] + [False] * 4, [False] * 4 + [True] + [False] * 3
    assert changes["mlx5_0 qos.pfc"] == [on, off]
    assert changes[f"{NETDEV} carrier_changes"] == [2, 4]
    assert found["write", ecn]["mlx5_0 qos.ecn_rp"] == [
        [True] * 8,
        [True] * 3 + [False] + [True] * 4,
    ]
    assert found["write", "/etc/nccl.conf"]["/etc/nccl.conf"][1] == "NCCL_IB_TC=96\n"
    assert found["write", "/proc/sys/net/ipv4/conf/all/arp_ignore"] == {
        "net.ipv4.conf.all.arp_ignore": ["0", "1"]
    }
    # The file is the host's own: neither its bytes nor its mode are the lab's to change.
    assert told(place, "cat /etc/nccl.conf; stat -c %a /etc/nccl.conf") == "NCCL_IB_TC=96\n600\n"


def test_what_cannot_be_written_stays(place: Place) -> None:
    path = f"/sys/class/net/{NETDEV}/ecn/roce_np/cnp_dscp"
    assert told(place, f"echo 64 > {path}; mlnx_qos -i {NETDEV} >/dev/null; cat {path}") == "48\n"
    done = lab(place, "run", "--", "ssh", HOST, f"echo 1 > /sys/class/net/{NETDEV}/address")
    assert "Read-only file system" in done.stderr
    done = lab(place, "run", "--", "ssh", HOST, "mlxconfig -d 99:00.0 -y set NUM_OF_VFS=1")
    assert (done.returncode, done.stdout) == (3, "-E- Failed to open the device\n")


def test_a_restart_loses_what_is_lost_and_misbehaviour_can_be_ordered(place: Place) -> None:
    told(place, f"mlxconfig -d {BDF} -y set CNP_DSCP_P1=40; ip link set {NETDEV} mtu 4200; "
         "echo net.core.rmem_max=33554432 > /etc/sysctl.d/90-site.conf")  # fmt: skip
    assert "mlx5_0" in lab(place, "misbehave", HOST, "link_stays_down", "--at", "mlx5_0").stdout
    boot = told(place, "cat /proc/sys/kernel/random/boot_id")
    lab(place, "run", "--", "ssh", HOST, "reboot")
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        done = lab(
            place,
            "run",
            "--",
            "ssh",
            "-o",
            "ConnectTimeout=2",
            HOST,
            "cat /proc/sys/kernel/random/boot_id",
        )
        if done.returncode == 0 and done.stdout != boot:
            break
        time.sleep(0.2)
    assert done.stdout != boot
    said = told(place, f"mlxconfig -d {BDF} query CNP_DSCP_P1 | tail -1; cat /sys/class/net/{NETDEV}/mtu "
                f"/sys/class/net/{NETDEV}/operstate /proc/sys/net/core/rmem_max")  # fmt: skip
    assert said.split() == ["CNP_DSCP_P1", "40", "9000", "down", "33554432"]
    assert "link_stays_down" in lab(place, "behave", HOST).stdout
    refused = lab(place, "misbehave", HOST, "sulk")
    assert (refused.returncode, "no misbehaviour is called sulk" in refused.stderr) == (1, True)


def test_a_machine_speaks_for_itself_only(place: Place) -> None:
    program = ("import json,socket; s=socket.socket(socket.AF_UNIX); s.connect('/run/railwright-lab.sock'); "
               "s.sendall(json.dumps({'do':'down'}).encode()+b'\\n'); print(s.makefile().read())")  # fmt: skip
    said = told(place, f'python3 -c "{program}"')
    assert "error" in said
    assert told(place, "true") == ""


def test_the_log_is_json_with_what_a_judge_needs(place: Place) -> None:
    for one in log(place):
        assert set(one) == {"time", "machine", "kind", "argv", "code", "changes", "note"}

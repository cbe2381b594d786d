"""A part is missing: nine like HGX hosts of which six have lost something, each something else.

No host may leave its group by what it lost: what the others have in the same place is expected.
"""

from collections.abc import Callable

import pytest

from lab.harness.fleets import Reading
from situations.by_text import (
    COMPUTE_NICS,
    HIGH_OR_WORSE,
    MEDIUM_OR_WORSE,
    NO_REFERENCE,
    RAILS,
    Fleet,
    Report,
    assert_nothing_at,
    assert_nothing_to_report,
    change,
    change_list,
    each,
    in_file,
    lost_gpu,
    lost_nic,
    mtu,
    naming,
    unanswered,
    without_files,
    without_nccl_file,
    without_rdma_device,
)

pytestmark = pytest.mark.root
Make = Callable[[dict[str, Reading]], Fleet]

HOSTS = [f"ember-h00{n}" for n in range(1, 10)]
NIC_LOST, GPU_LOST, RDMA_LOST, MODULE_LOST, GPU_AND_MTU, STUCK, *WHOLE = HOSTS
# Host 1's fourth NIC is 0000:5b:00.0 below port 0000:5a:00.0, its fourth GPU 0000:5c:00.0 below
# 0000:5a:01.0; both hang on root bus 0000:58. Any of these says where it was.
NIC_PLACE = ("5b:00.0", "5a:00.0", "0000:58")
GPU_PLACE = ("5c:00.0", "5a:01.0", "0000:58")
FOURTH = ("0000:5b:00.0", "mlx5_3", "enp91s0np0")
NO_INVENTORY = "no rule part-missing: a host that lost a part is alone in a kind of its own"
NO_DEVICE_RULE = "no rule rdma-device-missing: a network device alone counts as a living NIC"


def without_module(host: Reading) -> Reading:
    """mlx5_ib is not loaded: the network devices are up, and there is no RDMA at all."""
    unloaded = in_file(
        "/proc/modules",
        ("mlx5_ib 512000 0 - Live 0xffffffffc3000000 (OE)\n", ""),
        ("3 nvidia_peermem,rdma_ucm,mlx5_ib, ", "2 nvidia_peermem,rdma_ucm, "),
        ("8 rdma_cm,ib_ipoib,nvidia_peermem,iw_cm,rdma_ucm,ib_uverbs,mlx5_ib,ib_cm,",
         "7 rdma_cm,ib_ipoib,nvidia_peermem,iw_cm,rdma_ucm,ib_uverbs,ib_cm,"),
        ("1 mlx5_ib, Live", "0 - Live"),
    )  # fmt: skip
    host = unanswered(host, "infiniband", "absent", "/sys/class/infiniband is not there")
    host = change(host, "modules", unloaded)
    host = change(host, "modules", without_files("/sys/module/mlx5_ib/"))
    for probe in ("rdma_link", "rdma_dev", "rdma_statistic"):
        host = change_list(host, probe, lambda _: [])
    host = unanswered(host, "roce_tos", "absent")
    return unanswered(host, "ibv_devinfo", "absent", "no RDMA device")


@pytest.fixture(scope="module")
def sound(healthy: Callable[..., dict[str, Reading]]) -> dict[str, Reading]:
    return each(healthy("hgx_h100", 9), without_nccl_file)


@pytest.fixture(scope="module")
def healthy_fleet(lasting_fleet: Make, sound: dict[str, Reading]) -> Fleet:
    return lasting_fleet(sound)


@pytest.fixture(scope="module")
def broken_fleet(
    lasting_fleet: Make, sound: dict[str, Reading], healthy: Callable[..., dict[str, Reading]]
) -> Fleet:
    struck = {
        NIC_LOST: lost_nic(sound[NIC_LOST], *FOURTH),
        GPU_LOST: lost_gpu(sound[GPU_LOST], "0000:5c:00.0"),
        RDMA_LOST: without_rdma_device(sound[RDMA_LOST], "mlx5_3"),
        MODULE_LOST: without_module(sound[MODULE_LOST]),
        # On the bus, with its driver, and its firmware does not answer.
        STUCK: change(
            without_rdma_device(sound[STUCK], "mlx5_3"),
            "netdev",
            without_files("/enp91s0np0(/|$)"),
        ),
        # Here a file names the NICs for NCCL, the one of the lost GPU among them.
        GPU_AND_MTU: mtu(
            lost_gpu(healthy("hgx_h100", 9)[GPU_AND_MTU], "0000:5c:00.0"), "enp91s0np0", 1500
        ),
    }
    return lasting_fleet({**sound, **struck})


@pytest.fixture(scope="module")
def without_site(broken_fleet: Fleet) -> Report:
    return broken_fleet.check()


@pytest.fixture(scope="module")
def with_proposed_site(broken_fleet: Fleet, healthy_fleet: Fleet) -> Report:
    """The site file that `intent init` wrote while all nine were whole."""
    return broken_fleet.check(healthy_fleet.proposed_site())


@pytest.fixture(params=["without_site", "with_proposed_site"])
def report(request: pytest.FixtureRequest) -> Report:
    told: Report = request.getfixturevalue(request.param)
    return told


def test_nine_whole_hosts_have_nothing_to_report(healthy_fleet: Fleet) -> None:
    assert_nothing_to_report(healthy_fleet.check())


@pytest.mark.parametrize(("host", "place"), [(NIC_LOST, NIC_PLACE), (GPU_LOST, GPU_PLACE)])
def test_a_nic_or_gpu_off_the_bus(report: Report, host: str, place: tuple[str, ...]) -> None:
    assert report.severity("part-missing", host) in MEDIUM_OR_WORSE
    (finding,) = report.of("part-missing", host)
    assert any(name in naming(finding) for name in place)
    assert finding["state"] == "open"
    assert report.exit_status == 1


def test_a_nic_with_a_network_device_and_no_rdma_device(report: Report) -> None:
    found = [f for f in report.at(RDMA_LOST) if f["rule"] == "rdma-device-missing"]
    assert [f["severity"] in MEDIUM_OR_WORSE for f in found] == [True]
    assert "5b:00.0" in naming(found[0])
    assert report.exit_status == 1


def test_the_rdma_module_is_not_loaded(report: Report) -> None:
    found = [f for f in report.at(MODULE_LOST) if f["rule"] == "rdma-device-missing"]
    assert found
    assert all(f["severity"] in MEDIUM_OR_WORSE for f in found)
    assert report.exit_status == 1


def test_a_lost_gpu_does_not_take_its_nic_along(report: Report) -> None:
    # The NIC of the lost GPU is for compute as before: its MTU counts, and NCCL may name it.
    assert report.severity("part-missing", GPU_AND_MTU) in MEDIUM_OR_WORSE
    assert report.severity("rdma-mtu-small", f"{GPU_AND_MTU}:mlx5_3/1") in MEDIUM_OR_WORSE
    assert report.severity("nccl-hca-wrong", GPU_AND_MTU) is None


def test_whole_hosts_among_them_are_not_blamed(report: Report) -> None:
    for host in WHOLE:
        assert_nothing_at(report, host)


def test_a_card_that_gives_no_device_at_all(report: Report) -> None:
    rules = {f["rule"] for f in report.at(f"{STUCK}:0000:5b:00.0")}
    assert rules & {"nic-without-rdma", "rdma-device-missing"}
    assert report.exit_status == 1


def rails(fleet: Fleet, host: str) -> dict[str, str]:
    query = f"SELECT device, rail FROM port WHERE target = '{host}' AND role = 'compute'"
    lines = fleet.run("sql", query, "--format", "csv").stdout.splitlines()
    return dict(line.split(",") for line in lines if line.startswith("mlx5_"))


def test_rails_of_a_whole_host(healthy_fleet: Fleet) -> None:
    assert rails(healthy_fleet, NIC_LOST) == {f"mlx5_{n}": str(n) for n in range(8)}


def test_rails_keep_their_numbers(broken_fleet: Fleet) -> None:
    left = {f"mlx5_{n}": str(n) for n in range(8) if n != 3}
    assert rails(broken_fleet, NIC_LOST) == left


def test_one_host_on_its_first_visit_has_no_reference(
    fleet: Make, healthy: Callable[..., dict[str, Reading]]
) -> None:
    report = fleet(healthy("two_socket_4x400g", 1)).check()
    (name,) = healthy("two_socket_4x400g", 1)
    assert report.found() == []
    assert [(one["rule"], one["subject"]) for one in report.unknown] == [("part-missing", name)]
    assert NO_REFERENCE in (report.reason("part-missing", name) or "")
    assert report.exit_status == 3


def test_a_gpu_host_without_one_compute_port(
    fleet: Make, healthy: Callable[..., dict[str, Reading]]
) -> None:
    (host,) = healthy("hgx_h100", 1).values()
    for rail, netdev in enumerate(RAILS):
        host = lost_nic(host, COMPUTE_NICS[rail], f"mlx5_{rail}", netdev)
    report = fleet({"ember-h001": without_nccl_file(host)}).check()
    assert report.severity("compute-port-missing", "ember-h001") in HIGH_OR_WORSE
    assert report.exit_status == 1

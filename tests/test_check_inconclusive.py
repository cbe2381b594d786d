"""What `check` says of what it could not decide, and of a run in which it found nothing."""

from pathlib import Path

from typer.testing import CliRunner

from lab.harness.by_hand import answers, target, with_derived
from lab.harness.small_fabric import Rows, fabric
from railwright.cli import program
from railwright.reach.job import STATUSES
from railwright.report.unreached import UNREACHED, to_do


def text(folder: Path, rows: Rows, *words: str) -> tuple[str, int]:
    with_derived(folder, rows)
    done = CliRunner().invoke(program(), ["check", "--store", str(folder), *words])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.stdout, done.exit_code


def test_what_failed_in_the_same_way_is_one_line(tmp_path: Path) -> None:
    """One probe answered, as after the import of one file: all others were not asked."""
    rows: Rows = {
        "target": [target("gpu1")],
        "probe_result": answers("gpu1", "pci"),
        "pci_function": [{"target": "gpu1", "pci": "0000:18:00.0", "vendor": "15b3", "class": "020000", "driver": "mlx5_core", "parent": "", "physical_function": ""}],
    }  # fmt: skip
    said, status = text(tmp_path, rows)
    assert status == 3
    section = said.partition("\nInconclusive\n")[2].partition("\n\n")[0].splitlines()
    (line,) = [one for one in section if "not asked" in one]
    assert " probes) not asked: " in line
    assert max(map(len, section)) < 200


def test_several_probes_are_named_once_with_their_status(tmp_path: Path) -> None:
    rows = fabric()
    rows["probe_result"] += answers("gpu1", mlxconfig="denied", flint="denied")
    said, _ = text(tmp_path, rows, "--select", "firmware-update-not-active", "--select", "firmware-parameter-pending", "--on", "gpu1")  # fmt: skip
    assert "     1 host  flint, mlxconfig denied: every rule (4)  gpu1\n" in said


def test_an_unreachable_machine_comes_with_what_to_do(tmp_path: Path) -> None:
    rows: Rows = {"target": [target("gpu1", "refused")]}
    said, _ = text(tmp_path, rows, "--select", "port-down")
    assert (
        "     1 host  unreachable: ssh connection refused: port-down (1)  gpu1\n"
        "             start sshd there, or name its port; then railwright collect -w gpu1 --onto latest\n"
    ) in said
    # A switch is not named by -w.
    assert to_do("denied") == "set up the key of this account there; then collect again"


def test_every_way_to_be_unreachable_has_words() -> None:
    assert set(UNREACHED) == set(STATUSES) - {"answered"} | {"not collected"}


def test_a_clean_run_says_of_how_many(tmp_path: Path) -> None:
    rows = fabric()
    rows["target"].append(target("gpu3", "silent", out_of_service="Slurm: drained"))
    said, status = text(tmp_path, rows, "--select", "port-down")
    assert "\nNo findings on 2 hosts, 4 switches; 1 excluded.\n" in said
    assert status == 0
    narrowed = CliRunner().invoke(
        program(), ["check", "--store", str(tmp_path), "--select", "port-down", "-w", "gpu[1-2]"]
    )
    assert "\nNo findings on gpu[1-2].\n" in narrowed.stdout

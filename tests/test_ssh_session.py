"""The ssh session that a runner was started in: told only where it is known, to nobody's harm."""

import os
import subprocess
from pathlib import Path

import pytest

from railwright.collect import runner
from railwright.collect.probe import load_probe, probes
from railwright.collect.request import Request
from railwright.errors import ProbeError
from railwright.reach.bootstrap import REMOTE_COMMAND
from tests.reading import frames_of, output_of, start

HERE = "127.0.0.1 51234 127.0.0.1 22"
ASKED = Request("0badcafe", (probes()["ssh_session"], probes()["ssh_route"]), 30)


def _read(folder: Path, above: str, said: str | None) -> dict[str, tuple[str, bytes]]:
    """Status and answer of both probes, below a process of this name."""
    parent = folder / above
    parent.write_text('#!/bin/sh\n"$@"\n')  # the kernel calls a script's process by its file
    parent.chmod(0o755)
    environment = {name: value for name, value in os.environ.items() if name != "SSH_CONNECTION"}
    if said is not None:
        environment["SSH_CONNECTION"] = said
    argv = [str(parent), "/bin/sh", "-c", REMOTE_COMMAND]
    output, _ = output_of(start(ASKED, argv=argv, env=environment))
    found, reader = frames_of(output)
    assert reader.complete
    return {
        frame.probe: (str(frame.fields["status"]), frame.stdout)
        for frame in found
        if frame.probe.startswith("ssh_")
    }


@pytest.mark.parametrize("server", runner.SSH_SERVERS)
def test_below_an_ssh_server_it_tells_the_session(tmp_path: Path, server: str) -> None:
    got = _read(tmp_path, server, HERE)
    assert got["ssh_session"] == ("ok", f"SSH_CONNECTION={HERE}\n".encode())
    status, answer = got["ssh_route"]
    assert status == "ok"
    assert b'"dev":"lo"' in answer


@pytest.mark.parametrize(
    "said",
    [
        "",
        "-batch 1 /etc/shadow 22",
        "192.0.2.1;id 1 192.0.2.2 22",
        "192.0.2.1 1 192.0.2.2 22 more",
        "192.0.2.1 1 192.0.2.2",
        "192.0.2.1\n1 192.0.2.2 22",
        "UNKNOWN 65535 UNKNOWN 65535",
        "x" * 100_000,
        "0" * 100_000 + " 1 192.0.2.2 22",
    ],
)
def test_what_is_not_two_addresses_is_not_repeated(tmp_path: Path, said: str) -> None:
    got = _read(tmp_path, "sshd", said)
    assert got == {"ssh_session": ("failed", b""), "ssh_route": ("failed", b"")}


def test_a_variable_that_sudo_dropped_is_unknown(tmp_path: Path) -> None:
    got = _read(tmp_path, "sshd", None)
    assert {status for status, _ in got.values()} == {"failed"}


def test_a_client_with_a_zone_names_its_netdev_and_has_no_route(tmp_path: Path) -> None:
    got = _read(tmp_path, "sshd", "fe80::1%eno1 51234 fe80::2%eno1 22")
    assert got["ssh_session"][0] == "ok"
    assert got["ssh_route"] == ("skipped", b"")


def test_an_address_mapped_into_ipv6_is_asked_for_as_ipv4(tmp_path: Path) -> None:
    got = _read(tmp_path, "sshd", "::ffff:127.0.0.1 51234 ::ffff:127.0.0.1 22")
    assert b'"dst":"127.0.0.1","from":"127.0.0.1"' in got["ssh_route"][1]


def test_an_address_that_is_not_here_fails_and_does_not_guess(tmp_path: Path) -> None:
    got = _read(tmp_path, "sshd", "192.0.2.1 51234 203.0.113.99 22")
    assert got["ssh_session"][0] == "ok"
    assert got["ssh_route"][0] == "failed"


@pytest.mark.parametrize(
    ("below", "slurm", "said", "status"),
    [
        (False, False, "", "absent"),  # by hand on a console
        (False, True, HERE, "absent"),  # srun hands on what the login node had
        (False, False, HERE, "failed"),  # in tmux: of a session that may be over
        (None, False, "", "failed"),  # hidepid
        (None, True, HERE, "failed"),
        (True, True, HERE, "ok"),  # ssh out of a job
    ],
)
def test_only_what_is_known_is_said(
    monkeypatch: pytest.MonkeyPatch, below: bool | None, slurm: bool, said: str, status: str
) -> None:
    monkeypatch.setattr(runner, "is_below_ssh", lambda: (below, slurm))
    monkeypatch.setenv("SSH_CONNECTION", said)
    assert runner.ssh_session(runner.Machine("/"))[0] == status


def test_below_another_root_it_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "is_below_ssh", lambda: (True, False))
    monkeypatch.setenv("SSH_CONNECTION", HERE)
    assert runner.ssh_session(runner.Machine("/host"))[0] == "skipped"


def test_processes_above_are_walked_to_the_first(tmp_path: Path) -> None:
    """A name with blanks and parentheses is one name."""
    odd = tmp_path / "a) R 1 (b"
    odd.write_text('#!/bin/sh\n"$@"\n')
    odd.chmod(0o755)
    code = "from railwright.collect.runner import is_below_ssh; print(is_below_ssh())"
    words = [str(odd), "python3", "-c", code]
    said = subprocess.run(words, capture_output=True, text=True, check=True)
    assert said.stdout in ("(False, False)\n", "(True, False)\n")  # by whoever runs the tests


@pytest.mark.parametrize(
    "line",
    [
        'environment = ["HOME"]',
        'environment = ["SSH_CONNECTION", "SSH_AUTH_SOCK"]',
        'environment = ["SSH_CONNECTION"]\nfiles = ["/proc/cmdline"]',
    ],
)
def test_a_probe_takes_nothing_else_of_the_environment(line: str) -> None:
    text = (
        'title = "t"\neach = "ssh session"\nneeds_root = "no"\ntimeout_s = 5\ncap_bytes = 9\n'
        f'cost = "c"\ndisturbs = "nothing"\ndisturbs_source = "s"\n{line}\n'
    )
    with pytest.raises(ProbeError):
        load_probe("odd", text)

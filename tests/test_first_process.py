"""The first process of a lab's host: nothing may be written to this machine in its place."""

import os
import subprocess
import time
from pathlib import Path

import pytest

from lab import first_process

pytestmark = pytest.mark.root


def started(script: str, *words: str) -> "subprocess.Popen[bytes]":
    """As lab/sshd_fleet.py starts a host."""
    command = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--propagation", "private"]
    return subprocess.Popen([*command, "sh", "-c", script, "sh", *words])


def test_a_host_that_still_has_our_root_is_not_written_to() -> None:
    """Between its start and its chroot: `lab break` just after `lab reboot`."""
    host = started("sleep 60")
    try:
        while not Path(f"/proc/{host.pid}/task/{host.pid}/children").read_text():
            time.sleep(0.01)
        with pytest.raises(RuntimeError, match="no root of its own yet"):
            first_process.root_of(host)
        with pytest.raises(RuntimeError, match=r"no root of its own after 0\.2 s"):
            first_process.open_root(host, seconds=0.2)
    finally:
        first_process.end([host])


def test_a_host_s_own_root_is_waited_for_and_its_handle_stays(tmp_path: Path) -> None:
    (tmp_path / "marked").touch()
    host = started('mount --bind "$1" "$1"; sleep 0.5; '
                   'mkdir -p "$1/bin"; cp /bin/busybox "$1/bin/"; '
                   'exec chroot "$1" /bin/busybox sleep 60', str(tmp_path))  # fmt: skip
    handle = first_process.open_root(host)
    assert handle is not None
    try:
        assert Path(f"/proc/self/fd/{handle}/marked").exists()
        number = first_process.first_process(host)
        first_process.end([host])
        assert not Path(f"/proc/{number}").exists()
        assert Path(f"/proc/self/fd/{handle}/marked").exists()
    finally:
        os.close(handle)
    assert first_process.open_root(host) is None
    first_process.end([host])  # once more is no mistake

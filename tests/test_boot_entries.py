"""Probe boot_entries on a host: no automount is set off, no password and no id of a disk leaves."""

from pathlib import Path

import pytest

from lab.fleet import MODELS
from lab.fleet.render.boot import files as boot_files
from railwright.collect import runner
from railwright.collect.probe import probes

LINE = "systemd-1 {} autofs rw,relatime,fd=53 0 0\n"


@pytest.mark.parametrize(
    ("mounts", "allowed"),
    [
        ("/dev/sda1 /boot ext4 rw 0 0\n", True),
        (LINE.format("/boot"), False),
        (LINE.format("/boot/efi"), False),
        (LINE.format("/efi"), False),
        (LINE.format("/home"), True),
        ("x" * 3_000_000 + "\n" + LINE.format("/boot"), False),
        ("odd\n", True),
    ],
)
def test_boot_is_not_read_where_that_would_mount_it(
    tmp_path: Path, mounts: str, allowed: bool
) -> None:
    (tmp_path / "proc/1").mkdir(parents=True)
    (tmp_path / "proc/1/mounts").write_text(mounts)
    assert runner.boot_is_no_automount(runner.Machine(str(tmp_path))) is allowed


def _kept(name: str, path: str, text: str) -> bytes:
    data = f"F {len(text.encode())} {path}\n{text}\n".encode()
    answer = {"stdout": data, "dropped": 0, "status": "ok", "reason": ""}
    keep = probes()[name].request()["keep"]
    runner.apply_filter(answer, keep)
    assert answer["status"] == "ok", answer["reason"]
    again = dict(answer)
    runner.apply_filter(again, keep)
    assert again["stdout"] == answer["stdout"], "the collector would cut down what a host has cut"
    return bytes(answer["stdout"])


@pytest.mark.parametrize("model", MODELS)
def test_nothing_of_a_menu_leaves_that_is_not_needed(model: str) -> None:
    for path, text in boot_files(MODELS[model](1)).items():
        kept = _kept("boot_entries", path, text)
        for secret in (b"pbkdf2", b"0FAB", b"superusers", b"3f0c8f5e", b"root=", b"console="):
            assert secret not in kept, (path, secret)


ODD = {
    "line-ends": "menuentry 'A' {\r\nlinux /vmlinuz-1 ro\r\n}\r\n",
    "one-line": "menuentry 'A' { linux /vmlinuz-1 password=x; }\n",
    "double-quotes": 'menuentry "A$(id)" {\n}\n',
    "no-newline": "password_pbkdf2 root grub.pbkdf2.x",
    "password": "password root hunter2\n",
    "quiet-word": "set superusers=quiet\npassword quiet ro\n",
    "nested": "submenu 'A' {\nsubmenu 'B' {\nmenuentry 'C' {\nlinux /vmlinuz-1 ro pw=x\n}\n}\n}\n",
    "many-ids": "menuentry 'x' " + "--id 'a" * 90 + "\n",
    "blanks": " " * 70_000 + "{\n",
    "bytes": "menuentry '\udcff' {\n}\n".encode("utf-8", "replace").decode(),
}


@pytest.mark.parametrize("case", ODD)
@pytest.mark.timeout(20)
def test_odd_menus_are_cut_once_and_for_all(case: str) -> None:
    kept = _kept("boot_entries", "/boot/grub/grub.cfg", ODD[case])
    for secret in (b"hunter2", b"pbkdf2", b"pw=", b"password", b"$(id)"):
        assert secret not in kept


CALLS = {
    "token": 'ExecStart=/bin/sh -c "curl -H token:abc https://x; ethtool -A ens1 rx off"\n',
    "password": "ExecStart=/usr/sbin/ethtool --password=hunter2 -A ens1 rx off\n",
    "comment": "# ethtool -A hunter2 rx off\n",
    "ssid": 'network:\n  wifis:\n    wlan0:\n      access-points:\n        "hunter2":\n',
    "key": "[wireguard]\nprivate-key=hunter2\n[connection]\nid=hunter2\n",
    "marker": "# Ansible managed: /home/hunter2/x.j2\n",
    "long": "ExecStart=" + "/ " * 30_000 + "\n",
}


@pytest.mark.parametrize("case", CALLS)
@pytest.mark.timeout(20)
def test_owners_are_told_without_what_they_say_else(case: str) -> None:
    kept = _kept("config_owners", "/etc/systemd/system/x.service", CALLS[case])
    for secret in (b"hunter2", b"token", b"abc", b"https"):
        assert secret not in kept

"""Harmful text in every field and in every output; secrets that no filter held back."""

import json
from functools import partial

from tests.hostile.far_end import FarEnd, hello_fields, scenario
from tests.hostile.honest import LEAF, OWN_PORT, honest_answers, lldp
from tests.hostile.words import CODES, HIDDEN, NASTY, SECRET, SHELL, interface

texts = partial(scenario, "texts", look=True)


def say_everywhere(far: FarEnd, text: str) -> None:
    """One text in every field that holds text, on both outputs, and between the frames."""
    far.complain(text.encode("utf-8", "replace"))
    far.raw(f"login: {text}\n".encode("utf-8", "replace"))
    far.hello(**{name: text for name, value in hello_fields().items() if isinstance(value, str)})
    for probe, instance, status in (
        ("lscpu", "", "failed"),
        ("ethtool", interface(text), "denied"),
        ("ethtool_fec", interface(text), "ok"),
        ("dmesg", "", text),
        ("mlxlink", text, "denied"),  # about no card: nobody asked for that
    ):
        far.answer(probe, b"{}", instance=instance, reason=text, status=status, argv=[text] * 3)
    far.raw(f"{text}\n".encode("utf-8", "replace") * 3)
    far.end()


SAID = "lscpu ethtool ethtool_fec dmesg"


@texts("reached", SAID)
def escapes(far: FarEnd) -> None:
    say_everywhere(far, NASTY)


@texts("reached", SAID)
def codes(far: FarEnd) -> None:
    say_everywhere(far, CODES)


@texts("reached", SAID)
def hidden(far: FarEnd) -> None:
    say_everywhere(far, HIDDEN)


@texts("reached", SAID)
def every_control(far: FarEnd) -> None:
    say_everywhere(far, "".join(map(chr, (*range(1, 32), *range(127, 160)))))


@texts("reached", SAID)
def surrogate(far: FarEnd) -> None:
    say_everywhere(far, "\ud800x\udfff")


@texts("reached", SAID)
def nul(far: FarEnd) -> None:
    say_everywhere(far, "a\0b")


@texts("reached", SAID)
def shell_words(far: FarEnd) -> None:
    say_everywhere(far, " ".join(SHELL))


@texts("reached", SAID)
def only_blanks(far: FarEnd) -> None:
    say_everywhere(far, "\n\n \u00a0\u3000\n")


@texts("reached", "lscpu ethtool")
def half_of_a_pair_at_the_cut(far: FarEnd) -> None:
    """Cut at 512 characters, and every one of them half of something."""
    text = "\ud83d" * 2000 + "\ude00"
    far.hello(hostname=text, os=text)
    far.answer("lscpu", b"{}", reason=text, argv=[text] * 15)
    far.answer("ethtool", b"{}", instance=text[:32], reason=text, argv=[text] * 15)
    far.end()


@texts("reached", "lldpctl")
def lldp_shell(far: FarEnd) -> None:
    """Names that our filter would not have let out of an honest host (attack.md, A1)."""
    far.hello(hostname=SHELL[0])
    heard = [json.loads(lldp(f"eth{n}", text, id=text))["lldp"][0] for n, text in enumerate(SHELL)]
    far.answer("lldpctl", json.dumps({"lldp": heard}).encode())
    far.end()


def files(entries: dict[str, bytes]) -> bytes:
    """The answer of a file probe."""
    return b"".join(
        b"F %d %s\n%s\n" % (len(body), path.encode("utf-8", "replace"), body)
        for path, body in entries.items()
    )


@texts("reached", "infiniband netdev pci sysctl")
def shell_paths(far: FarEnd) -> None:
    """Devices, interfaces and functions whose names are commands and escape codes."""
    far.hello()
    for probe, folder in (
        ("infiniband", "/sys/class/infiniband/{}/ports/1/state"),
        ("netdev", "/sys/class/net/{}/mtu"),
        ("pci", "/sys/bus/pci/devices/{}/vendor"),
        ("sysctl", "/proc/sys/{}"),
    ):
        names = [*SHELL, CODES, HIDDEN, "\udcff", NASTY, ".", "..", ""]
        paths = [folder.format(name.replace("\n", " ")) for name in names]
        far.answer(probe, files(dict.fromkeys(paths, b"4: ACTIVE\n")))
    far.end()


@texts("reached")
def claims_an_honest_name(far: FarEnd) -> None:
    """Its rows bear the operator's name, whatever it says."""
    far.hello(hostname="paper", node="paper", boot_id="same")
    far.end()


@texts("reached", "lldpctl infiniband netdev")
def claims_the_leaf(far: FarEnd) -> None:
    """A host that calls itself as a neighbor of others is called (attack.md, A6)."""
    known = {probe: output for probe, _, output in honest_answers()}
    far.hello(hostname=LEAF)
    far.answer("lldpctl", lldp(OWN_PORT, "paper", id=OWN_PORT))
    for probe in ("infiniband", "netdev"):
        far.answer(probe, known[probe])
    far.end()


SECRET_LINES = {
    "dmesg": f"mlx5_core 0000:18:00.0: {SECRET}\n[    1.0] Kernel command line: password={SECRET}\n",
    "cmdline": f"BOOT_IMAGE=/vmlinuz root={SECRET} password={SECRET} iommu=pt\n",
    "lspci": f"00:00.0 Host bridge\n\t\t[SN] Serial number: {SECRET}\n\t\t[V0] Vendor: {SECRET}\n",
    "mlxconfig": f"Device #1:\n{SECRET} 1\nUEFI_HII_PASSWORD {SECRET}\n         EVIL_KEY  {SECRET}\n",
    "mlxlink": f"Operational Info\n{SECRET} : {SECRET}\n",
    "flint": f"PSID: MT_0000000838\nSecret: {SECRET}\n",
    "ethtool": f"Settings for eth0:\n\t{SECRET}: {SECRET}\n",
    "nvidia_smi": f"{SECRET}, {SECRET}\n",
    "rdma_system": f"netns shared\n{SECRET}\n",
    "services": f"Id=lldpd.service\nActiveState=active\nExecStart={SECRET}\nSubState={SECRET}\n\n"
    f"Id={SECRET}.service\nActiveState=active\n",
}
SECRET_FILES = {
    "libraries": (
        "/etc/nccl.conf",
        f"NCCL_API_KEY={SECRET}\nEVIL={SECRET}\nNCCL_DEBUG=$({SECRET})\n",
    ),
    "limits": ("/etc/security/limits.conf", f"# {SECRET}\n* soft nofile {SECRET}\n"),
    "boot_modules": (
        "/etc/modprobe.d/a.conf",
        f"install evil /bin/{SECRET}\noptions x key={SECRET}\n",
    ),
    "modules": ("/etc/shadow", f"root:{SECRET}:1::::::\n"),
    "roce_tos": ("/etc/shadow", f"root:{SECRET}:1::::::\n"),
    "pci_errors": ("/etc/shadow", f"root:{SECRET}:1::::::\n"),
}
SECRET_JSON = "lldpctl lscpu ip_address ip_route rdma_link devlink_info dcb_pfc"


@texts("reached", " ".join([*SECRET_LINES, *SECRET_FILES, SECRET_JSON]))
def secrets(far: FarEnd) -> None:
    """Answers as no honest runner sends them: its allow-lists would have dropped all this."""
    far.hello()
    for probe, text in SECRET_LINES.items():
        far.answer(probe, text.encode(), stderr=f"{SECRET}: Permission denied\n".encode())
    for probe, (path, text) in SECRET_FILES.items():
        far.answer(probe, files({path: text.encode()}))
    for probe in SECRET_JSON.split():
        far.answer(
            probe, json.dumps([{"evil": SECRET, "descr": SECRET, "secret": [SECRET]}]).encode()
        )
    far.end()


@texts("reached", " ".join(SECRET_LINES))
def secrets_of_failures(far: FarEnd) -> None:
    """The same behind a status that no parser looks at."""
    far.hello()
    for number, (probe, text) in enumerate(SECRET_LINES.items()):
        status = ("failed", "cut", "timeout", "denied", "absent")[number % 5]
        far.answer(probe, text.encode(), stderr=text.encode(), status=status, exit_code=1)
    far.end()

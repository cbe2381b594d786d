"""What lspci says in other words from release to release."""

from lab.fleet.model import Function

# pciutils 3.7 against 3.8, both seen in public listings.
_BEFORE_3_8 = (
    ("LTR- 10BitTagReq- OBFF", "LTR- OBFF"),
    ("LTR+ 10BitTagReq- OBFF", "LTR+ OBFF"),
    (
        "Compliance Preset/De-emphasis: -6dB de-emphasis, 0dB preshoot",
        "Compliance De-emphasis: -6dB",
    ),
    ("IOVCap:\tMigration- 10BitTagReq- Interrupt", "IOVCap:\tMigration-, Interrupt"),
    ("ARIHierarchy+ 10BitTagReq-", "ARIHierarchy+"),
    ("SlotPowerLimit 75W", "SlotPowerLimit 75.000W"),
    ("PowerLimit 75W", "PowerLimit 75.000W"),
)
_BEFORE_3_6 = (("\n\t\t\tTrErr-", ", TrErr-"),)  # link state and its flags on one line
_SINCE_3_11 = (
    (", MSI 00\n", ", IntMsgNum 0\n"),
    ("FLReset+ SlotPowerLimit 75W", "FLReset+ SlotPowerLimit 75W TEE-IO-"),
)


def release(version: str) -> tuple[int, int]:
    """3.7.0 -> (3, 7)."""
    major, minor = version.split(".")[:2]
    return int(major), int(minor)


def changed(text: str, pciutils: tuple[int, int]) -> str:
    """A paragraph in the words of one release."""
    for wanted, pairs in (
        (pciutils < (3, 8), _BEFORE_3_8),
        (pciutils < (3, 6), _BEFORE_3_6),
        (pciutils >= (3, 11), _SINCE_3_11),
    ):
        for old, new in pairs if wanted else ():
            text = text.replace(old, new)
    return text


def link_words(function: Function, pciutils: tuple[int, int]) -> tuple[str, str]:
    """What follows speed and width in LnkSta: 3.6 to 3.8 judge every link, later ones only the
    ends below it (a port may well be able to do more than the card in its slot), older ones none.
    """
    if pciutils < (3, 6):
        return "", ""
    fine = " (ok)" if pciutils < (3, 9) else ""
    silent = pciutils >= (3, 9) and function.kind in ("root_port", "downstream", "to_pci")
    less = "" if silent else " (downgraded)"
    return (
        fine if function.generation >= function.generation_max else less,
        fine if function.width >= function.width_max else less,
    )

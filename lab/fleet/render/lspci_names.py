"""What lspci calls vendors, devices and classes."""

from functools import lru_cache
from pathlib import Path


@lru_cache(maxsize=1)
def names() -> dict[tuple[str, ...], str]:
    """(class, 0604), (class, 0604, 00), (15b3,) and (15b3, 1021) -> name."""
    text = (Path(__file__).parent / "lspci_names.txt").read_text("utf-8")
    found = {}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        words = line.split(" ")
        count = 1
        while len(words[count]) == (2 if count == 2 else 4) and _is_code(words[count]):
            count += 1
        found[tuple(words[:count])] = " ".join(words[count:])
    return found


def _is_code(word: str) -> bool:
    return all(letter in "0123456789abcdef" for letter in word)


def device_name(vendor: int, device: int) -> str:
    """Vendor and device."""
    known = names()
    maker = known.get((f"{vendor:04x}",), f"Device {vendor:04x}")
    return f"{maker} {known.get((f'{vendor:04x}', f'{device:04x}'), f'Device {device:04x}')}"

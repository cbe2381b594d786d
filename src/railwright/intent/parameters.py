"""What a site may want of firmware parameters: values that the parameter can have."""

import re

from railwright.hardware import FirmwareParameter, firmware_parameters

NAME = re.compile(r"([A-Z][A-Z0-9_]{1,63}?)(?:_P[1-9][0-9]?)?(?:\[\d+\])?")
_PRINTED = re.compile(r"(.+)\((\d+)\)")  # as mlxconfig prints it: ETH(2)


def known(parameter: str) -> FirmwareParameter | None:
    """What the adapter tools know of LINK_TYPE_P1; None of a name that is newer than our list."""
    found = NAME.fullmatch(parameter)
    return firmware_parameters().get(found[1]) if found else None


def _code(value: str | int | bool) -> int | None:
    """The number of a value; None of a label."""
    text = str(value)
    if text.lower() in ("true", "false"):
        return int(text.lower() == "true")
    return int(text) if re.fullmatch(r"\d+", text) else None


def values_of(parameter: FirmwareParameter) -> str:
    """0 BALANCED, 1 AGGRESSIVE; '' where nothing is known of them."""
    if parameter.labels:
        return ", ".join(f"{code} {label}" for code, label in sorted(parameter.labels.items()))
    if parameter.least is None and parameter.most is None:
        return ""
    most = "" if parameter.most is None else f" to {parameter.most}"
    return f"{parameter.least or 0}{most or ' and more'}"


def can_be(parameter: FirmwareParameter, value: str | int | bool) -> bool:
    """Whether a parameter can have a value, as far as is known."""
    code = _code(value)
    if code is not None:
        if parameter.labels:
            return code in parameter.labels
        above = parameter.least is None or code >= parameter.least
        return above and (parameter.most is None or code <= parameter.most)
    if not parameter.labels:
        return True  # texts of what is no enumeration are compared as they are printed
    printed = _PRINTED.fullmatch(str(value))
    label = printed[1] if printed else str(value)
    codes = {name: number for number, name in parameter.labels.items()}
    return label in codes and (printed is None or codes[label] == int(printed[2]))

"""What NCCL's warnings say: the kinds that we know, with their numbers and addresses.

The words of a failed completion changed twice: `with error 12, ... vendor err 129 (Recv)`, then
`with status=12 ... vendor err 129 (Recv)`, then `with status=IBV_WC_RETRY_EXC_ERR(12) ...
vendor_err=129 req_type=Recv`. All of them glue `remoteGids` to its value.
"""

import re

from railwright.parse.base import Value, gid_of

_PEER = re.compile(r"Got completion from peer ([^ <\n]{1,100})")
_STATUS = re.compile(
    r"with (?:status=([A-Z][A-Z_]{2,40})\(([0-9]{1,4})\)|(?:status=|error )([0-9]{1,4})\b)"
)
_VENDOR = re.compile(r"vendor[ _]err[ =]([0-9]{1,10})\b")
_REQUEST = re.compile(r"(?:req_type=|vendor err [0-9]{1,10} \()([A-Za-z]{1,20})")
_LOCAL = re.compile(r"localGid ([0-9a-fA-F:.]{2,45})(?!\S)")
_REMOTE = re.compile(r"remoteGids? ?([0-9a-fA-F:.]{2,45})(?!\S)")
_HCA = re.compile(r"\bhca ([A-Za-z0-9_.+-]{1,100})")
_CALL = re.compile(r"Call to ([A-Za-z0-9_]{1,60}) (?:failed|returned|timed out)")
_EVENT = re.compile(
    r"NET/IB ?: ([A-Za-z0-9_.+-]{1,100}):[0-9]{1,3} (?:Got async event|async fatal)"
)

COLUMNS = (
    *("kind", "peer", "status", "status_code", "vendor_error", "request_type"),
    *("local_gid", "remote_gid", "device", "call"),
)


def _first(pattern: re.Pattern[str], text: str) -> str | None:
    found = pattern.search(text)
    return found[1] if found else None


def _number(text: str | None) -> int | None:
    return int(text) if text else None


def _kind(text: str) -> str:
    if _PEER.search(text):
        return "completion"
    if _EVENT.search(text):
        return "async_event"
    call = _first(_CALL, text)
    if call is not None:
        return "verbs_call" if call.startswith("ibv_") else "call"
    if "Cuda failure" in text or "CUDA failure" in text:
        return "cuda"
    return "other"


def error_values(text: str) -> dict[str, Value]:
    """The columns of nccl_error that a warning's text gives."""
    status = _STATUS.search(text)
    kind = _kind(text)
    values: dict[str, Value] = dict.fromkeys(COLUMNS)
    values["kind"] = kind
    if kind == "completion":
        values |= {
            "peer": _first(_PEER, text),
            "status": status[1] if status else None,
            "status_code": _number(status[2] or status[3]) if status else None,
            "vendor_error": _number(_first(_VENDOR, text)),
            "request_type": _first(_REQUEST, text),
            "local_gid": gid_of(_first(_LOCAL, text)),
            "remote_gid": gid_of(_first(_REMOTE, text)),
            "device": _first(_HCA, text),
        }
    elif kind == "async_event":
        values["device"] = _first(_EVENT, text)
    elif kind in ("verbs_call", "call"):
        values["call"] = _first(_CALL, text)
    return values

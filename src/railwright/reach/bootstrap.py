"""The only string that ever reaches a shell on another machine.

It finds a Python and hands it standard input: a decimal length, a newline, and that many bytes of
zlib-compressed program. Everything else travels behind the program, as data.

The login shell there may be sh, bash, tcsh or fish, so between the outer quotes there is no single
quote, backslash, exclamation mark or newline: each means something else to one of them. `-I`
keeps the user's environment and folders out, `-S` the site's start-up code, `-B` keeps Python from
writing `__pycache__`.
"""

START = "import sys,zlib;b=sys.stdin.buffer;p=b.read(int(b.readline()));exec(zlib.decompress(p))"

# RHEL 8 and 9 keep the system's own interpreter outside PATH; the rest are versioned names.
INTERPRETERS = (
    "python3",
    "/usr/libexec/platform-python",
    *(f"python3.{minor}" for minor in range(6, 15)),
)

NO_PYTHON = "railwright: no python3 here"
NO_PYTHON_EXIT = 127

_SCRIPT = (
    "for p in " + " ".join(INTERPRETERS) + "; do "
    'if command -v "$p" >/dev/null 2>&1; then '
    f'exec "$p" -I -S -B -c "{START}"; fi; done; '
    f'echo "{NO_PYTHON}" >&2; exit {NO_PYTHON_EXIT}'
)

REMOTE_COMMAND = f"exec /bin/sh -c '{_SCRIPT}'"


def feed(program: bytes, request: bytes) -> bytes:
    """Standard input for REMOTE_COMMAND: the compressed program, then its request."""
    return b"%d\n%s%d\n%s" % (len(program), program, len(request), request)

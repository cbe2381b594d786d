"""Railwright's runner: reads one machine and changes nothing on it.

One file, standard library only, Python 3.6 and later. It is sent to a machine over the connection
the operator already has, runs from memory and leaves nothing behind. It also works alone:

    railwright runner > rw.py        # on any machine with Railwright
    python3 -I rw.py > gpu017.rw     # on the host (--root /host in a privileged pod)
    railwright import gpu017.rw      # back on the first machine

(-I: else Python would import what lies beside the file, in /tmp perhaps, before its own library.)

What it does: runs the probes of its request (argument lists and file globs, never a shell string),
one after another on one card and on at most four cards at a time, at nice 19, and prints each
answer as a frame of short text lines as soon as it has it:

    @rw1 RUN SEQUENCE PROBE LENGTH CRC32 LINES
    @rw1 RUN SEQUENCE + BASE64(zlib(payload))     LINES times

The last frame is named `.end` and says how many there were. Lines stay under 1,000 bytes because
Slurm's `srun --label` cuts longer ones. It ends when its standard input or output dies.

What it never does: write, make or remove a file, load a module, mount, start `mst`, open a
connection. (The mstflint tools keep lock files in /tmp/mstflint_lockfiles: they are run only where
that folder is not there yet or root's own.) `json` and `argparse` stay out: Debian's and Ubuntu's python3-minimal lack json.
"""

import sys

if __name__ == "__main__" and not sys.flags.isolated:
    del sys.path[0]  # the folder of this file: what lies there is not ours to import

import ast
import base64
import errno
import glob
import os
import re
import select
import signal
import stat
import subprocess
import time
import zlib

MARK = "@rw1"
LINE = 840  # base64 characters per line; with the head it stays under srun's 1,024
PATH = ("/usr/bin", "/usr/sbin", "/bin", "/sbin", "/usr/local/bin", "/usr/local/sbin")
ENVIRONMENT = {"PATH": ":".join(PATH), "LC_ALL": "C", "LANG": "C", "HOME": "/", "TERM": "dumb"}
STDERR_CAP = 2048
FILE_CAP = 65536  # of one file, where a probe names no other: sysfs pages have 4 KB
LANES = 4  # cards at a time: "at most 4" keeps the PCIe and firmware load of a probe run small
MELLANOX = "0x15b3"
# What a tool may say about its failure and we may repeat; a probe adds its tool's own.
ERRORS = (
    r"No such file or directory",
    r"No such device( or address)?",
    r"Permission denied",
    r"Operation not (permitted|supported)",
    r"Connection refused",
    r"Device or resource busy",
    r"Input/output error",
    r"Connection timed out",
    r"Cannot allocate memory",
)
# Where the mstflint tools keep a lock file per function, without a look at who made the folder: a
# link in somebody else's would make root create a file anywhere (mstflint 4.21, mtcr_ul).
LOCK_FOLDER = "/tmp/mstflint_lockfiles"
BUSY_WAIT = 2.0  # seconds before the one retry of a device that says it is busy
# Programs that give somebody a session over ssh, as the kernel calls their processes.
SSH_SERVERS = ("sshd", "sshd-session", "sshd-auth", "dropbear", "tailscaled", "teleport")
# What sshd says of its session (OpenSSH session.c): client, its port, server, its port.
SSH_ADDRESS = r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}|[0-9a-fA-F:.]{0,39}:[0-9a-fA-F:.]{0,39}"
SSH_CONNECTION = re.compile(
    r"(?P<client>%s)(?P<zone>%%[A-Za-z0-9_.-]{1,15})? [0-9]{1,5} "
    r"(?P<server>%s)(?:%%[A-Za-z0-9_.-]{1,15})? [0-9]{1,5}" % (SSH_ADDRESS, SSH_ADDRESS))

REQUEST = None  # `railwright runner` writes the standard request here


# ---- what the machine is -------------------------------------------------------------------


class Machine(object):
    """The file system to read: `/`, or the host's root mounted somewhere in a pod."""

    def __init__(self, root):
        self.root = root.rstrip("/")

    def path(self, path):
        return self.root + path

    def read(self, path, cap=FILE_CAP):
        """At most `cap` bytes of a regular file; OSError as it comes. Never blocks on a FIFO."""
        handle = os.open(self.path(path), os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
        try:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise OSError(errno.EINVAL, "not a regular file")
            parts, left = [], cap + 1
            while left > 0:
                part = os.read(handle, left)
                if not part:
                    break
                parts.append(part)
                left -= len(part)
            return b"".join(parts)
        finally:
            os.close(handle)

    def text(self, path):
        """A file's stripped text, or '' where it cannot be read."""
        try:
            return self.read(path).decode("utf-8", "replace").strip()
        except OSError:
            return ""

    def names(self, folder):
        try:
            return sorted(os.listdir(self.path(folder)))
        except OSError:
            return []

    def link_name(self, path):
        """The last part of a symbolic link's target, or ''."""
        try:
            return os.path.basename(os.readlink(self.path(path)))
        except OSError:
            return ""

    def glob(self, pattern):
        found = glob.glob(self.path(pattern))
        return sorted(path[len(self.root):] for path in found)

    def tool(self, names):
        """The first of these programs that is installed, as an absolute path; else ''."""
        for name in names:
            for folder in PATH:
                path = os.path.join(folder, name)
                if os.path.isfile(self.path(path)):
                    return path
        return ""

    def lock_folder_is_safe(self):
        """Whether the lock folder of mstflint is not there, or is root's and nobody else's."""
        try:
            found = os.lstat(self.path(LOCK_FOLDER))
        except OSError:
            return True
        return stat.S_ISDIR(found.st_mode) and found.st_uid == 0 and not found.st_mode & 0o022

    def may_run(self, path):
        return os.access(self.path(path), os.X_OK)


def is_nic(machine, address):
    """A physical function of a network adapter of the vendor whose tools we call."""
    base = "/sys/bus/pci/devices/" + address
    return (
        machine.text(base + "/vendor") == MELLANOX
        and machine.text(base + "/class").startswith("0x02")
        and not os.path.lexists(machine.path(base + "/physfn"))
    )


def cards(machine):
    """PCI address -> the card (ASIC) it belongs to.

    Functions of one slot share an ASIC; so do the two halves of a Socket Direct card, which only
    the system image GUID tells.
    """
    owner = {}
    for device in machine.names("/sys/class/infiniband"):
        base = "/sys/class/infiniband/" + device
        guid = machine.text(base + "/sys_image_guid")
        address = machine.link_name(base + "/device")
        if guid.strip("0:") and address:
            owner[address] = guid
            owner.setdefault(address.rsplit(".", 1)[0], guid)
    return owner


def card_of(owner, address):
    slot = address.rsplit(".", 1)[0]
    return owner.get(address) or owner.get(slot) or slot


def instances(machine, each):
    """What a probe runs once per: (instance, placeholders, card)."""
    owner = cards(machine)
    if each == "host":
        return [("", {}, "")]
    if each == "nic":
        found = [a for a in machine.names("/sys/bus/pci/devices") if is_nic(machine, a)]
        return [(a, {"pci": a}, card_of(owner, a)) for a in found]
    if each == "netdev":
        found = []
        for name in machine.names("/sys/class/net"):
            address = machine.link_name("/sys/class/net/" + name + "/device")
            if address:
                found.append((name, {"netdev": name}, card_of(owner, address)))
        return found
    found = []
    for device in machine.names("/sys/class/infiniband"):
        base = "/sys/class/infiniband/" + device
        card = card_of(owner, machine.link_name(base + "/device") or device)
        for port in machine.names(base + "/ports"):
            found.append((device + "/" + port, {"device": device, "port": port}, card))
    return found


def is_below_ssh():
    """What the processes above this one are: (whether one is an ssh server, or None where that
    cannot be told; whether Slurm started us)."""
    process, slurm = os.getppid(), False
    for _ in range(64):
        if process == 0:
            return False, slurm
        try:
            # The name is in parentheses and may hold any character: the last one ends it.
            with open("/proc/%d/stat" % process, "rb") as file:
                head, _, rest = file.read(4096).decode("utf-8", "replace").rpartition(")")
            name, process = head.partition("(")[2], int(rest.split()[1])
        except (OSError, ValueError, IndexError):
            return None, slurm  # hidden from us (hidepid), or it has ended
        if name in SSH_SERVERS:
            return True, slurm
        slurm = slurm or name == "slurmstepd"
    return None, slurm


def ssh_session(machine):
    """The session this runner was started in: (status, reason, SSH_CONNECTION, its addresses).

    The variable alone proves nothing: srun hands on that of the login node, tmux that of a session
    which is over. So an ssh server must be among the processes above. No variable proves nothing
    either: sudo drops it.
    """
    if machine.root:
        return "skipped", "read below --root: whose session this is cannot be told", "", {}
    said = os.environ.get("SSH_CONNECTION", "")
    below, slurm = is_below_ssh()
    if below is False and (slurm or not said):
        return "absent", "not started over ssh", "", {}
    if not below:
        return "failed", "cannot tell whether this was started over ssh", "", {}
    if not said:
        return "failed", "over ssh, but SSH_CONNECTION was dropped, as sudo does", "", {}
    said = re.sub(r"(^|(?<= ))::ffff:(?=[0-9.]+ )", "", said[:200], flags=re.IGNORECASE)
    found = SSH_CONNECTION.match(said)
    if not found or found.group(0) != said:
        return "failed", "SSH_CONNECTION is not two addresses with their ports", "", {}
    return "ok", "", said, found.groupdict()


def gpu_is_initialised(machine):
    """Whether nvidia-smi would find the GPUs already initialised, told without opening one.

    The persistence daemon keeps them so; else every open /dev/nvidia* holds a reference on the
    module beyond those of the modules that sit on it.
    """
    if not os.path.isdir(machine.path("/sys/module/nvidia")):
        return False
    for process in machine.names("/proc"):
        if process.isdigit() and machine.text("/proc/" + process + "/comm") == "nvidia-persiste":
            return True  # the kernel cuts the name of nvidia-persistenced at 15 characters
    references = machine.text("/sys/module/nvidia/refcnt")
    return references.isdigit() and int(references) > len(
        machine.names("/sys/module/nvidia/holders")
    )


def boot_is_no_automount(machine):
    """Whether /boot can be read without having it mounted by that."""
    for path in ("/proc/1/mounts", "/proc/self/mounts"):  # the first may be hidden from us
        try:
            said = machine.read(path, 1 << 22)
        except OSError:
            continue
        mounted = [line.split(b" ") for line in said.splitlines()]
        return not any(
            words[1].startswith((b"/boot", b"/efi")) and words[2] == b"autofs"
            for words in mounted if len(words) > 2)
    return True


CONDITIONS = {
    "gpu_is_initialised": gpu_is_initialised, "boot_is_no_automount": boot_is_no_automount,
}


# ---- what is kept --------------------------------------------------------------------------


def first_match(patterns, line):
    """Those behind the first that matches are never compiled, which costs more than to search."""
    for pattern in patterns:
        match = re.search(pattern, line)
        if match:
            return match
    return None


def kept_part(found):
    """What matched; of a pattern with named groups only these, by name, `-` where one is not there."""
    names = found.re.groupindex
    if not names:
        return found.group(0)
    return b" ".join(found.group(name) or b"-" for name in sorted(names))


def keep_lines(data, rule):
    """Of each line the part that matches one of the patterns; a line without one is dropped."""
    patterns = [pattern.encode() for pattern in rule["patterns"]]
    kept, dropped = [], 0
    for line in data.splitlines():
        found = first_match(patterns, line)
        if found:
            kept.append(kept_part(found) + b"\n")
        elif line.strip():
            dropped += 1
    if kept and found and not data.endswith(b"\n"):
        kept[-1] = kept[-1][:-1]  # a last line that may be cut stays so
    return b"".join(kept), dropped


def keep_rows(data, rule):
    """Rows whose name is on the list, and lines that match one of the patterns."""
    names = set(rule["names"])
    patterns = [re.compile(pattern.encode()) for pattern in rule["patterns"]]
    row = re.compile(rb"^[*]?\s*(?:RO\s+)?([A-Z][A-Za-z0-9_]*?)(?:_[PM]\d+)?(?:\[[0-9.]+\])?\s")
    kept, dropped = [], 0
    for line in data.splitlines(True):
        found = row.match(line)
        known = found and found.group(1).decode() in names
        if known or not line.strip() or any(pattern.search(line) for pattern in patterns):
            kept.append(line)
        else:
            dropped += 1
    return b"".join(kept), dropped


def keep_json(data, rule):
    """Of a JSON answer only the named keys; of named texts only the part that matches.

    A key that only matches `key_pattern` is kept unless its value is a text.
    """
    import json  # python3-minimal has none: then the answer cannot be filtered and is not kept

    dropped = [0]
    keys = set(rule["keys"])
    texts = {key: re.compile(pattern) for key, pattern in rule.get("texts", {}).items()}

    pattern = re.compile(rule.get("key_pattern", "(?!)"))

    def known(name, part):
        return name in keys or (pattern.match(name) and not isinstance(part, str))

    def walk(value, key):
        if isinstance(value, dict):
            kept = {name: part for name, part in value.items() if known(name, part)}
            dropped[0] += len(value) - len(kept)
            return {
                name: walk(part, key if name == "value" else name) for name, part in kept.items()
            }
        if isinstance(value, list):
            return [walk(part, key) for part in value]
        if isinstance(value, str) and key in texts:
            found = texts[key].match(value)
            if not found or found.group(0) != value:
                dropped[0] += 1
            return found.group(0) if found else "[dropped]"
        return value

    # lldpd of 2017 escaped a newline as backslash, newline: no JSON until it is put right.
    text = data.decode("utf-8", "replace").replace("\\\n", "\\n")
    kept = walk(json.loads(text, strict=False), "")
    return json.dumps(kept, separators=(",", ":")).encode(), dropped[0]


def keep_in_files(data, rule, keep):
    """A filter over the content of each file of a file probe; links and errors stay as they are."""
    head = re.compile(rb"([FCLES]) ([0-9]+)(?:\+[0-9]+)? ([^\n]*)\n")
    if not head.match(data):  # not a stream: one file's text that somebody saved
        return keep(data, rule)
    parts, at, dropped = [], 0, 0
    while at < len(data):
        found = head.match(data, at)
        end = found.end() + int(found.group(2))
        body = data[found.end():end]
        if found.group(1) in b"FC":
            # Only a file that was cut may end in the middle of a line.
            whole = b"\n" if found.group(1) == b"F" and body else b""
            body, gone = keep(body.rstrip(b"\n") + whole, rule)
            dropped += gone
        parts += [found.group(1), b" %d " % len(body), found.group(3), b"\n", body, b"\n"]
        at = end + 1
    return b"".join(parts), dropped


def keep_file_lines(data, rule):
    """keep_lines in each file."""
    return keep_in_files(data, rule, keep_lines)


def keep_words(data, rule):
    """In each file only the words that match one of the patterns, on one line."""
    def one_line(body, rule):
        kept, dropped = keep_lines(b"\n".join(body.split()), rule)
        return b" ".join(kept.split()) + b"\n", dropped

    return keep_in_files(data, rule, one_line)


def keep_lines_and_words(data, rule):
    """keep_lines in each file; of a line that begins with one of `heads` the words that match.

    A word may stand in quotes, or before a semicolon. What looks like the id of a machine or of a file
    system is shortened, in names of files too: it tells entries apart and is no secret any more.
    """
    heads = [re.compile(pattern.encode()) for pattern in rule["heads"]]
    words = [re.compile(pattern.encode()) for pattern in rule["words"]]

    def by_line(body, rule):
        kept, dropped = [], 0
        for line in body.splitlines(True):
            head = next(filter(None, (pattern.match(line) for pattern in heads)), None)
            if not head:
                part, gone = keep_lines(line, rule)
                kept.append(part)
                dropped += gone
                continue
            said = [word.strip(b"\"';") for word in line[head.end():].split()]
            some = [word for word in said if any(pattern.search(word) for pattern in words)]
            dropped += len([word for word in said if word]) - len(some)
            end = line[-1:] if line.endswith((b"\n", b"\r")) else b""
            kept.append(b" ".join([kept_part(head).strip()] + some) + end)
        return b"".join(kept), dropped

    def shortened(found):
        return b"%08x" % (zlib.crc32(found.group(0).replace(b"-", b"")) & 0xFFFFFFFF)

    known = re.compile(rb"(?<![0-9a-f])[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12}(?![0-9a-f])")
    kept, dropped = keep_in_files(data, rule, by_line)
    return resized(kept, lambda text: known.sub(shortened, text)), dropped


def resized(data, change):
    """A stream of files with a change in each body and each name, and lengths that are true."""
    head = re.compile(rb"([FCLES]) ([0-9]+)(?:\+[0-9]+)? ([^\n]*)\n")
    if not head.match(data):
        return change(data)
    parts, at = [], 0
    while at < len(data):
        found = head.match(data, at)
        end = found.end() + int(found.group(2))
        body = change(data[found.end():end])
        parts += [found.group(1), b" %d " % len(body), change(found.group(3)), b"\n", body, b"\n"]
        at = end + 1
    return b"".join(parts)


FILTERS = {
    "lines": keep_lines, "rows": keep_rows, "json": keep_json,
    "file lines": keep_file_lines, "words": keep_words, "lines and words": keep_lines_and_words,
}


def known_errors(data, probe):
    """Of what a tool says about its failure, the parts that are known texts: one per line."""
    kept = []
    for pattern in ERRORS + tuple(probe.get("error_patterns", ())):
        found = re.search(pattern.encode(), data, re.IGNORECASE)
        if found and found.group(0) not in kept:
            kept.append(found.group(0))
    return b"".join(text + b"\n" for text in kept)


def filter_errors(answer, probe):
    """Standard error is free text: only known texts of it are kept, the rest is counted."""
    said = answer["stderr"]
    answer["stderr"] = known_errors(said, probe)
    lines = [line for line in said.splitlines() if line.strip()]
    answer["dropped"] += max(len(lines) - len(answer["stderr"].splitlines()), 0)


def apply_filter(answer, keep):
    """Drop what is not on the allow-list before anything leaves this machine."""
    if not keep or not answer["stdout"]:
        return
    try:
        answer["stdout"], answer["dropped"] = FILTERS[keep["kind"]](answer["stdout"], keep)
    except Exception as error:  # an answer that cannot be filtered is never sent unfiltered
        answer.update(stdout=b"", dropped=1)
        if answer["status"] == "ok":
            answer["status"] = "failed"
            answer["reason"] = "could not be filtered: " + type(error).__name__


# ---- frames --------------------------------------------------------------------------------


def to_json(value):
    """JSON without the json module; plain values only, ASCII only."""
    if value is None:
        return "null"
    if value is True or value is False:
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(to_json(part) for part in value) + "]"
    if isinstance(value, dict):
        return "{" + ",".join(to_json(k) + ":" + to_json(v) for k, v in value.items()) + "}"
    plain = []
    for char in value:
        code = ord(char)
        if char in '"\\' or code < 32 or code == 127:
            plain.append("\\u%04x" % code)
        elif code < 127:
            plain.append(char)
        elif code < 0x10000:
            plain.append("\\u%04x" % code)
        else:
            code -= 0x10000
            plain.append("\\u%04x\\u%04x" % (0xD800 + (code >> 10), 0xDC00 + (code & 0x3FF)))
    return '"' + "".join(plain) + '"'


class Output(object):
    """Standard output as frames."""

    def __init__(self, run, handle=1):
        self.run = run
        self.handle = handle
        self.sequence = 0

    def write(self, data):
        while data:
            data = data[os.write(self.handle, data):]

    def frame(self, probe, fields, stdout=b"", stderr=b""):
        fields = dict(fields, stdout=len(stdout), stderr=len(stderr))
        payload = to_json(fields).encode("ascii") + b"\n" + stdout + stderr
        body = base64.b64encode(zlib.compress(payload, 6)).decode("ascii")
        lines = [body[at:at + LINE] for at in range(0, len(body), LINE)]
        head = "%s %s %d " % (MARK, self.run, self.sequence)
        text = "%s%s %d %08x %d\n" % (
            head, probe, len(payload), zlib.crc32(payload) & 0xFFFFFFFF, len(lines))
        text += "".join(head + "+ " + line + "\n" for line in lines)
        # A chatty login script may have left the line open: start on a new one.
        self.write((b"\n" if self.sequence == 0 else b"") + text.encode("ascii"))
        self.sequence += 1

    def answer(self, answer):
        fields = {k: v for k, v in answer.items() if k not in ("stdout", "stderr")}
        self.frame(answer["probe"], fields, answer["stdout"], answer["stderr"])


# ---- running -------------------------------------------------------------------------------


def new_answer(probe, instance, argv=()):
    return {
        "probe": probe["name"], "instance": instance, "argv": list(argv), "status": "ok",
        "reason": "", "exit_code": None, "started": time.time(), "duration": 0.0,
        "truncated": False, "dropped": 0, "stdout": b"", "stderr": b"",
    }


def read_files(machine, probe, values):
    """The bytes of a file probe: one entry per file or link, an errno where it failed."""
    parts = []

    def entry(kind, path, body):
        if "\n" not in path:
            # Config space is 4 KB per function, most of it zeros: these are counted, not sent.
            zeros = 0
            if len(body) <= 4096:
                zeros = len(body) - len(body.rstrip(b"\0"))
            size = "%d+%d" % (len(body) - zeros, zeros) if zeros else "%d" % len(body)
            head = "%s %s %s\n" % (kind, size, path)
            body = body[:len(body) - zeros]
            parts.append(head.encode("utf-8", "surrogateescape") + body + b"\n")

    for pattern in probe.get("links", ()):
        for path in machine.glob(pattern.format(**values)):
            try:
                target = os.readlink(machine.path(path))
                entry("L", path, target.encode("utf-8", "surrogateescape"))
            except OSError as error:
                entry("E", path, errno.errorcode.get(error.errno, "EIO").encode())
    for pattern in probe.get("listed", ()):
        for path in machine.glob(pattern.format(**values)):
            try:
                found = os.stat(machine.path(path))
                entry("S", path, b"%d %d" % (found.st_mtime, found.st_size))
            except OSError as error:
                entry("E", path, errno.errorcode.get(error.errno, "EIO").encode())
    cap = probe.get("file_cap", FILE_CAP)
    for pattern in probe.get("files", ()):
        for path in machine.glob(pattern.format(**values)):
            try:
                body = machine.read(path, cap)
                entry("C" if len(body) > cap else "F", path, body[:cap])
            except OSError as error:
                entry("E", path, errno.errorcode.get(error.errno, "EIO").encode())
    return b"".join(parts)


class Child(object):
    """One probe being answered by a process of its own, so that nothing it does stops the rest."""

    def __init__(self, machine, probe, instance, values, argv):
        self.probe = probe
        self.answer = new_answer(probe, instance, argv)
        self.began = time.monotonic()  # not the clock on the wall, which somebody may set
        self.deadline = self.began + probe["timeout"]
        self.outputs = {}
        self.ended = False
        if argv:
            self._start_command(machine, argv)
        else:
            self._start_reader(machine, values)

    def _start_command(self, machine, argv):
        def enter_root():
            os.chroot(machine.root)
            os.chdir("/")

        # Not subprocess.DEVNULL: that opens /dev/null for writing too, and we open nothing so.
        nothing = os.open("/dev/null", os.O_RDONLY)
        try:
            process = subprocess.Popen(
                argv, stdin=nothing, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                env=ENVIRONMENT, cwd="/", close_fds=True, start_new_session=True,
                preexec_fn=enter_root if machine.root else None)
        finally:
            os.close(nothing)
        self.pid, self.process = process.pid, process
        self.outputs = {process.stdout.fileno(): "stdout", process.stderr.fileno(): "stderr"}

    def _start_reader(self, machine, values):
        read_end, write_end = os.pipe()
        self.process = None
        self.pid = os.fork()
        if self.pid == 0:
            code = 0
            try:
                os.setsid()
                for number in (signal.SIGALRM, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
                    signal.signal(number, signal.SIG_DFL)
                data = read_files(machine, self.probe, values)
                while data:
                    data = data[os.write(write_end, data):]
            except BaseException:
                code = 1
            os._exit(code)
        os.close(write_end)
        self.outputs = {read_end: "stdout"}

    def receive(self, handle):
        """Take what has come on one pipe; True when this child has nothing more to say."""
        name = self.outputs[handle]
        try:
            data = os.read(handle, 65536)
        except OSError:
            data = b""
        cap = self.probe["cap"] if name == "stdout" else STDERR_CAP
        room = cap - len(self.answer[name])
        self.answer[name] += data[:max(room, 0)]
        if name == "stdout" and len(data) > room:
            self.answer.update(
                truncated=True, status="cut", reason="more than %d bytes" % self.probe["cap"])
            self.kill()
            return True
        if not data:
            self.close(handle)
        return not self.outputs

    def close(self, handle):
        self.outputs.pop(handle, None)
        if self.process is None:
            os.close(handle)
        else:
            for pipe in (self.process.stdout, self.process.stderr):
                if pipe is not None and not pipe.closed and pipe.fileno() == handle:
                    pipe.close()

    def kill(self):
        """End the whole process group. A child run through sudo belongs to root: then it stays
        until it ends by itself, and the answer does not wait for it."""
        for handle in list(self.outputs):
            self.close(handle)
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except OSError:
            pass

    def finish(self):
        """Reap, once; True when the process is gone."""
        if self.ended:
            return True
        try:
            pid, code = os.waitpid(self.pid, os.WNOHANG)
        except OSError:
            pid, code = self.pid, 0
        if pid == 0:
            return False
        self.ended = True
        if self.process is not None:
            self.process.returncode = 0  # reaped here: keeps Popen from waiting for it again
        ended = os.WEXITSTATUS(code) if os.WIFEXITED(code) else -os.WTERMSIG(code)
        self.answer["exit_code"] = ended if self.answer["argv"] else None
        if self.answer["status"] == "ok" and not self.answer["argv"] and code:
            self.answer.update(status="failed", reason="the file reader ended early")
        self.answer["duration"] = round(time.monotonic() - self.began, 4)
        return True


def judge(answer, probe):
    """What a command's exit and words mean; the parser decides about the rest."""
    if answer["status"] != "ok":
        return
    if not answer["argv"]:
        if not answer["stdout"]:
            answer.update(status=probe["absent"], reason=probe["absent_reason"])
        return
    code = answer["exit_code"]
    if code == 0 and (answer["stdout"] or not answer["stderr"]):
        return
    # Some tools fail with exit status 0: lldpctl says on standard error that its daemon is away.
    said = b"".join([answer["stderr"], answer["stdout"]])
    words = said.decode("utf-8", "replace").strip().lower()
    known = known_errors(said, probe).decode("utf-8", "replace").strip().replace("\n", "; ")
    if any(word in words for word in probe["busy_words"]):
        answer.update(status="device busy", reason="busy twice, %d s apart" % BUSY_WAIT)
    elif any(word in words for word in probe["denied_words"]):
        answer.update(status="denied", reason=known)
    elif any(word in words for word in probe["absent_words"]):
        answer.update(status="absent", reason=probe["absent_reason"])
    else:
        answer.update(status="failed", reason=("exit status %d; %s" % (code, known)).rstrip("; "))


# ---- root ----------------------------------------------------------------------------------


class Privilege(object):
    """How root probes run here: directly, under one root runner, by exact commands, or not."""

    def __init__(self, how, reason="", commands=()):
        self.how = how  # "root" | "runner" | "commands" | "denied"
        self.reason = reason
        self.commands = set(commands)


def allowed_by_sudo(listing):
    """The commands that `sudo -n -l` lists as root without a password."""
    commands, inside = [], False
    for line in listing.splitlines():
        if re.match(r"User .* may run the following commands", line):
            inside = True
            continue
        found = re.match(r"\s+\(([^)]*)\)\s*(.*)", line) if inside else None
        if not found or found.group(1).split(":")[0].strip() not in ("ALL", "root"):
            continue
        free = False
        for part in re.split(r"(?<!\\),\s*", found.group(2)):
            while True:
                tag = re.match(r"([A-Z_]+):\s*", part)
                if not tag:
                    break
                free = {"NOPASSWD": True, "PASSWD": False}.get(tag.group(1), free)
                part = part[tag.end():]
            if free:
                commands.append(part.strip())
    return commands


def find_privilege(machine, become):
    """Ask sudo once. A refusal is final: asking again would only fill the site's security log."""
    if os.geteuid() == 0:
        return Privilege("root")
    if not become:
        return Privilege("denied", "not root here; --become asks sudo")
    sudo = machine.tool(["sudo"])
    if not sudo:
        return Privilege("denied", "not root here and sudo is not installed")
    probe = {"name": ".sudo", "timeout": 10, "cap": 65536}
    child = Child(machine, probe, "", {}, [sudo, "-n", "-l"])
    wait_for(child)
    words = child.answer["stderr"].decode("utf-8", "replace").strip().splitlines()
    words = [line for line in words if "unable to resolve host" not in line]
    if child.answer["exit_code"] != 0:
        return Privilege("denied", words[-1][:200] if words else "sudo refused")
    commands = allowed_by_sudo(child.answer["stdout"].decode("utf-8", "replace"))
    if "ALL" in commands:
        return Privilege("runner")
    if commands:
        return Privilege("commands", "", commands)
    return Privilege("denied", "sudo allows nothing as root without a password")


def wait_for(child):
    while time.monotonic() < child.deadline:
        ready = select.select(list(child.outputs), [], [], 0.2)[0] if child.outputs else []
        for handle in ready:
            if handle in child.outputs:
                child.receive(handle)
        if not child.outputs and child.finish():
            return
        if not child.outputs:
            time.sleep(0.01)
    child.kill()
    child.finish()


# ---- the run -------------------------------------------------------------------------------


class Stop(Exception):
    """Standard input or output died, or the time is up."""


class Run(object):
    def __init__(self, request, machine, source, hold):
        self.request = request
        self.machine = machine
        self.source = source
        self.output = Output(request["run"])
        self.deadline = time.monotonic() + request["seconds"]
        self.waiting = []  # (probe, instance, values, card)
        self.again = {}  # the tasks that were busy: when each may be tried once more
        self.running = {}  # lane -> Child
        self.starting = False  # a child may be there that is not in `running` yet
        self.is_to_end = False  # a signal came meanwhile
        self.root_runner = None
        self.root_buffer = b""
        self.poll = select.poll()
        self.poll.register(self.output.handle, 0)  # POLLERR tells that nobody reads any more
        if hold:
            self.poll.register(0, select.POLLIN)

    def plan(self, privilege):
        """Sort every probe instance into: run, run under the root runner, or answered already."""
        done, under_root = [], []
        for probe in self.request["probes"]:
            tool = self.machine.tool(probe["tools"]) if probe["tools"] else ""
            condition = probe["condition"] if tool or not probe["tools"] else ""
            if condition and not CONDITIONS[condition](self.machine):
                done.append(dict(new_answer(probe, ""), status="skipped",
                                 reason=probe["condition_reason"]))
                continue
            if probe["tools"] and not tool:
                done.append(dict(new_answer(probe, ""), status="absent",
                                 reason="not installed: " + " or ".join(probe["tools"])))
                continue
            if os.path.basename(tool).startswith("mst") and not self.machine.lock_folder_is_safe():
                done.append(dict(new_answer(probe, ""), status="skipped",
                                 reason=LOCK_FOLDER + " belongs to somebody else"))
                continue
            if probe["each"] == "ssh session":
                self.plan_session(probe, tool, privilege, done, under_root)
                continue
            found = instances(self.machine, probe["each"])
            if not found:
                done.append(dict(new_answer(probe, ""), status="absent",
                                 reason="this host has no " + probe["each"]))
            for instance, values, card in found:
                argv = [part.format(tool=tool, **values) for part in probe["argv"]]
                self.place(probe, instance, values, card, argv, privilege, done, under_root)
        return done, under_root

    def plan_session(self, probe, tool, privilege, done, under_root):
        """What is asked about the ssh session: it is told here, or gives a program's arguments.

        Always as the user who came in: sudo would drop the variable.
        """
        status, reason, said, addresses = ssh_session(self.machine)
        if status == "ok" and probe["argv"] and addresses["zone"]:
            status, reason = "skipped", "the client's address has a zone, which names the netdev"
        if status != "ok" or not probe["argv"]:
            text = "SSH_CONNECTION=%s\n" % said if status == "ok" else ""
            done.append(dict(new_answer(probe, ""), status=status, reason=reason,
                             stdout=text.encode("ascii")))
            return
        values = {"client": addresses["client"], "server": addresses["server"]}
        argv = [part.format(tool=tool, **values) for part in probe["argv"]]
        self.place(probe, "", values, "", argv, privilege, done, under_root)

    def place(self, probe, instance, values, card, argv, privilege, done, under_root):
        """Decide how one instance is read: as we are, under the root runner, by sudo, or not."""
        needs = probe["needs_root"]
        ours = not argv or self.machine.may_run(argv[0])
        if privilege.how == "root" or (needs == "no" and ours):
            self.waiting.append((probe, instance, values, card, argv))
            return
        if privilege.how == "runner" and needs != "no":
            under_root.append([probe["name"], instance])
            return
        command = argv or [
            part.format(tool=self.machine.tool(probe["sudo_tools"]), **values)
            for part in probe["sudo_argv"]
        ]
        form = " ".join(command[:1] + probe["sudo_form"])
        rest = "[a-zA-Z0-9_.-]" * (len(values.get("netdev", "")) - 1)
        form = form.replace("{netdev}", "[a-zA-Z0-9_]" + rest)
        if form in privilege.commands:
            sudo = [self.machine.tool(["sudo"]), "-n", "--"]
            self.waiting.append((probe, instance, values, card, sudo + command))
        elif needs == "maybe" and ours:
            self.waiting.append((probe, instance, values, card, argv))
        else:
            reason = privilege.reason or "sudo does not allow: " + form
            done.append(dict(new_answer(probe, instance), status="denied", reason=reason[:300]))

    def start_root_runner(self, names):
        """One more runner, as root, for the probes that need it. Its frames carry RUN + 'r'."""
        request = dict(self.request, run=self.request["run"] + "r", become=False,
                       seconds=max(self.deadline - time.monotonic(), 1.0),
                       probes=[p for p in self.request["probes"] if p["name"] in names])
        text = zlib.compress(ascii(request).encode("ascii"))
        start = "import sys,zlib;b=sys.stdin.buffer;p=b.read(int(b.readline()));exec(zlib.decompress(p))"
        python = os.path.realpath(sys.executable) if sys.executable else "/usr/bin/python3"
        argv = [self.machine.tool(["sudo"]), "-n", "--", python, "-I", "-S", "-B", "-c", start]
        self.root_runner = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=2, env=ENVIRONMENT,
            cwd="/", close_fds=True, start_new_session=True)
        pipe = self.root_runner.stdin
        pipe.write(b"%d\n" % len(self.source) + self.source + b"%d\n" % len(text) + text)
        pipe.flush()  # and it stays open: the root runner ends when we do

    def start_waiting(self):
        """Start what may start: one at a time on a card, at most LANES at a time."""
        for task in list(self.waiting):
            if len(self.running) >= LANES:
                return
            probe, instance, values, card, argv = task
            lane = card or "host:" + probe["name"]
            if lane in self.running or self.again.get(id(task), 0) > time.monotonic():
                continue
            self.waiting.remove(task)
            if time.monotonic() + 0.5 > self.deadline:
                self.send(dict(new_answer(probe, instance, argv), status="timeout",
                               reason="not started: the time for this machine was up"), probe)
                continue
            try:
                child = Child(self.machine, probe, instance, values, argv)
            except OSError as error:
                self.send(dict(new_answer(probe, instance, argv), status="failed",
                               reason=errno.errorcode.get(error.errno, "")), probe)
                continue
            except subprocess.SubprocessError:
                self.send(dict(new_answer(probe, instance, argv), status="denied",
                               reason="running a program below --root needs root"), probe)
                continue
            child.task = task
            child.deadline = min(child.deadline, self.deadline)
            self.running[lane] = child

    def send(self, answer, probe):
        apply_filter(answer, probe["keep"])
        filter_errors(answer, probe)
        self.output.answer(answer)

    def handles(self):
        found = {}
        for child in self.running.values():
            for handle in child.outputs:
                found[handle] = child
        return found

    def step(self):
        """One turn: wait a little for anything to happen, then take it."""
        self.starting = True
        self.start_waiting()
        self.starting = False
        if self.is_to_end:
            raise Stop("ended by a signal")
        children = self.handles()
        root = self.root_runner.stdout.fileno() if self.root_runner else -1
        for handle in children:
            self.poll.register(handle, select.POLLIN)
        if root >= 0:
            self.poll.register(root, select.POLLIN)
        # Short only while a process has closed its output and is to be reaped.
        ending = any(not child.outputs for child in self.running.values())
        events = self.poll.poll(10 if ending else 200)
        for handle in list(children) + ([root] if root >= 0 else []):
            self.poll.unregister(handle)
        for handle, event in events:
            if handle == self.output.handle and event & (select.POLLERR | select.POLLHUP):
                raise Stop("standard output is gone")
            if handle == 0 and not os.read(0, 4096):
                raise Stop("standard input is gone")
            if handle == root:
                self.forward_root()
            elif handle in children and handle in children[handle].outputs:
                children[handle].receive(handle)
        self.reap()
        if time.monotonic() > self.deadline + 2:
            raise Stop("the time for this machine is up")

    def forward_root(self):
        data = os.read(self.root_runner.stdout.fileno(), 65536)
        self.root_buffer += data
        whole, cut, rest = self.root_buffer.rpartition(b"\n")
        if cut:
            self.output.write(whole.replace(b"\r", b"") + b"\n")
            self.root_buffer = rest
        if not data:
            self.root_runner.stdout.close()
            self.root_runner.stdin.close()
            self.root_runner.wait()
            self.root_runner = None

    def reap(self):
        for lane, child in list(self.running.items()):
            late = time.monotonic() > child.deadline
            if late and child.answer["status"] == "ok":
                child.answer.update(
                    status="timeout", reason="no answer in %d s" % child.probe["timeout"])
                child.kill()
                child.deadline = time.monotonic() + 1  # a killed process is gone within the second
                continue
            if not child.finish() and not late:
                continue
            if child.outputs and child.answer["status"] == "ok" and not late:
                continue  # a grandchild still holds the pipe; the deadline decides
            for handle in list(child.outputs):
                child.close(handle)
            del self.running[lane]
            self.conclude(child)

    def conclude(self, child):
        judge(child.answer, child.probe)
        task = child.task
        if child.answer["status"] == "device busy" and id(task) not in self.again:
            self.again[id(task)] = time.monotonic() + BUSY_WAIT
            self.waiting.append(task)
            return
        self.send(child.answer, child.probe)

    def hello(self, privilege, planned):
        machine = self.machine
        name = os.uname()
        self.output.frame(".hello", {
            "hostname": machine.text("/proc/sys/kernel/hostname") or name[1],
            "kernel": name[2], "machine": name[4], "python": "%d.%d.%d" % sys.version_info[:3],
            "boot_id": machine.text("/proc/sys/kernel/random/boot_id"),
            "uptime": machine.text("/proc/uptime").partition(" ")[0],
            "os": os_name(machine), "uid": os.geteuid(), "root": privilege.how,
            "root_reason": privilege.reason, "time": time.time(), "planned": planned,
            "node": os.environ.get("SLURMD_NODENAME", ""),
        })

    def go(self):
        began = time.monotonic()
        privilege = find_privilege(self.machine, self.request["become"])
        done, under_root = self.plan(privilege)
        names = sorted(set(name for name, _ in under_root))
        planned = under_root + [[task[0]["name"], task[1]] for task in self.waiting]
        planned += [[answer["probe"], answer["instance"]] for answer in done]
        self.hello(privilege, planned)
        for answer in done:
            self.output.answer(answer)
        if names:
            self.start_root_runner(names)
        while self.waiting or self.running or self.root_runner:
            self.step()
        self.output.frame(".end", {
            "frames": self.output.sequence, "root_runner": bool(names),
            "seconds": round(time.monotonic() - began, 3)})

    def kill_all(self):
        for child in self.running.values():
            child.kill()
        if self.root_runner:
            for pipe in (self.root_runner.stdin, self.root_runner.stdout):
                try:
                    pipe.close()
                except OSError:
                    pass


def os_name(machine):
    for line in machine.text("/etc/os-release").splitlines():
        if line.startswith("PRETTY_NAME="):
            return line.split("=", 1)[1].strip('"')[:100]
    return ""


def read_request():
    """The request behind the program on standard input: a length, then a compressed literal."""
    stream = sys.stdin.buffer
    return ast.literal_eval(zlib.decompress(stream.read(int(stream.readline()))).decode("ascii"))


def alone(arguments):
    """`python3 -I rw.py`: the standard request, written into the file by `railwright runner`."""
    root, become, wanted = "/", False, []
    while arguments:
        argument = arguments.pop(0)
        if argument == "--root" and arguments:
            root = arguments.pop(0)
        elif argument == "--become":
            become = True
        elif argument == "--probe" and arguments:
            wanted.append(arguments.pop(0))
        else:
            sys.stderr.write(
                "usage: python3 -I rw.py [--root DIR] [--become] [--probe NAME]... > HOST.rw\n"
                "Reads this machine, changes nothing, prints the answers for `railwright import`.\n")
            sys.exit(0 if argument in ("-h", "--help") else 2)
    if REQUEST is None:
        sys.stderr.write("This copy has no request in it: make one with `railwright runner`.\n")
        sys.exit(2)
    if sys.stdout.isatty():
        sys.stderr.write("The answers are for a file: python3 -I rw.py > HOST.rw\n")
        sys.exit(2)
    known = [probe["name"] for probe in REQUEST["probes"]]
    if [name for name in wanted if name not in known]:
        sys.stderr.write("Probes are: " + ", ".join(known) + "\n")
        sys.exit(2)
    probes = [p for p in REQUEST["probes"] if not wanted or p["name"] in wanted]
    run = "%08x" % (zlib.crc32(os.urandom(16)) & 0xFFFFFFFF)
    with open(os.path.abspath(__file__), "rb") as file:
        source = zlib.compress(file.read())
    return dict(REQUEST, run=run, become=become, probes=probes), root, source


def main():
    sent = sys.argv[0] == "-c"
    if sent:
        request, root = read_request(), "/"
        source = globals().get("p", b"")
    else:
        request, root, source = alone(sys.argv[1:])
    os.nice(19)
    run = Run(request, Machine(root), source, hold=sent and request["hold"])

    def end(_number, _frame):
        # A child that nobody knows yet would be left behind: it is waited for, but not for long.
        if run.starting and not run.is_to_end:
            run.is_to_end = True
            signal.alarm(2)
            return
        run.kill_all()
        os._exit(3)

    signal.signal(signal.SIGALRM, end)
    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGHUP, end)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    signal.alarm(int(request["seconds"]) + 10)  # whatever happens, this process ends
    try:
        run.go()
    except (Stop, OSError) as error:
        run.kill_all()
        try:
            sys.stderr.write("railwright runner: stopped: %s\n" % error)
            sys.stderr.flush()
        except OSError:
            pass
        os._exit(3)
    os._exit(0)  # not sys.exit: nothing to flush, and a reader of ours may sit in a dead driver


if __name__ == "__main__":
    main()

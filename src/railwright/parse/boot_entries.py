"""Probe `boot_entries`: what the next boot starts, and what that is made from.

Files:  grub.cfg of GRUB, /boot/loader/entries/*.conf (Boot Loader Specification), grubenv,
        /etc/default/grub, /etc/default/grub.d/*.cfg, /etc/kernel/cmdline; cut down on the host
Listed: /boot/vmlinuz-*, /boot/initrd.img-*, initramfs-*.img, initrd-*, /lib/modules/*, custom.cfg,
        and what an initramfs is made from

On the host, ids of machines and file systems are shortened, in names of files too.
"""

import re
from collections.abc import Iterator

from railwright.parse.base import NotUnderstoodError, Row, Value
from railwright.parse.files import Files, read_files
from railwright.parse.grub_menu import NEXT, SAVED, Entry, Menu, default_place, read_menu, walk
from railwright.parse.host_text import without_last_line

ENTRIES = "/boot/loader/entries/"
CMDLINE = "/etc/kernel/cmdline"
_MENUS = re.compile(r"/boot/(?:grub2?|efi/EFI/[^/]{1,40})/grub\.cfg")
_SETTINGS = re.compile(r"/etc/default/grub(?:\.d/[^/]{1,200}\.cfg)?")
_IMAGE = re.compile(r"(?:.*/)?(?:vmlinu[xz]|[Ii]mage|kernel|bzImage)-([A-Za-z0-9._+~-]{1,100})")
_INITRAMFS = re.compile(
    r"/boot/(?:initrd\.img-|initramfs-|initrd-)([A-Za-z0-9._+~-]{1,100}?)(?:\.img)?"
)
_MODULES = re.compile(r"(?:/usr)?/lib/modules/([A-Za-z0-9._+~-]{1,100})")
_MADE_FROM = ("/etc/modprobe.d/", "/etc/initramfs-tools/", "/etc/dracut.conf.d/")
_VARIABLE = re.compile(r"\$\{?([A-Za-z_][A-Za-z0-9_]{0,40})\}?")
# Of Ubuntu: keeps the boot screen, an option of no other meaning.
_EMPTY = frozenset({"vt_handoff", "extra_cmdline"})
_SETTING = re.compile(r"([A-Z_]{4,40}\+?)(?: (.{1,4000}))?")
_COLUMNS = ("title", "kernel", "arguments", "is_default")
_PARTS = re.compile(r"[0-9]+|[A-Za-z]+|~")


def _lines(files: Files, path: str) -> list[str]:
    text = files.text(path) or ""
    return (without_last_line(text) if files.is_cut(path) else text).split("\n")


def _was_read(files: Files, path: str) -> bool:
    return files.content(path) is not None and not files.is_cut(path)


def version_key(release: str) -> list[tuple[int, int, str]]:
    """Orders releases as rpm does: numbers above words, `~` below the end."""
    key = []
    for part in _PARTS.findall(release):
        digits = part.isdigit()
        key.append((2, int(part[:18]), "") if digits else (0 if part == "~" else 1, 0, part))
    return [*key, (0, 1, "")]


# ---- entries of the Boot Loader Specification


def _of_specification(files: Files, path: str) -> Entry:
    name = path.rpartition("/")[2].removesuffix(".conf")
    entry = Entry(id=name, was_read=_was_read(files, path))
    for line in _lines(files, path):
        word, _, rest = line.partition(" ")
        if word == "title" and rest:
            entry.title = rest
        elif word == "linux":
            entry.kernel = rest.partition(" ")[0]
            entry.words = entry.words or ""
        elif word == "options":
            entry.words = f"{entry.words or ''} {rest}".strip()
    return entry


def _specified(files: Files) -> tuple[list[Entry], bool]:
    """Entries, as blscfg sorts them, and whether all of them were read."""
    paths = [path for path in files if path.startswith(ENTRIES) and path.endswith(".conf")]
    paths.sort(key=lambda path: version_key(path.rpartition("/")[2].removesuffix(".conf")))
    whole = bool(paths) and all(_was_read(files, path) for path in paths)
    return [_of_specification(files, path) for path in reversed(paths)], whole


# ---- the environment block


def _environment(files: Files, path: str) -> dict[str, str] | None:
    """Of the block beside a grub.cfg; None where it could not be read."""
    if path not in files or files.error(path) == "ENOENT":
        return {}
    if not _was_read(files, path):
        return None
    found: dict[str, str] = {}
    for line in _lines(files, path):
        name, _, value = line.partition("=") if "entry=" in line[:12] else line.partition(" ")
        if name in (NEXT, SAVED, "kernelopts", "tuned_params"):
            found[name] = value
    return found


def _block(menu: str) -> str:
    folder = menu.rpartition("/")[0]
    # /boot/grub2/grubenv is a link to the block of the EFI partition, where there is one.
    return "/boot/grub2/grubenv" if "/efi/" in folder else f"{folder}/grubenv"


# ---- rows


def _arguments(words: str | None, variables: dict[str, str]) -> str | None:
    """With variables put in; None where one of them is not known."""
    if words is None:
        return None
    found: list[str] = []
    for word in words.split():
        variable = _VARIABLE.fullmatch(word)
        if variable is None:
            found.append(word)
        elif variable[1] in variables:
            found += variables[variable[1]].split()
        elif variable[1] not in _EMPTY:
            return None
    return " ".join(found)


def _kernel(entry: Entry) -> str | None:
    if not entry.kernel:
        return "" if entry.words is None and entry.was_read else None
    found = _IMAGE.fullmatch(entry.kernel)
    return found[1] if found else None


def _variables(menu: Menu, environment: dict[str, str] | None) -> dict[str, str]:
    """What words with a $ in front stand for."""
    if environment is None:
        return {}
    found = {**menu.variables, **environment}
    if menu.reads_others:
        found.setdefault("tuned_params", "")
    # grub.cfg sets this after it has loaded the block, or leaves it alone: not known which.
    here, there = menu.variables.get("tuned_params"), environment.get("tuned_params")
    if here is not None and there is not None and here != there:
        del found["tuned_params"]
    return found


def _entries(files: Files) -> Iterator[Row]:
    others, all_read = _specified(files)
    menus: dict[str, Menu] = {}
    for path in (path for path in files if _MENUS.fullmatch(path)):
        menu = read_menu(_lines(files, path), others)
        menu.is_whole &= _was_read(files, path) and (all_read or not menu.reads_others)
        if menu.is_a_menu() or not _was_read(files, path):
            menus[path] = menu
    for path, menu in menus.items():
        environment = _environment(files, _block(path))
        custom = f"{path.rpartition('/')[0]}/custom.cfg" in files
        known = len(menus) == 1 and not custom
        default = default_place(menu, environment) if known else None
        variables = _variables(menu, environment)
        for place, entry in walk(menu.entries):
            values: dict[str, Value] = {
                "file": path,
                "place": place,
                "title": entry.title,
                "kernel": _kernel(entry),
                "arguments": _arguments(entry.words, variables),
                "is_default": None if default is None else place == default,
            }
            yield Row("boot_entry", values)
        if not menu.is_whole:
            yield Row("boot_entry", {"file": path, "place": "", **dict.fromkeys(_COLUMNS)})
    # A folder whose files cannot be seen: this user may not look into it.
    for folder in () if menus else ("/boot/grub", "/boot/grub2"):
        if folder in files:
            path = f"{folder}/grub.cfg"
            yield Row("boot_entry", {"file": path, "place": "", **dict.fromkeys(_COLUMNS)})


def _settings(files: Files) -> Iterator[Row]:
    for path in files:
        found: list[tuple[str, str]] = []
        if path == CMDLINE:
            words = " ".join(line.removeprefix("-").strip() for line in _lines(files, path))
            found = [("cmdline", words.strip())] if _was_read(files, path) else []
        elif _SETTINGS.fullmatch(path):
            parts = [_SETTING.fullmatch(line) for line in _lines(files, path)]
            found = [(part[1], part[2] or "") for part in parts if part is not None]
        elif path.endswith("/grubenv"):
            found = list((_environment(files, path) or {}).items())
        else:
            continue
        rows: list[tuple[str, str | None]] = [*found]
        if not _was_read(files, path) and files.error(path) != "ENOENT":
            rows.append(("", None))
        for place, (name, value) in enumerate(rows):
            yield Row("boot_setting", {"file": path, "place": place, "name": name, "value": value})


def _times(files: Files, pattern: "re.Pattern[str]") -> dict[str, int | None]:
    found: dict[str, int | None] = {}
    for path in files:
        match = pattern.fullmatch(path)
        if match is not None and files.error(path) != "ENOENT":
            said = files.age_and_size(path)
            found[match[1]] = None if said is None else said[0]
    return found


def _kernels(files: Files) -> Iterator[Row]:
    images = _times(files, re.compile(r"/boot/vmlinuz-([A-Za-z0-9._+~-]{1,100})"))
    modules, initramfs = _times(files, _MODULES), _times(files, _INITRAMFS)
    made_from = [files.age_and_size(path) for path in files if path.startswith(_MADE_FROM)]
    written = None if None in made_from else max((said[0] for said in made_from if said), default=0)
    usual = [release for release in images if "rescue" not in release]
    newest = max(usual, key=version_key, default=None)
    for release in sorted({*images, *modules}):
        made = initramfs.get(release)
        values: dict[str, Value] = {
            "release": release,
            "has_image": release in images,
            "has_modules": release in modules,
            "is_newest": release == newest if usual else None,
            "initramfs_is_older": None if made is None or written is None else made < written,
        }
        yield Row("boot_kernel", values)


def parse(data: bytes, instance: str) -> Iterator[Row]:  # noqa: ARG001 (one answer per host)
    """Tables boot_entry, boot_setting and boot_kernel."""
    files = read_files(data)
    if data and not any(
        path.startswith(("/boot/", "/etc/", "/lib/modules/", "/usr/lib/modules/")) for path in files
    ):
        raise NotUnderstoodError("no files of a boot loader")
    yield from _entries(files)
    yield from _settings(files)
    yield from _kernels(files)

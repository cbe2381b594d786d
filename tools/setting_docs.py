"""Pages about settings, written from their files."""

import json
from collections.abc import Callable, Iterator
from functools import partial

from railwright.check.rule import shipped
from railwright.check.sources import told
from railwright.plan.forms import FORMS
from railwright.settings.setting import Setting, Step, settings
from railwright.settings.words import EVENTS, LEVELS, REACH, TAKES_HOLD, WAY_BACK
from tools.markdown import GENERATED, head, row

_UNWRITTEN = "not documented"
_SYSTEMS = {"": "hosts", "sonic": "SONiC", "cumulus": "Cumulus", "eos": "EOS", "onyx": "Onyx"}


def _index() -> Iterator[str]:
    yield "# Settings: what can be changed"
    yield ""
    yield GENERATED.format("src/railwright/settings")
    yield ""
    yield "Each page says how a setting is read, how it is written with which tool, what that"
    yield "stops, and what undoes it. *Reach* is how far the change goes, or a wrong value,"
    yield "whichever is more. What the [sources](../sources.md#documents) do not say is not"
    yield "documented; nothing is guessed. The words are explained in [Repairs](../repairs.md)."
    for area in sorted({one.area for one in settings().values()}):
        yield from ("", f"## {area}", "")
        yield from head("setting", "", "who sets it", "takes hold", "reach", "way back", "disturbs")
        for name, one in settings().items():
            if one.area == area:
                codes = (one.takes_hold, one.reach, one.way_back)
                said = [f"`{code}`" if code else _UNWRITTEN for code in codes]
                yield row(_link(name), one.title, LEVELS[one.level], *said, one.disturbs)


def _link(name: str, folder: str = "") -> str:
    return f"[{name}]({folder}{name}.md)"


def _page(one: Setting) -> Iterator[str]:
    yield f"# {one.id}: {one.title}"
    yield ""
    yield GENERATED.format(f"src/railwright/settings/{one.path.relative_to(one.path.parents[1])}")
    yield ""
    yield from head("", "")
    yield from (row(name, text) for name, text in _facts(one) if text)
    if one.hazards:
        yield from ("", "## Hazards", "")
        yield from (f"- {text}" for text in one.hazards)
    if one.writes:
        yield from _writes(one)
    if one.reads:
        yield from ("", "## What it rests on", "")
        yield "Where one of these was not read, nothing is written."
        yield ""
        yield from (f"- `{name}`" for name in one.reads)
        yield from (f"- `{name}`, which may be missing: {why}" for name, why in one.uses.items())
    rules = [r.id for r in shipped().values() if r.setting == one.id or r.id in one.mends]
    if rules:
        yield from ("", "## Rules", "")
        yield from (f"- {_link(rule, '../rules/')}: {shipped()[rule].title}" for rule in rules)
    yield from ("", "## Sources", "")
    for line in told(one.sources):
        text = line.lstrip()
        yield " " * 2 * (len(line) - len(text)) + f"- {text}"


def _facts(one: Setting) -> Iterator[tuple[str, str]]:
    remark = f" ({one.remark})" if one.remark else ""
    yield "set on", one.subject.meaning
    yield "who sets it", LEVELS[one.level]
    yield "values", one.values
    yield "takes hold", TAKES_HOLD[one.takes_hold][0]
    yield "[disturbs](../repairs.md)", one.disturbs + remark
    yield "the same value again", "" if one.repeats else "disturbs as much"
    yield "reach", REACH[one.reach]
    yield "way back", WAY_BACK[one.way_back]
    yield "lost at", ", ".join(EVENTS[event] for event in one.lost_at)
    yield "made to last by", ", ".join(map(_link, one.kept_by))
    yield "changed after", ", ".join(map(_link, one.after))
    yield "changed before", ", ".join(map(_link, one.before))
    yield "both ends of a link in one plan", "yes" if one.both_ends else ""
    yield "gain", one.gain or "no published gain"


def _writes(one: Setting) -> Iterator[str]:
    yield from ("", "## How it is written", "")
    yield from head("on", "if this answered", "steps", "undo")
    for write in one.writes:
        steps = "<br>".join(map(_step, write.steps))
        undo = "<br>".join(map(_step, write.undo)) if write.undo else "the same with the old value"
        yield row(_SYSTEMS[write.system], write.probe and f"`{write.probe}`", "", "")[:-5] + (
            f"{steps} | {undo} |"
        )
    forms = sorted({form for _, form in one.placeholders()} - {""})
    if forms:
        yield ""
        yield from (f"- `:{form}`: {(FORMS[form].__doc__ or '').strip()}" for form in forms)


def _step(step: Step) -> str:
    if step.argv:
        said = " ".join(step.argv)
    elif step.lines:
        said = "; ".join(step.lines)
    elif step.patch:
        said = json.dumps(list(step.patch))
    else:
        said = f"{step.file}: {step.text or step.line}"
    return f"<code>{said.replace('|', '&#124;').replace('<', '&lt;')}</code>"


def setting_pages() -> dict[str, Callable[[], Iterator[str]]]:
    """Path -> what writes the page."""
    pages = {f"docs/settings/{name}.md": partial(_page, one) for name, one in settings().items()}
    return {"docs/settings/README.md": _index, **pages}

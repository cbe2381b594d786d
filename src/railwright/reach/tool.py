"""Short local commands of the site itself: sinfo, scontrol, kubectl."""

import asyncio

from railwright.reach.process import run_process


async def run_tool(argv: list[str], *, seconds: float = 20.0) -> tuple[int | None, bytes, str]:
    """A short local command of the site (sinfo, kubectl): exit status, output, words."""
    parts: list[bytes] = []

    def take(data: bytes) -> bool:
        parts.append(data)
        return True

    ended = await run_process(
        argv,
        stdin=b"",
        hold_stdin=False,
        total_s=seconds,
        byte_limit=256 * 1024 * 1024,
        on_bytes=take,
    )
    return (None if ended.timed_out else ended.exit_code), b"".join(parts), ended.words


def run_tool_now(argv: list[str], *, seconds: float = 20.0) -> tuple[int | None, bytes, str]:
    """The same for callers outside an event loop."""
    return asyncio.run(run_tool(argv, seconds=seconds))

"""This machine itself, through the same door as every other."""

from railwright.reach.bootstrap import NO_PYTHON
from railwright.reach.each import OneByOne, run_each
from railwright.reach.job import Job, Limits, Listener
from railwright.reach.process import Ended


def _status(ended: Ended) -> str:
    return "no python" if NO_PYTHON in ended.words else "answered"


class LocalTransport:
    """Runs the job with /bin/sh here; targets are only names."""

    name = "local"

    async def run(self, targets: list[str], job: Job, limits: Limits, listener: Listener) -> None:
        """Run the job here once per target."""
        how = OneByOne(lambda _target: ["/bin/sh", "-c", job.command], _status)
        await run_each(targets, job, limits, listener, how)

"""Put the rights of a pipeline's roles together: both read what a plan reads, and one makes what an apply makes."""

from __future__ import annotations

from typing import Final

from stacks.names import Does
from stacks.policies.pipeline_ground import PipelineGround
from stacks.policies.pipeline_reads import reads_kept, reads_runs, state_reads
from stacks.policies.pipeline_writes import makes_kept, makes_runs, state_writes
from stacks.policies.statement import Statement

_READS: Final = {"reads-kept": reads_kept, "reads-runs": reads_runs}
_MAKES: Final = {"makes-kept": makes_kept, "makes-runs": makes_runs}
"""Rights that are the same whoever has them, in parts: AWS takes 6,144 characters in a policy, and ten policies."""


def state_rights(ground: PipelineGround, does: Does) -> tuple[Statement, ...]:
    """List what a role may do with the states."""
    return (*state_reads(ground), *(state_writes(ground) if does == "deploy" else ()))


def parts(ground: PipelineGround, does: Does) -> dict[str, tuple[Statement, ...]]:
    """List what else a role may do, by the part of it."""
    found = {**_READS, **_MAKES} if does == "deploy" else _READS
    return {part: state(ground) for part, state in found.items()}

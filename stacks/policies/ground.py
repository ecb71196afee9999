"""Name what people act on, for the policies that say what they may do."""

from __future__ import annotations

from dataclasses import dataclass

from stacks.names import EnvironmentNames


@dataclass(frozen=True, slots=True)
class Ground:
    """Name what people act on; the ARNs of runtime and role may be references, all else follows from the settings.

    Attributes:
        role_arn: the role that the agent runs under.
        knowledge_base_id: None where the agent has no knowledge base.
    """

    names: EnvironmentNames
    runtime_arn: str
    role_arn: str
    kms_key_arn: str | None
    knowledge_base_id: str | None = None

    @property
    def log_groups(self) -> tuple[str, ...]:
        """Give the live endpoint's log groups: group actions take the name, stream actions what stands behind it.

        The pattern also reaches the group of a runtime that was made anew under the same name: its trail is still to
        be read.
        """
        group = self.names.place.log_groups(self.names.live_log_groups)
        return group, f"{group}:*"

"""Check that callers are served by the declared version of the agent."""

from __future__ import annotations

from typing import Final

from console.doctor.account import Account, Failed
from console.doctor.check import Check, Result, could_not, fault, ok, undeclared, unknown, warning
from console.doctor.command import aws, deploy
from console.doctor.declared import Declared

_CHANGING: Final = frozenset({"CREATING", "UPDATING"})
_NEWEST: Final = "newest"


def judge(declared: Declared, account: Account) -> Result:
    """Compare the version that the endpoint serves with the declared one."""
    if isinstance(account.endpoint, Failed):
        if account.endpoint.missing:
            return fault(
                f"there is no endpoint {declared.endpoint}: nobody can call the agent",
                found=("none",),
                wanted=(declared.endpoint,),
                mend=(_deploy(declared),),
            )
        return could_not(account.endpoint)
    status, live, target = (str(account.endpoint.get(key) or "") for key in ("status", "liveVersion", "targetVersion"))
    if status in _CHANGING:
        return warning(
            f"the endpoint is being changed: it serves version {live or 'none'}",
            found=(f"status {status}",),
            wanted=("status READY",),
            mend=("wait a few minutes, and look again",),
        )
    if status != "READY":
        reason = account.endpoint.get("failureReason")
        return fault(
            f"the endpoint does not serve: {reason or status}",
            found=(f"status {status}",),
            wanted=("status READY",),
            mend=(_deploy(declared),),
        )
    return _version(declared, account, live, target)


def _version(declared: Declared, account: Account, live: str, target: str) -> Result:
    if declared.live_version is None:
        return undeclared("which version the endpoint is to serve")
    if isinstance(account.runtime, Failed) and declared.live_version == _NEWEST:
        return unknown(f"the endpoint serves version {live}; which is the newest is not known: {account.runtime.says}")
    newest = None if isinstance(account.runtime, Failed) else str(account.runtime.get("agentRuntimeVersion") or "")
    wanted = str(newest) if declared.live_version == _NEWEST else declared.live_version
    told = f"{wanted}, the newest" if declared.live_version == _NEWEST else f"{wanted}, as declared"
    command = aws(
        declared,
        "bedrock-agentcore-control",
        "update-agent-runtime-endpoint",
        agent_runtime_id=declared.runtime_id,
        endpoint_name=declared.endpoint,
        agent_runtime_version=wanted,
    )
    if live != wanted:
        return fault(
            "the endpoint serves another version than was declared",
            found=(f"version {live}",),
            wanted=(f"version {told}",),
            mend=(_deploy(declared),),
            commands=(command,),
        )
    if target and target != live:
        return fault(
            "the endpoint is on its way to another version than was declared",
            found=(f"serves {live}, on its way to {target}",),
            wanted=(f"version {told}",),
            mend=(_deploy(declared),),
            commands=(command,),
        )
    return ok(f"READY, and serves version {told}")


def _deploy(declared: Declared) -> str:
    return f"{deploy(declared)}; agent.live_version in the environment file says what is wanted"


CHECK: Final = Check(
    name="endpoint",
    looks_at="the status of the endpoint `live`, and the version that it serves",
    why="A version that nobody declared runs with settings that nobody reviewed.",
    run=judge,
)

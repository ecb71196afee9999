"""Check that the agent's role can let X-Ray into the agent's log group."""

from __future__ import annotations

from typing import Final

from console.doctor.account import Account, Failed, RolePolicies, Ruled
from console.doctor.check import Check, Result, could_not, fault, ok, unknown, warning
from console.doctor.declared import Declared
from console.doctor.policy_text import NO_CONTEXT, MalformedPolicyError, Rule, applies, rules

ACTION: Final = "logs:PutResourcePolicy"
_MEND: Final = (
    'role.put_resource_policy = "any" in the environment file, and deploy',
    "for a role of your own: make needs prints what it lacks",
)


def judge(declared: Declared, account: Account) -> Result:
    """Look whether the role may write resource policies, unless the environment says that it shall not."""
    wants = declared.put_resource_policy != "none"
    match account.role:
        case Failed() as failed:
            return could_not(failed)
        case Ruled() as ruled:
            allowed, why = _ruled(ruled)
        case RolePolicies() as held:
            found = _by_documents(declared, held)
            if found is None:
                return unknown("whether the role may let X-Ray in depends on conditions that are not judged here")
            allowed, why = found
    if not wants:
        if allowed:
            return warning(
                f"the role may change resource policies, and the environment says that it shall not ({why})",
                found=(f"{ACTION} is allowed",),
                wanted=('none: role.put_resource_policy = "none"',),
                mend=("take the action out of the role's policies",),
            )
        return ok(
            "the role may not change resource policies, as declared: X-Ray comes in by the account's policy alone"
        )
    if allowed:
        return ok(f"the role may let X-Ray into the agent's group ({why})")
    return fault(
        f"the role cannot let X-Ray into the agent's group ({why}): a new group gets no spans",
        found=(f"{ACTION} is not allowed on {declared.group_arn}",),
        wanted=(f"{ACTION} allowed",),
        mend=_MEND,
    )


def _ruled(ruled: Ruled) -> tuple[bool, str]:
    if ruled.by_organisation is False:
        return False, "a policy of the organisation denies it"
    if ruled.by_boundary is False:
        return False, "the role's permissions boundary does not let it"
    return ruled.decision == "allowed", f"IAM's simulator says {ruled.decision}"


def _by_documents(declared: Declared, held: RolePolicies) -> tuple[bool, str] | None:
    """Weigh the role's own documents: what an organisation denies is not in them. None where conditions decide."""
    own = _weighed(declared, held.documents)
    if held.boundary is None or own is None or not own[0]:
        return own
    bounded = _weighed(declared, (held.boundary,))
    return (False, "the role's permissions boundary does not let it") if bounded == (False, _SILENT) else bounded


_SILENT: Final = "no policy of the role allows it"


def _weighed(declared: Declared, documents: tuple[str, ...]) -> tuple[bool, str] | None:
    said: list[tuple[Rule, bool | None]] = []
    for document in documents:
        try:
            found = rules(document)
        except MalformedPolicyError:
            return None
        said.extend((rule, applies(rule, NO_CONTEXT)) for rule in found if _concerns(declared, rule))
    # Nothing is known of the request, so that each condition leaves it open whether the statement applies.
    denials = [(rule, held) for rule, held in said if not rule.allows]
    if any(held for _, held in denials):
        return False, f"{denials[0][0].name} denies it"
    grants = [(rule, held) for rule, held in said if rule.allows]
    if denials or (grants and not any(held for _, held in grants)):
        return None
    return (True, f"{grants[0][0].name} allows it") if grants else (False, _SILENT)


def _concerns(declared: Declared, rule: Rule) -> bool:
    return rule.covers(ACTION) and rule.reaches(declared.group_arn, f"{declared.group_arn}:*")


CHECK: Final = Check(
    name="role",
    looks_at=f"whether the agent's role may call {ACTION} on the agent's log group",
    why="The service writes X-Ray's right to a new group under this role; without it that group gets no spans.",
    run=judge,
    of_cloudwatch=True,
)

"""Check what no single value can tell: rules across the keys of one file.

The rules read the raw tables, so that they speak even where another value of the same file is at fault.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import Any, Final

from agent_image.contract import CLOUDWATCH, TOKENS_KEY, TOKENS_MODEL
from stacks.settings.fault import Fault, shown
from stacks.settings.model import Session

Table = Mapping[str, Any]
# What an artifact is called in the file -> the key that says which one runs, and what the key takes.
_REFERENCES: Final = {
    "image": ("image", "Image digest (sha256:…), as `make image` writes it"),
    "code": ("bundle", "the version that `make bundle` writes; 32 zeros where there is no bundle yet"),
}
_PRICED: Final = frozenset({"input_usd", "output_usd"})
DISPOSABLE_ENVIRONMENT: Final = "dev"
"""The environment whose trail is deleted on destroy unless its file says keep."""


def on_destroy(name: str, declared: str | None) -> str:
    """Settle what becomes of the trail: what the file says, else delete in `dev` and keep anywhere else."""
    return declared or ("delete" if name == DISPOSABLE_ENVIRONMENT else "keep")


def look_up(table: Table, path: str) -> Any:
    """Find a value by its dotted key path, or None where any part of it is missing."""
    value: Any = table
    for key in path.split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def _content_needs_masking(_name: str, table: Table) -> Iterator[tuple[str, str, str | None]]:
    if look_up(table, "observability.capture") != "content":
        return
    if not masks(look_up(table, "observability.masking")):
        yield (
            "observability.masking",
            "capture = content puts texts into the trail, and nothing masks them",
            ("list identifiers or patterns, or choose metadata, address or archive"),
        )
    if not look_up(table, "observability.content_reason"):
        yield (
            "observability.content_reason",
            "capture = content needs a written reason, and there is none",
            ("say why texts must be in the trail, or choose metadata, address or archive"),
        )


def _kept_environment_needs_digest(name: str, table: Table) -> Iterator[tuple[str, str, str | None]]:
    image = look_up(table, "agent.image")
    if not isinstance(image, str) or image.startswith("sha256:"):
        return
    if on_destroy(name, look_up(table, "on_destroy")) == "keep":
        yield (
            "agent.image",
            "is a tag, which may point elsewhere tomorrow",
            ('write the digest (sha256:…); a tag is allowed only where on_destroy = "delete"'),
        )


def _artifact_names_what_runs(_name: str, table: Table) -> Iterator[tuple[str, str, str | None]]:
    artifact = look_up(table, "agent.artifact") or "image"
    if artifact not in tuple(_REFERENCES) or not isinstance(look_up(table, "agent"), Mapping):
        return
    for runs, (key, takes) in _REFERENCES.items():
        given = look_up(table, f"agent.{key}") is not None
        if runs == artifact and not given:
            yield f"agent.{key}", f"is required by artifact = {artifact}, and missing", takes
        if runs != artifact and given:
            yield f"agent.{key}", f"is not what runs: artifact = {artifact}", "leave it out, or change agent.artifact"


def _headers_need_endpoint(_name: str, table: Table) -> Iterator[tuple[str, str, str | None]]:
    destination = look_up(table, "observability.destination")
    if look_up(table, "observability.destination_headers_secret_arn") and destination in (None, CLOUDWATCH):
        yield (
            "observability.destination_headers_secret_arn",
            "holds headers of an OTLP endpoint, and the destination is cloudwatch",
            "set observability.destination, or leave the secret out",
        )


def _idle_within_lifetime(_name: str, table: Table) -> Iterator[tuple[str, str, str | None]]:
    idle = _seconds(table, "idle_timeout_seconds")
    life = _seconds(table, "max_lifetime_seconds")
    if idle is not None and life is not None and idle > life:
        problem = f"{idle} seconds are longer than max_lifetime_seconds"
        yield "agent.session.idle_timeout_seconds", problem, f"allowed: at most {life}"


def _seconds(table: Table, key: str) -> Decimal | None:
    """Give a time of the session, the default if the file names none, or None where the value is no number."""
    value = look_up(table, f"agent.session.{key}")
    if value is None:
        return Decimal(Session.model_fields[key].default)
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        return None
    return Decimal(value) if Decimal(value).is_finite() else None


def _boundary_needs_own_making(_name: str, table: Table) -> Iterator[tuple[str, str, str | None]]:
    if look_up(table, "role.arn") and look_up(table, "role.permissions_boundary_arn"):
        yield (
            "role.permissions_boundary_arn",
            "bounds the role that is made, and role.arn says that none is",
            ("set one of the two"),
        )


def _jwt_names_someone(_name: str, table: Table) -> Iterator[tuple[str, str, str | None]]:
    auth = look_up(table, "auth")
    if isinstance(auth, Mapping) and auth.get("type") == "JWT" and not (auth.get("audiences") or auth.get("clients")):
        yield "auth.audiences", "every token of the provider would be let in", "list audiences or clients"


def _lock_needs_keep(name: str, table: Table) -> Iterator[tuple[str, str, str | None]]:
    if look_up(table, "observability.audit_object_lock_days") is None:
        return
    if on_destroy(name, look_up(table, "on_destroy")) == "delete":
        yield (
            "observability.audit_object_lock_days",
            "locks objects that on_destroy = delete must be able to delete",
            ('set on_destroy = "keep", or leave the lock out'),
        )


def _tokens_have_a_price(_name: str, table: Table) -> Iterator[tuple[str, str, str | None]]:
    tokens = look_up(table, f"usage.{TOKENS_KEY}")
    if isinstance(tokens, Mapping) and TOKENS_MODEL not in tokens and not tokens.keys() >= _PRICED:
        yield (
            f"usage.{TOKENS_KEY}",
            "counts tokens that have no price",
            f"name a {TOKENS_MODEL} whose list price holds, or state {' and '.join(sorted(_PRICED))}",
        )


ENVIRONMENT_RULES: Final[tuple[Callable[[str, Table], Iterator[tuple[str, str, str | None]]], ...]] = (
    _content_needs_masking,
    _artifact_names_what_runs,
    _kept_environment_needs_digest,
    _headers_need_endpoint,
    _idle_within_lifetime,
    _boundary_needs_own_making,
    _jwt_names_someone,
    _lock_needs_keep,
    _tokens_have_a_price,
)


def environment_faults(file: str, name: str, table: Table) -> Iterator[Fault]:
    """Apply the rules that stay within one environment file."""
    for rule in ENVIRONMENT_RULES:
        for path, problem, allowed in rule(name, table):
            found = look_up(table, path)
            value = None if found is None or isinstance(found, Mapping | list) else shown(found)
            yield Fault(file, path, problem, value, allowed)


def expression_faults(file: str, table: Table) -> Iterator[Fault]:
    """Refuse texts that Terraform would read as expressions: settings are text, in the stack as in the file."""
    for path, text in _texts(table):
        if "${" in text or "%{" in text:
            problem = "holds ${ or %{, which Terraform reads as an expression"
            yield Fault(file, path, problem, shown(text), "write it without")


def _texts(table: Table) -> Iterator[tuple[str, str]]:
    # Without recursion: a file may nest deeper than Python's stack.
    open_: list[tuple[str, object]] = [("", table)]
    while open_:
        place, value = open_.pop()
        if isinstance(value, str):
            yield place.lstrip("."), value
        elif isinstance(value, Mapping):
            open_ += [(f"{place}.{key}", item) for key, item in value.items()]
        elif isinstance(value, list):
            open_ += [(f"{place}.{position}", item) for position, item in enumerate(value)]


def account_masking_faults(file: str, account: Table) -> Iterator[Fault]:
    """Refuse to declare account-level masking that somebody else is said to manage: an account takes one policy."""
    if account.get("masking_managed_elsewhere") is True and masks(account.get("masking")):
        problem = "is declared here, and masking_managed_elsewhere says that it is not"
        yield Fault(file, "masking", problem, None, "keep one of the two")


def account_state_faults(file: str, account: Table) -> Iterator[Fault]:
    """Refuse a Region of a bucket that is not named: what `make bootstrap` makes is in the account's own."""
    region = look_up(account, "state.region")
    if isinstance(region, str) and look_up(account, "state.bucket") is None:
        problem = "is the Region of a bucket of your own, and none is named"
        yield Fault(file, "state.region", problem, shown(region), "name state.bucket, or leave the Region out")


def account_pipeline_faults(file: str, account: Table) -> Iterator[Fault]:
    """Refuse a pipeline whose role nobody could take over."""
    pipeline = look_up(account, "pipeline")
    if isinstance(pipeline, Mapping) and not (pipeline.get("environments") or pipeline.get("branches")):
        problem = "nobody may deploy: the list is empty, and so is pipeline.branches"
        yield Fault(file, "pipeline.environments", problem, None, "name a GitHub environment, or a branch")


def masks(masking: object) -> bool:
    """Tell whether a table of masking lists anything."""
    return isinstance(masking, Mapping) and bool(masking.get("identifiers") or masking.get("patterns"))

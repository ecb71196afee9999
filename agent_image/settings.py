"""Read the settings document that the stack, or `rastro dev`, hands to the process: once, whole, frozen."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from types import MappingProxyType
from typing import Any, Final

from agent_image.contract import (
    CAPTURE_VARIABLE,
    CLOUDWATCH,
    SETTINGS_VARIABLE,
    TOP_K_DEFAULT,
    TOP_K_LIMIT,
    Regime,
    Setting,
)
from agent_image.errors import SettingsError


@dataclass(frozen=True, slots=True)
class Settings:
    """Hold what one process runs on. Places are URLs or names, so that a laptop can name others than AWS's.

    Attributes:
        environment: the environment's name.
        capture: the regime; what the trail holds.
        models: the model to call comes first: an ARN, or a URL such as `bedrock://…`, `ollama://…`, `offline:`.
        region: the AWS Region, or None away from AWS.
        knowledge_base: `bedrock://<id>`, `folder:<path>?window=…&overlap=…`, or None: an agent without one.
        top_k: passages that one retrieval asks for.
        index_version: overrides what the knowledge base says of itself.
        store: `dynamodb://<table>`, `sqlite:///…`, `postgresql://…`; the guard's state and the known fingerprints.
        archive: `s3://<bucket>/<prefix>` or `file:<folder>`.
        audit: where audit records go; the same forms.
        alerts: the topic's ARN.
        guard: the limits of a session, as the document says them.
        hooks: hook files and the models that they name, as the document says them.
        ledger: `file:<path>`, where the sample's tools book their effects, or None: an agent without them.
        destination: `cloudwatch`, an OTLP endpoint (`https://…`), or `file:<path>` for JSON lines.
        destination_headers: the ARN of the secret that holds the OTLP endpoint's headers as a JSON object.
        prune_event_loop: whether the event loop's own spans are left out.
        kept_sessions: the share of sessions whose spans are kept whatever happens; the others are kept if they fail.
    """

    environment: str
    capture: Regime
    models: tuple[str, ...]
    region: str | None = None
    knowledge_base: str | None = None
    top_k: int = TOP_K_DEFAULT
    index_version: str | None = None
    store: str | None = None
    archive: str | None = None
    audit: str | None = None
    alerts: str | None = None
    guard: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    hooks: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    ledger: str | None = None
    destination: str = CLOUDWATCH
    destination_headers: str | None = None
    prune_event_loop: bool = False
    kept_sessions: Decimal = Decimal(1)


def load(variables: Mapping[str, str], fetch: Callable[[str], str]) -> Settings:
    """Read the settings out of the process's variables.

    `fetch` reads the document behind an `s3://` URI, where it is too long for a variable.

    Raises:
        SettingsError: with every fault.
    """
    value = variables.get(SETTINGS_VARIABLE, "").strip()
    if not value:
        raise SettingsError([f"{SETTINGS_VARIABLE} is not set; allowed: a JSON object, or s3://bucket/key?versionId=…"])
    text = fetch(value) if value.startswith("s3://") else value
    try:
        document = json.loads(text, parse_float=Decimal)
    except ValueError as error:
        raise SettingsError([f"{SETTINGS_VARIABLE} is not JSON: {error}"]) from None
    if not isinstance(document, dict):
        raise SettingsError([f"{SETTINGS_VARIABLE} is {type(document).__name__}; allowed: a JSON object"])
    return parse(document, variables.get(CAPTURE_VARIABLE))


def parse(document: Mapping[str, Any], capture: str | None) -> Settings:
    """Check a settings document and freeze it.

    Raises:
        SettingsError: with every fault.
    """
    faults = [*_capture_faults(capture), *_faults(document)]
    if faults:
        raise SettingsError(faults)
    known = {str(key): document[key] for key in Setting if document.get(key) is not None}
    known[Setting.MODELS] = tuple(known[Setting.MODELS])
    for table in (Setting.GUARD, Setting.HOOKS):
        known[table] = MappingProxyType(known.get(table, {}))
    known[Setting.KEPT_SESSIONS] = Decimal(known.get(Setting.KEPT_SESSIONS, 1))
    return Settings(capture=Regime(capture or ""), **{str(key): value for key, value in known.items()})


@dataclass(frozen=True, slots=True)
class _Rule:
    """State what a key's value may be."""

    allowed: str
    holds: Callable[[Any], bool]


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(_is_text(one) for one in value)


def _is_top_k(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= TOP_K_LIMIT


def _is_share(value: object) -> bool:
    return isinstance(value, int | Decimal) and not isinstance(value, bool) and 0 <= value <= 1


_TEXT: Final = _Rule("a text that is not empty", _is_text)
_RULES: Final[Mapping[Setting, _Rule]] = MappingProxyType(
    {
        **dict.fromkeys(Setting, _TEXT),
        Setting.MODELS: _Rule("a list of ARNs or URLs, the model to call first", _is_texts),
        Setting.TOP_K: _Rule(f"a whole number from 1 to {TOP_K_LIMIT}", _is_top_k),
        **dict.fromkeys((Setting.GUARD, Setting.HOOKS), _Rule("an object", lambda value: isinstance(value, dict))),
        Setting.PRUNE_EVENT_LOOP: _Rule("true or false", lambda value: isinstance(value, bool)),
        Setting.KEPT_SESSIONS: _Rule("a number from 0 to 1", _is_share),
    }
)
_REQUIRED: Final = (Setting.ENVIRONMENT, Setting.MODELS)


def _capture_faults(capture: str | None) -> Iterator[str]:
    allowed = ", ".join(Regime)
    if capture not in set(Regime):
        shown = "not set" if capture is None else repr(capture)
        yield f"{CAPTURE_VARIABLE} is {shown}; allowed: {allowed}"


def _faults(document: Mapping[str, Any]) -> Iterator[str]:
    for key in document:
        if key not in set(Setting):
            yield f"{key!r} is no setting; allowed: {', '.join(Setting)}"
    for key in _REQUIRED:
        if document.get(key) is None:
            yield f"{key} is missing; allowed: {_RULES[key].allowed}"
    for key in Setting:
        value = document.get(key)
        if value is not None and not _RULES[key].holds(value):
            yield f"{key} is {value!r}; allowed: {_RULES[key].allowed}"

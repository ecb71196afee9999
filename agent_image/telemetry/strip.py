"""Strip a span to what holds no free text: pure, an allow-list of keys and of the forms their values may have."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final
from urllib.parse import urlsplit

from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import Link, SpanContext, Status
from opentelemetry.util.types import AttributeValue

from agent_image.contract import SCOPE, Regime, Span

Form = Callable[[Any], AttributeValue | None]
"""Give the value as it may leave, or None where it may not."""

TOKEN: Final = re.compile(r"[A-Za-z0-9_.:/@+=-]{1,256}")
"""What names, ids, ARNs, models and routes look like, and sentences do not."""
CODE: Final = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
SERVICE: Final = re.compile(r"[A-Za-z0-9]{1,32}( [A-Za-z0-9]{1,32}){0,5}")
NUMBERS: Final = re.compile(r"[0-9]{1,6}( [0-9]{1,6})*")
SERVICE_OPERATION: Final = re.compile(r"[A-Za-z0-9 -]{1,64}\.[A-Za-z0-9]{1,64}")
PRINTABLE: Final = re.compile(r"[!-~]([ -~]{0,254}[!-~])?")
TEXTS_IN_A_LIST: Final = 32
KEYS_REMEMBERED: Final = 1_024
"""Keys whose form is remembered: a process meets the same few on every span."""
INT64: Final = range(-(2**63), 2**63)
REDACTED: Final = frozenset({"REDACTED", "[REDACTED]"})
"""What the first locks leave in place of a text: a first lock that holds is no finding."""


def number(value: Any) -> AttributeValue | None:  # noqa: ANN401
    """Pass numbers and truth values that OTLP can carry."""
    if isinstance(value, int):
        return value if value in INT64 else None
    return value if isinstance(value, float) else None


def token(value: Any) -> AttributeValue | None:  # noqa: ANN401
    """Pass a token, a number, or a short list of either."""
    if isinstance(value, str):
        return value if TOKEN.fullmatch(value) and value not in REDACTED else None
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        tokens = [one for one in value if isinstance(one, str) and TOKEN.fullmatch(one)]
        return tokens[:TEXTS_IN_A_LIST] if len(tokens) == len(value) else None
    return number(value)


def origin(value: Any) -> AttributeValue | None:  # noqa: ANN401
    """Pass a URL's scheme, host and port: the path of an outbound call is as often as not an argument of a tool's."""
    try:
        url = urlsplit(value)
        host, port = url.hostname or "", url.port
    except (ValueError, TypeError, AttributeError):
        return None
    whole = f"{url.scheme}://{host}" + (f":{port}" if port else "")
    return whole if host and ":" not in host and TOKEN.fullmatch(whole) else None


def service(value: Any) -> AttributeValue | None:  # noqa: ANN401
    """Pass the name of an AWS service, as its model gives it: a few words."""
    return value if isinstance(value, str) and SERVICE.fullmatch(value) else None


def numbers(value: Any) -> AttributeValue | None:  # noqa: ANN401
    """Pass whole numbers with a space between them."""
    return value if isinstance(value, str) and NUMBERS.fullmatch(value) else None


def session(value: Any) -> AttributeValue | None:  # noqa: ANN401
    """Pass an id as its caller wrote it: one line of printable ASCII, of at most 256 characters."""
    return value if isinstance(value, str) and PRINTABLE.fullmatch(value) else None


def text(value: Any) -> AttributeValue | None:  # noqa: ANN401
    """Pass a text of ours, of any length: size.py bounds it."""
    return carried(value) if isinstance(value, str) else None


def carried(value: str) -> str:
    """Make a text one that UTF-8 can carry."""
    return value.encode("utf-8", "replace").decode()


def nothing(_: Any) -> AttributeValue | None:  # noqa: ANN401
    """Pass nothing."""
    return None


@dataclass(frozen=True, slots=True)
class Group:
    """Say of keys, and of key prefixes, what form their values leave in, and why."""

    reason: str
    form: Form
    keys: frozenset[str] = frozenset()
    prefixes: tuple[str, ...] = ()


def _group(reason: str, form: Form, keys: str, *prefixes: str) -> Group:
    return Group(reason, form, frozenset(keys.split()), prefixes)


LIBRARIES: Final = (
    _group("whose the span is; set by the caller, kept as it is", session, "session.id gen_ai.conversation.id"),
    _group(
        "names of operations, models, agents, tools and ids that a program gave",
        token,
        "gen_ai.operation.name gen_ai.provider.name gen_ai.system gen_ai.request.model gen_ai.response.model "
        "gen_ai.response.id gen_ai.response.finish_reasons gen_ai.agent.id gen_ai.agent.name gen_ai.output.type "
        "gen_ai.tool.name gen_ai.tool.type gen_ai.tool.call.id gen_ai.tool.status gen_ai.data_source.id "
        "gen_ai.token.type openinference.span.kind strands.cancellation.type error.type exception.type",
    ),
    _group(
        "counts, times and parameters of model calls",
        number,
        "gen_ai.request.max_tokens gen_ai.request.temperature gen_ai.request.top_p gen_ai.request.top_k "
        "gen_ai.usage.input_tokens gen_ai.usage.output_tokens gen_ai.usage.total_tokens gen_ai.retrieval.top_k",
        "gen_ai.usage.cache_",
        "gen_ai.server.",
        "memory.",
    ),
    _group(
        "which AWS service was called, and how AWS names the call",
        token,
        "rpc.system rpc.method aws.region aws.request_id retry_attempts "
        "aws.bedrock.knowledge_base.id aws.bedrock.guardrail.id aws.bedrock.agent.id aws.dynamodb.table_names "
        "aws.s3.bucket aws.trace.flag.sampled",
        "aws.agentcore.gateway.routing_experiment_",
    ),
    _group("the AWS service's own name, which has spaces", service, "rpc.service"),
    _group(
        "what an HTTP exchange was and how it ended, without what it asked",
        token,
        "http.method http.request.method http.status_code http.response.status_code http.route",
    ),
    _group("where a request went: scheme, host and port", origin, "http.url url.full"),
)
"""What any instrumentation may leave."""

OURS: Final = (
    _group("where sources lie, and the index's own version", text, "rag.base rag.index_version"),
    _group("the numbers of the passages that an answer cites", numbers, "rag.cited rag.unsupported"),
    _group("codes, names, numbers and digests of the kit's own", token, "openinference.span.kind", "rag.", "rastro."),
)
"""What the kit's own spans may leave beside: its names pass from no other scope."""

TEXTS: Final = frozenset({Span.QUESTION.value, Span.ANSWER_TEXT.value, Span.NOTE.value})
"""What the kit's own spans hold as text, in the regime that holds texts."""

WORTHLESS: Final = (
    _group(
        "said by the span's own times, or twice under an older name",
        nothing,
        "gen_ai.event.start_time gen_ai.event.end_time gen_ai.usage.prompt_tokens gen_ai.usage.completion_tokens "
        "aws.auth.region db.operation db.system net.peer.name server.address server.port",
        "event_loop.",
    ),
    _group(
        "the same in every span of an agent, at hundreds of bytes each: the image says it",
        nothing,
        "gen_ai.tool.description gen_ai.tool.json_schema gen_ai.agent.tools gen_ai.tool.definitions",
    ),
    _group("part of a credential", nothing, "aws.auth.account.access_key"),
    _group(
        "who called, and with what: the runtime's own proxy, in every invocation",
        nothing,
        "http.scheme http.host http.flavor http.server_name http.user_agent http.target url.path url.query url.scheme "
        "user_agent.original client.address client.port network.protocol.version asgi.event.type",
        "net.",
        "network.peer.",
    ),
)
"""What is left out for what it costs or tells, and is no finding: it does not count as stripped."""


@dataclass(frozen=True, slots=True)
class Strip:
    """Strip the spans of a process, by its regime."""

    regime: Regime

    def __call__(self, span: ReadableSpan) -> ReadableSpan:
        """Give the span as it may leave: its ids, times and kind are the same."""
        ours = span.instrumentation_scope is not None and span.instrumentation_scope.name == SCOPE
        attributes = self._attributes(span.attributes or {}, ours=ours)
        return ReadableSpan(
            name=_name(span, attributes),
            context=_context(span.get_span_context()),
            parent=_context(span.parent),
            resource=span.resource,
            attributes=attributes,
            events=tuple(_events(span.events)),
            links=tuple(Link(_bare(link.context)) for link in span.links),
            kind=span.kind,
            status=_status(span.status, ours=ours),
            start_time=span.start_time,
            end_time=span.end_time,
            instrumentation_scope=_scope(span.instrumentation_scope),
        )

    def _attributes(self, attributes: Mapping[str, AttributeValue], *, ours: bool) -> dict[str, AttributeValue]:
        kept: dict[str, AttributeValue] = {}
        stripped = 0
        for key, value in attributes.items():
            form = self._form(key, ours=ours)
            left = None if form is None else form(value)
            if left is not None:
                kept[key] = left
            elif form is not nothing and not (isinstance(value, str) and value in REDACTED):
                stripped += 1
        return kept | ({Span.STRIPPED.value: stripped} if stripped else {})

    def _form(self, key: str, *, ours: bool) -> Form | None:
        if ours and key == Span.DOCUMENTS:
            return self._documents
        if ours and key in TEXTS:
            return text if self.regime is Regime.CONTENT else None
        return _form(key, ours=ours)

    def _documents(self, value: Any) -> AttributeValue | None:  # noqa: ANN401
        if self.regime is Regime.CONTENT:
            return text(value)
        return addresses_only(value)


def addresses_only(value: Any) -> AttributeValue | None:  # noqa: ANN401
    """Take everything but ids and scores out of a list of documents; what is no such list does not pass."""
    try:
        documents = json.loads(value)
        kept = [{"id": str(one["id"]), "score": number(one.get("score"))} for one in documents]
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
    return carried(json.dumps(kept, separators=(",", ":"), ensure_ascii=False))


@lru_cache(maxsize=KEYS_REMEMBERED)
def _form(key: str, *, ours: bool) -> Form | None:
    groups = (*(OURS if ours else ()), *LIBRARIES, *WORTHLESS)
    return next((group.form for group in groups if key in group.keys or key.startswith(group.prefixes)), None)


def _context(context: SpanContext | None) -> SpanContext | None:
    return None if context is None else _bare(context)


def _bare(context: SpanContext) -> SpanContext:
    # The trace state is whatever the caller's header said.
    return SpanContext(context.trace_id, context.span_id, context.is_remote, context.trace_flags)


def _scope(scope: InstrumentationScope | None) -> InstrumentationScope | None:
    if scope is None:
        return None
    name, version, schema_url = (str(token(one) or "") for one in (scope.name, scope.version, scope.schema_url))
    return InstrumentationScope(name, version, schema_url)


def _events(events: Sequence[Event]) -> Iterator[Event]:
    for event in events:
        kind = token((event.attributes or {}).get("exception.type"))
        if event.name == "exception" and kind is not None:
            yield Event("exception", {"exception.type": kind}, event.timestamp)


def _status(status: Status, *, ours: bool) -> Status:
    # Others' descriptions are exceptions' texts; ours are codes, unless the SDK wrote an exception's text for us.
    is_code = ours and CODE.fullmatch(status.description or "") is not None
    return Status(status.status_code, status.description if is_code else None)


OPERATIONS: Final = frozenset(
    {
        "chat",
        "embeddings",
        "execute_tool",
        "invocation",
        "generate_content",
        "invoke_agent",
        "retrieval",
        "text_completion",
    }
    | {"CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE", "HTTP"}
)
"""What may stand before another token in a span's name."""
BOTOCORE: Final = "opentelemetry.instrumentation.botocore"


def _name(span: ReadableSpan, attributes: Mapping[str, AttributeValue]) -> str:
    """Name a span by tokens: a model may have invented the tool that it calls."""
    scope = span.instrumentation_scope.name if span.instrumentation_scope else ""
    first, _, rest = span.name.partition(" ")
    if scope.startswith(BOTOCORE) and SERVICE_OPERATION.fullmatch(span.name):
        return span.name
    if first in OPERATIONS:
        return span.name if TOKEN.fullmatch(rest) else first
    return span.name if TOKEN.fullmatch(span.name) else str(attributes.get(Span.OPERATION, "span"))

"""List what a span may hold, each group of keys with its form and its reason. What is not here stays here."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from agent_image.contract import Span
from agent_image.telemetry.forms import Form, nothing, number, numbers, origin, service, session, text, token

KEYS_REMEMBERED: Final = 1_024
"""Keys whose form is remembered: a process meets the same few on every span."""


TOOL: Final = "gen_ai.tool.name"
TOOL_DESCRIPTION: Final = "gen_ai.tool.description"
"""What stands on the span of a tool that the agent has: without it, the model made the tool's name up."""


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

TEXTS: Final = (Span.QUESTION.value, Span.ANSWER_TEXT.value, Span.NOTE.value)
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


@lru_cache(maxsize=KEYS_REMEMBERED)
def form_of(key: str, *, ours: bool) -> Form | None:
    """Give the form of a key's value, on a span of ours or of a library's; None where nobody listed the key."""
    groups = (*(OURS if ours else ()), *LIBRARIES, *WORTHLESS)
    return next((group.form for group in groups if key in group.keys or key.startswith(group.prefixes)), None)

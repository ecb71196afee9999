"""Hold every name that two parts of the kit share.

Standard library only, data only: the stacks write these names, the image reads them, the cost model and the console
find them again in what was deployed. A name that stands here stands nowhere else as a literal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import IntEnum, StrEnum
from types import MappingProxyType
from typing import Final


class Regime(StrEnum):
    """Name what a retrieval span holds; each regime answers more of "what was it reading?" than the one before."""

    METADATA = "metadata"
    ADDRESS = "address"
    ARCHIVE = "archive"
    CONTENT = "content"


# --- environment variables of the runtime ---------------------------------------------------------------------------

CAPTURE_VARIABLE: Final = "RAG_CAPTURE"
SETTINGS_VARIABLE: Final = "RASTRO_SETTINGS"
SETTINGS_INLINE_LIMIT: Final = 4_000
"""Characters of settings JSON above which the variable holds `s3://<bucket>/<key>?versionId=<id>` instead."""
VARIABLES_LIMIT: Final = 50
"""Variables that one runtime takes (CreateAgentRuntime)."""
VARIABLE_VALUE_LIMIT: Final = 5_000
"""Characters that one variable's value takes (CreateAgentRuntime)."""

_REDACTED_ATTRIBUTES: Final = (
    "content",
    "message",
    "tool.result",
    "gen_ai.input.messages",
    "gen_ai.output.messages",
    "gen_ai.system_instructions",
    # Not all of `gen_ai.tool.call.*`: the id of a call is no content, and joins a span with its events.
    "gen_ai.tool.call.arguments",
    "gen_ai.tool.call.result",
    "system_prompt",
    "exception.message",
    "exception.stacktrace",
)

# Two libraries export content by default, each with a switch of its own, and a third lock catches memory spans and
# exceptions. The switches are the same in every regime: in `content` the kit writes each text once, itself, and the
# libraries' copies (up to six of one passage) stay off.
_SWITCHES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "UNIFIED_TRACES_DESTINATION_ENABLED": "true",
        "AWS_GENAI_CONTENT_EXTRACTION_OPT_OUT": "true",
        "OTEL_SEMCONV_STABILITY_OPT_IN": "gen_ai_latest_experimental,gen_ai_unredacted_attributes=",
        "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "false",
        "AWS_REDACT_SPAN_ATTRIBUTES": ",".join(_REDACTED_ATTRIBUTES),
        "OTEL_TRACES_SAMPLER": "always_on",
        "OTEL_PYTHON_EXCLUDED_URLS": "/ping",
        "OTEL_LOGS_EXPORTER": "none",
        "OTEL_PYTHON_LOGGING_AUTO_INSTRUMENTATION_ENABLED": "false",
        "OTEL_PYTHON_LOG_CORRELATION": "false",
        "OTEL_METRICS_EXPORTER": "none",
        "OTEL_BAGGAGE_SPAN_ATTRIBUTE_KEYS": "session.id",
        "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "64",
    }
)

TELEMETRY_SWITCHES: Final[Mapping[Regime, Mapping[str, str]]] = MappingProxyType(
    {regime: MappingProxyType({CAPTURE_VARIABLE: regime.value, **_SWITCHES}) for regime in Regime}
)
"""The variables that make a regime true, per regime."""

CONTAINER_VARIABLE: Final = "DOCKER_CONTAINER"
"""With it the server listens beyond loopback: AgentCore reaches it from outside."""
LAUNCH: Final[Mapping[str, str]] = MappingProxyType(
    {
        "AGENT_OBSERVABILITY_ENABLED": "true",
        "OTEL_PYTHON_DISTRO": "aws_distro",
        "OTEL_PYTHON_CONFIGURATOR": "aws_configurator",
        CONTAINER_VARIABLE: "1",
        "PYTHONUNBUFFERED": "1",
    }
)
"""What `opentelemetry-instrument`, Python and the server read before our code runs: ENV of the image, and variables of
the runtime where code is deployed without one."""

# --- the settings document (the value of SETTINGS_VARIABLE) -----------------------------------------------------------


class Setting(StrEnum):
    """Name the keys of the settings document; the values are URLs or names, so that a laptop can name others."""

    ENVIRONMENT = "environment"
    REGION = "region"
    MODELS = "models"
    KNOWLEDGE_BASE = "knowledge_base"
    TOP_K = "top_k"
    INDEX_VERSION = "index_version"
    DESTINATION = "destination"
    DESTINATION_HEADERS = "destination_headers"
    PRUNE_EVENT_LOOP = "prune_event_loop"
    KEPT_SESSIONS = "kept_sessions"
    STORE = "store"
    ARCHIVE = "archive"
    AUDIT = "audit"
    ALERTS = "alerts"
    GUARD = "guard"
    HOOKS = "hooks"
    LEDGER = "ledger"


CLOUDWATCH: Final = "cloudwatch"
"""The destination that AgentCore itself sets up: X-Ray's OTLP endpoint, stored in the agent's log group."""
PLATFORM_DEFAULTS_OFF: Final = "DISABLE_ADOT_OBSERVABILITY"
"""The variable by which the runtime leaves out its own telemetry defaults; set where spans go elsewhere."""
OTLP_ENDPOINT: Final = "OTEL_EXPORTER_OTLP_ENDPOINT"
"""The variable that names another OTLP endpoint: with it ADOT names none of AWS's, for spans and logs alike."""
TOP_K_DEFAULT: Final = 5
"""Passages that one retrieval asks for."""
TOP_K_LIMIT: Final = 100
"""Passages that one Retrieve call returns at most (numberOfResults)."""

# --- invocations ------------------------------------------------------------------------------------------------------


class Kind(StrEnum):
    """Name the kinds of invocation by the key that tells them apart in the body."""

    PROMPT = "prompt"
    RESUME = "resume"
    FEEDBACK = "feedback"
    SWEEP = "sweep"


class Status(StrEnum):
    """Name how an invocation ends for its caller; the names of the closing server-sent events are the same."""

    COMPLETED = "completed"
    SUSPENDED = "suspended"
    FAILED = "failed"


class Outcome(StrEnum):
    """Name how an invocation ends in the trail."""

    COMPLETED = "completed"
    SUSPENDED = "suspended"
    REFUSED = "refused"
    BUDGET = "budget"
    LOOP = "loop"
    FAILED = "failed"


class Verdict(StrEnum):
    """Name what a person may say of an answer."""

    GOOD = "good"
    BAD = "bad"


class Zone(StrEnum):
    """Name what a tool may do alone: green runs, yellow runs under the budget, red waits for a person."""

    GREEN = "green"
    YELLOW = "yellow"
    RED = "red"


class Level(IntEnum):
    """Name how people supervise a tool: told afterwards, asked before, or asked with the right to change the call."""

    NOTIFY = 1
    BLOCK = 2
    STEER = 3


class Choice(StrEnum):
    """Name what a person may decide about a checkpoint."""

    APPROVE = "approve"
    EDIT = "edit"
    REJECT = "reject"
    CANCEL = "cancel"


class Ruling(StrEnum):
    """Name what became of a call at the gate, in events and on guard spans."""

    ALLOWED = "allowed"
    ASKED = "asked"
    BLOCKED = "blocked"
    APPROVED = "approved"
    EDITED = "edited"
    REJECTED = "rejected"
    CANCELLED = "cancelled"
    EXPIRED = "expired"
    REPLAYED = "replayed"
    IN_DOUBT = "in_doubt"


class EventName(StrEnum):
    """Name the events of a run, in the audit and on the slim line."""

    RUN_STARTED = "run_started"
    LLM_CALL = "llm_call"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
    GATE = "gate"
    DECISION = "decision"
    HOOK = "hook"
    BUDGET = "budget"
    ALERT = "alert"
    ERROR = "error"
    RUN_ENDED = "run_ended"
    ERASURE = "erasure"


class Field(StrEnum):
    """Name the fields of an event; a text is whole in the audit, and `{bytes, digest}` on the slim line."""

    EVENT = "event"
    TS = "ts"
    SEQ = "seq"
    EVENT_ID = "event_id"
    CHAIN = "chain"
    RUN = "run"
    STEP = "step"
    TRACE_ID = "trace_id"
    SPAN_ID = "span_id"
    AGENT = "agent"
    ATTRIBUTES = "attributes"
    KIND = "kind"
    TOOL = "tool"
    TOOL_USE_ID = "tool_use_id"
    ZONE = "zone"
    DECISION = "decision"
    CHECKPOINT_ID = "checkpoint_id"
    APPROVER = "approver"
    MODEL = "model"
    TOKENS = "tokens"
    COST_USD = "cost_usd"
    PRICES = "prices"
    LATENCY_MS = "latency_ms"
    IS_ERROR = "is_error"
    STOP_REASON = "stop_reason"
    OUTCOME = "outcome"
    ARGS = "args"
    RESULT = "result"
    REASON = "reason"
    REASONS = "reasons"
    CODE = "code"
    HOOK = "hook"
    SEVERITY = "severity"
    EVIDENCE = "evidence"
    WAITED_MS = "waited_ms"
    PREV = "prev"
    HASH = "hash"


SESSION_ID_LENGTH: Final = (33, 256)
"""Characters that a session id takes (InvokeAgentRuntime)."""

# --- spans ------------------------------------------------------------------------------------------------------------


class Span(StrEnum):
    """Name the span attributes that the kit writes and reads."""

    SESSION = "session.id"
    OPERATION = "gen_ai.operation.name"
    DATA_SOURCE = "gen_ai.data_source.id"
    TOP_K = "gen_ai.retrieval.top_k"
    DOCUMENTS = "gen_ai.retrieval.documents"
    KIND = "openinference.span.kind"
    BASE = "rag.base"
    INDEX_VERSION = "rag.index_version"
    PASSAGES = "rag.passages"
    FIRST = "rag.first"
    WITHOUT_SCORE = "rag.without_score"
    WITHOUT_TEXT = "rag.without_text"
    CONTENT_BYTES = "rag.content_bytes"
    CONTENT_TRUNCATED = "rag.content_truncated"
    CITED = "rag.cited"
    UNSUPPORTED = "rag.unsupported"
    ANSWER = "rag.answer"
    QUESTION = "rag.question"
    ANSWER_TEXT = "rag.answer_text"
    RUN = "rastro.run"
    RUN_KIND = "rastro.kind"
    OUTCOME = "rastro.outcome"
    COST = "rastro.cost_usd"
    ARCHIVE_LOST = "rastro.archive_lost"
    VERDICT = "rastro.verdict"
    NOTE = "rastro.note"
    NOTE_BYTES = "rastro.note_bytes"
    NOTE_DIGEST = "rastro.note_digest"
    TOOL = "rastro.tool"
    ZONE = "rastro.zone"
    DECISION = "rastro.decision"
    CHECKPOINT = "rastro.checkpoint"
    HOOK = "rastro.hook"
    REASON = "rastro.reason"
    STRIPPED = "rastro.stripped"


SCOPE: Final = "rastro"
"""The instrumentation scope of the kit's own spans: attributes under the kit's names pass from no other."""

INVOCATION_SPAN: Final = "invocation"
"""The first word of the name of an invocation's span; its kind follows."""
RETRIEVAL_OPERATION: Final = "retrieval"
"""What Span.OPERATION holds on a retrieval span."""
SPAN_DATA_FORMAT: Final = "AWS-OTEL-TRACE-V1"
"""What `@data_format` holds on a span: it tells spans from standard output in the same log group."""

DEFAULT_INDEXED_FIELDS: Final = frozenset(
    {
        "@logStream",
        "@aws.region",
        "@aws.account",
        "@source.log",
        "@data_source_name",
        "@data_source_type",
        "@data_format",
        "traceId",
        "severityText",
        "attributes.session.id",
    }
)
"""Fields that CloudWatch Logs indexes in every STANDARD group, free and not counted (CloudWatchLogs-Field-Indexing)."""

# --- the trail's places -----------------------------------------------------------------------------------------------

RUNTIME_LOG_GROUPS: Final = "/aws/bedrock-agentcore/runtimes/"
"""Prefix of every runtime's log group; `<runtime id>-<endpoint>` follows."""
LIVE_ENDPOINT: Final = "live"
"""The endpoint that callers use: the only one whose log group is masked, kept and indexed as declared."""
SETTINGS_DIGESTS: Final = "rastro_settings"
"""The local value of every stack that maps each settings file it came from to the digest of its bytes."""
AGENT_STACK_PREFIX: Final = "agent-"
"""Prefix of an environment's stack; the environment's name follows."""
ACCOUNT_STACK_PREFIX: Final = "account-"
"""Prefix of an account's stack; the account's alias follows."""
SESSION_HEADER: Final = "X-Amzn-Bedrock-AgentCore-Runtime-Session-Id"
"""The header that carries a caller's session id: 33 to 256 characters."""
USER_HEADER: Final = "X-Amzn-Bedrock-AgentCore-Runtime-User-Id"
"""The header that names the user on whose behalf a caller asks (InvokeAgentRuntimeForUser)."""
DISCOVERY_PREFIX: Final = "/rastro/"
"""Prefix of the SSM parameter that holds an environment's discovery document; the environment's name follows."""
SETTINGS_OBJECT_PREFIX: Final = "settings/"
"""Key prefix, in the versioned audit bucket, of a settings document too long for a variable."""
PASSAGE_OBJECT_PREFIX: Final = "passages/"
"""Key prefix of archived passages; the fingerprint follows."""
STATE_OBJECT_PREFIX: Final = "state/"
"""Key prefix, in the archive bucket, of a record's document too long for an item; its SHA-256 follows."""
AUDIT_OBJECT_PREFIX: Final = "audit/"
"""Key prefix of audit objects."""
DECISION_OBJECT_PREFIX: Final = f"{AUDIT_OBJECT_PREFIX}decisions/"
"""Key prefix of the audit objects that people write: one for each decision. The agent writes none here."""
ERASURE_OBJECT_PREFIX: Final = f"{AUDIT_OBJECT_PREFIX}erasures/"
"""Key prefix of the audit objects that say what people erased: one for each event. The agent writes none here."""


class Discovery(StrEnum):
    """Name the keys of an environment's discovery document."""

    ENVIRONMENT = "environment"
    ACCOUNT_ID = "account_id"
    REGION = "region"
    CAPTURE = "capture"
    RUNTIME_ID = "runtime_id"
    RUNTIME_ARN = "runtime_arn"
    ENDPOINT = "endpoint"
    LOG_GROUP = "log_group"
    RETENTION_DAYS = "retention_days"
    DESTINATION = "destination"
    INDEXED_FIELDS = "indexed_fields"
    MASKING = "masking"
    KMS_KEY = "kms_key"
    LIVE_VERSION = "live_version"
    INDEXING_PERCENTAGE = "indexing_percentage"
    ROLE_ARN = "role_arn"
    PUT_RESOURCE_POLICY = "put_resource_policy"
    KNOWLEDGE_BASE = "knowledge_base"
    TABLE = "table"
    ARCHIVE = "archive"
    AUDIT = "audit"
    ALERTS = "alerts"


# --- the table --------------------------------------------------------------------------------------------------------

TABLE_KEY: Final = "pk"
"""The table's one key attribute, a string: an item prefix and an id."""
TABLE_EXPIRY: Final = "expires_at_epoch"
"""The TTL attribute, in epoch seconds; only closed items carry it."""
OPEN_INDEX: Final = "open"
"""The table's sparse index of what waits: items that are due, by queue, the most urgent first; it holds keys alone."""
QUEUE_KEY: Final = "queue"
"""The index's hash key, a string: the item's prefix. An item that nobody waits for has none, and is not listed."""
DUE_KEY: Final = "due"
"""The index's range key, a string: when somebody should look at the item, in UTC."""


class Item(StrEnum):
    """Name the prefixes of the table's items; IAM tells writers apart by them (`dynamodb:LeadingKeys`)."""

    CHECKPOINT = "checkpoint#"
    DECISION = "decision#"
    SESSION = "session#"
    FINGERPRINT = "fingerprint#"
    OUTBOX = "outbox#"
    KEY = "key#"


# --- numbers that a person states -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Quantity:
    """State one number of a table: its key, unit, range and meaning, and what holds where it is left out."""

    key: str
    unit: str
    meaning: str
    minimum: Decimal = Decimal(0)
    maximum: Decimal | None = None
    whole: bool = False
    required: bool = False
    default: Decimal | None = None


# --- the guard's settings (the value of Setting.GUARD) ----------------------------------------------------------------


class GuardSetting(StrEnum):
    """Name the keys of the guard's settings; money is text in the document, and exact."""

    BUDGET_USD = "budget_usd"
    BUDGET_TOKENS = "budget_tokens"
    BUDGET_STEPS = "budget_steps"
    LIMIT_USD = "limit_usd"
    LIMIT_TOKENS = "limit_tokens"
    LIMIT_STEPS = "limit_steps"
    APPROVAL_MINUTES = "approval_minutes"
    APPROVAL_MINUTES_BY_ZONE = "approval_minutes_by_zone"
    EXECUTE_MINUTES = "execute_minutes"
    LEASE_SECONDS = "lease_seconds"
    SWEEP_LIMIT = "sweep_limit"
    MAX_OUTPUT_TOKENS_RESERVED = "max_output_tokens_reserved"
    ALERT_COOLDOWN_MINUTES = "alert_cooldown_minutes"
    COST_PER_MINUTE_USD = "cost_per_minute_usd"
    BLOCKED_STREAK = "blocked_streak"
    ERROR_STREAK = "error_streak"
    WEBHOOK = "webhook"
    WEBHOOK_SECRET_ARN = "webhook_secret_arn"  # noqa: S105 - where a secret is, not a secret
    TOOLS = "tools"
    PRICES = "prices"


class ToolSetting(StrEnum):
    """Name the keys of one tool under GuardSetting.TOOLS; without a reason they may only tighten what the code says."""

    ZONE = "zone"
    LEVEL = "level"
    PRICE_USD = "price_usd"
    RED_WHEN = "red_when"
    POLL = "poll"
    MIN_INTERVAL_SECONDS = "min_interval_seconds"
    VOLATILE = "volatile"
    NOTIFY = "notify"
    REASON = "reason"


class RuleSetting(StrEnum):
    """Name the keys of one rule under ToolSetting.RED_WHEN: the path of an argument, and what makes the call red."""

    ARGUMENT = "argument"
    OVER = "over"
    EQUALS = "equals"
    OUTSIDE = "outside"


class PriceSetting(StrEnum):
    """Name the keys of one model under GuardSetting.PRICES: USD per million tokens, where from, and of which day."""

    INPUT = "input"
    OUTPUT = "output"
    CACHE_READ = "cache_read"
    CACHE_WRITE = "cache_write"
    SOURCE = "source"
    DATE = "date"


class HookSetting(StrEnum):
    """Name the keys of Setting.HOOKS: files of both levels, as paths in the image's folder, and models by name."""

    DEPLOYMENT = "deployment"
    AGENT = "agent"
    MODELS = "models"


HOOK_FILE_BYTES: Final = 1_000_000
"""Bytes of a hook file at most."""

HARD_LIMIT_FACTOR: Final = 4
"""How many times its budget a session may reach, with approvals, where no limit is set."""
_USD: Final = Decimal(1_000_000)
_TOKENS: Final = 10**9
_STEPS: Final = 10_000
_WEEK: Final = 7 * 24 * 60


def _count(key: str, unit: str, meaning: str, span: tuple[int, int], default: int | None = None) -> Quantity:
    low, high = (Decimal(end) for end in span)
    usual = None if default is None else Decimal(default)
    return Quantity(key, unit, meaning, minimum=low, maximum=high, whole=True, default=usual)


GUARD_NUMBERS: Final = (
    Quantity(GuardSetting.BUDGET_USD, "USD", "spent before a session asks", maximum=_USD, default=Decimal("0.50")),
    _count(GuardSetting.BUDGET_TOKENS, "tokens", "used before a session asks", (0, _TOKENS), 200_000),
    _count(GuardSetting.BUDGET_STEPS, "steps", "taken before a session asks: model and tool calls", (1, _STEPS), 25),
    Quantity(GuardSetting.LIMIT_USD, "USD", "spent before a session stops", maximum=HARD_LIMIT_FACTOR * _USD),
    _count(GuardSetting.LIMIT_TOKENS, "tokens", "used before a session stops", (0, HARD_LIMIT_FACTOR * _TOKENS)),
    _count(GuardSetting.LIMIT_STEPS, "steps", "taken before a session stops", (1, HARD_LIMIT_FACTOR * _STEPS)),
    _count(GuardSetting.APPROVAL_MINUTES, "minutes", "until an unanswered checkpoint expires", (1, _WEEK), 240),
    _count(GuardSetting.EXECUTE_MINUTES, "minutes", "that an approval may wait to be carried out", (1, _WEEK), 60),
    _count(GuardSetting.LEASE_SECONDS, "seconds", "after which a silent run loses its session", (5, 900), 60),
    _count(GuardSetting.SWEEP_LIMIT, "checkpoints", "that one invocation closes when they are over", (1, 1_000), 20),
    _count(
        *(GuardSetting.MAX_OUTPUT_TOKENS_RESERVED, "tokens", "of an answer, set aside before a model is called"),
        *((1, 1_000_000), 4_096),
    ),
    _count(GuardSetting.ALERT_COOLDOWN_MINUTES, "minutes", "in which an alert is not repeated", (1, _WEEK), 30),
    Quantity(
        *(GuardSetting.COST_PER_MINUTE_USD, "USD/minute", "of one session, above which somebody is told"),
        maximum=_USD,
        default=Decimal("0.25"),
    ),
    _count(GuardSetting.BLOCKED_STREAK, "calls", "refused in a row before somebody is told", (2, 100), 2),
    _count(GuardSetting.ERROR_STREAK, "calls", "failed in a row before somebody is told", (2, 100), 5),
)
"""Numbers of the guard's settings. A limit that is left out is HARD_LIMIT_FACTOR times its budget."""

TOOL_NUMBERS: Final = (
    Quantity(ToolSetting.PRICE_USD, "USD", "that one call costs", maximum=_USD),
    _count(ToolSetting.MIN_INTERVAL_SECONDS, "seconds", "between two calls of a tool that polls", (0, 86_400)),
)
"""Numbers of one tool under GuardSetting.TOOLS; what is left out stays as the code says it."""

RULE_NUMBERS: Final = (
    Quantity(RuleSetting.OVER, "units of the argument", "above which a call is red", maximum=_USD**2),
)
"""Numbers of one rule under ToolSetting.RED_WHEN."""

PRICE_NUMBERS: Final = (
    Quantity(PriceSetting.INPUT, "USD/million tokens", "read that no cache held", maximum=_USD, required=True),
    Quantity(PriceSetting.OUTPUT, "USD/million tokens", "written", maximum=_USD, required=True),
    Quantity(PriceSetting.CACHE_READ, "USD/million tokens", "read out of a cache", maximum=_USD),
    Quantity(PriceSetting.CACHE_WRITE, "USD/million tokens", "written into a cache", maximum=_USD),
)
"""Numbers of one model under GuardSetting.PRICES; a model whose cache has no price is unpriced where it uses one."""

# --- usage: what a person states about an environment's traffic -------------------------------------------------------


_GB: Final = Decimal(10**9)
"""More GB than a month of anybody's logs: beyond it a number is a slip of the hand."""
_EACH: Final = Decimal(10**9)
"""More than one session or one month holds of anything that is counted."""
_SHARE: Final = Decimal(1)

USAGE: Final = (
    Quantity(
        *("sessions", "sessions/month", "sessions that callers open in a month"), maximum=Decimal(10**12), whole=True
    ),
    Quantity("spans_per_session", "spans/session", "spans that one session exports", maximum=_EACH),
    Quantity(
        *("passages_per_session", "passages/session", "passages that all retrievals of one session return"),
        maximum=_EACH,
    ),
    Quantity(
        *("distinct_passages", "passages/month", "passages seen for the first time in a month"),
        maximum=Decimal(10**12),
        whole=True,
    ),
    Quantity("passage_kb", "KB", "size of one archived passage", maximum=Decimal(10**6)),
    Quantity(
        *("archive_months", "months", "months of distinct passages that the archive holds in steady state"),
        maximum=Decimal(1200),
    ),
    Quantity(
        *("stdout_kb_per_session", "KB/session", "bytes that one session writes beside event lines: notices, EMF"),
        maximum=_EACH,
    ),
    Quantity(
        *("storage_compression", "share", "stored bytes, as a share of those that came in"),
        minimum=Decimal("0.01"),
        maximum=_SHARE,
    ),
    Quantity("vended_gb", "GB/month", "vended logs that arrive in log groups of class Standard", maximum=_GB),
    Quantity(
        *(
            "vended_infrequent_access_gb",
            "GB/month",
            "vended logs that arrive in log groups of class Infrequent Access",
        ),
        maximum=_GB,
    ),
    Quantity("vended_s3_gb", "GB/month", "vended logs that are delivered to S3", maximum=_GB),
    Quantity(
        *(
            "metric_series",
            "series/month",
            "custom metrics, each set of dimensions one, beside those of metric filters",
        ),
        maximum=_EACH,
    ),
    Quantity(
        *("insights_alarm_metrics", "metrics", "metrics that the query of one Metrics Insights alarm reads"),
        maximum=Decimal(10**4),
    ),
    Quantity("alerts", "publishes/month", "alerts that the topic takes in a month", maximum=Decimal(10**12)),
    Quantity("kms_requests", "requests/month", "requests to KMS of what one key encrypts", maximum=Decimal(10**12)),
    Quantity(
        *(
            "table_writes_per_session",
            "write units/session",
            "write request units of the guard's records, index included",
        ),
        maximum=_EACH,
    ),
    Quantity(
        *("table_reads_per_session", "read units/session", "read request units of the guard's records"), maximum=_EACH
    ),
    Quantity(
        "table_kb_per_session", "KB/session", "bytes of the guard's records that one session leaves", maximum=_EACH
    ),
    Quantity("table_months", "months", "months for which the guard's records stay", maximum=Decimal(1200)),
    Quantity("audit_kb_per_session", "KB/session", "bytes of audit lines that one session leaves", maximum=_EACH),
    Quantity(
        *("audit_objects_per_session", "objects/session", "objects that one session puts into the audit bucket"),
        maximum=_EACH,
    ),
)
"""No number is required: a meter that lacks one says "depends on usage"."""

KB_PER_SESSION: Final = Quantity(
    "kb_per_session",
    "KB/session",
    "bytes of spans that one session leaves, by regime; archive leaves those of address",
    maximum=_EACH,
)
EVENT_KB_PER_SESSION: Final = Quantity(
    *("event_kb_per_session", "KB/session"),
    "bytes of event lines on standard output that one session leaves, by regime; archive leaves those of address",
    maximum=_EACH,
)
KB_PER_SESSION_REGIMES: Final = (Regime.METADATA, Regime.ADDRESS, Regime.CONTENT)

SPLIT_TELEMETRY: Final = "split_telemetry"
"""Whether content leaves the spans for log records of the same group, which are charged as logs."""


class Streams(StrEnum):
    """Name what a query scans of the trail's log group: all of it, or what `@data_format` says are spans."""

    ALL = "all"
    SPANS = "spans"


class QuerySet(StrEnum):
    """Name the sets of query classes that come with the cost model."""

    ARTICLE = "article"
    USUAL = "usual"


QUERY_SET_KEY: Final = "query_set"
QUERIES_KEY: Final = "queries"
QUERY_CLASS_NAME: Final = "name"
QUERY_CLASS_INDEXED: Final = "indexed"
QUERY_CLASS_STREAMS: Final = "streams"
_WINDOW: Final = Quantity("window_days", "days", "how far back one run looks", maximum=Decimal(3653), required=True)
_SKIP: Final = Quantity(
    "skip_ratio", "share", "share of the window's bytes that the index lets a run skip", maximum=_SHARE
)
QUERY_CLASS: Final = (
    Quantity(
        *("runs_per_month", "runs/month", "how often queries of this class run in a month"),
        maximum=_EACH,
        required=True,
    ),
    _WINDOW,
    _SKIP,
)
"""Numbers of one `[[usage.queries]]` table, beside name, streams and whether it filters on an indexed field."""

DASHBOARDS_KEY: Final = "dashboards"
DASHBOARD: Final = (
    Quantity(
        *("widgets", "widgets", "that run one Logs Insights query each"),
        maximum=Decimal(500),
        whole=True,
        required=True,
    ),
    Quantity(
        *("refresh_minutes", "minutes", "between two refreshes"),
        minimum=Decimal("0.1"),
        maximum=Decimal(43_200),
        required=True,
    ),
    _WINDOW,
    Quantity(
        *("hours_open_per_month", "hours/month", "for which it is open, all screens together"),
        maximum=Decimal(10**6),
        required=True,
    ),
    _SKIP,
)
"""Numbers of one `[[usage.dashboards]]` table; its name, streams and `indexed` are those of a query class."""

RUNTIME_USAGE_KEY: Final = "runtime"
RUNTIME_USAGE: Final = (
    Quantity("version", "version", "of AgentCore Runtime", minimum=Decimal(1), maximum=Decimal(2), whole=True),
    Quantity("vcpu_seconds_per_session", "vCPU-seconds/session", "of active processor time", maximum=_EACH),
    Quantity("seconds_per_session", "seconds/session", "for which one session keeps its memory", maximum=_EACH),
    Quantity("memory_gb", "GB", "that one session holds at its peak", maximum=Decimal(1024)),
)
"""Numbers of the table `[usage.runtime]`: what the agent itself takes, for scale."""

TOKENS_KEY: Final = "tokens"
TOKENS_MODEL: Final = "model"
TOKENS: Final = (
    Quantity("input_per_session", "tokens/session", "that models read in one session", maximum=Decimal(10**12)),
    Quantity("output_per_session", "tokens/session", "that models write in one session", maximum=Decimal(10**12)),
    Quantity("input_usd", "USD/million tokens", "read", maximum=_USD),
    Quantity("output_usd", "USD/million tokens", "written", maximum=_USD),
)
"""Numbers of the table `[usage.tokens]`, beside the model whose list price holds where none is stated; for scale."""

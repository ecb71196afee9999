"""The runtime gets its image, its limits and its variables; the live endpoint pins a version of it."""

from __future__ import annotations

import json
import re
from decimal import Decimal

import pytest

from agent_image.contract import (
    CAPTURE_VARIABLE,
    LAUNCH,
    OTLP_ENDPOINT,
    PLATFORM_DEFAULTS_OFF,
    SETTINGS_INLINE_LIMIT,
    SETTINGS_VARIABLE,
    TELEMETRY_SWITCHES,
    VARIABLE_VALUE_LIMIT,
    VARIABLES_LIMIT,
    Level,
    Regime,
    Setting,
    Zone,
)
from agent_image.guard.settings import parse_guard
from agent_image.settings import load
from stacks.names import Place
from tests.synthesis import Stack, Synthesis, by_sid, policy

HEADERS = "arn:aws-us-gov:secretsmanager:us-gov-west-1:123456789012:secret:otel/headers-a1B2c3"
WEBHOOK = "arn:aws-us-gov:secretsmanager:us-gov-west-1:123456789012:secret:chat/alerts-d4E5f6"
RUNTIME = "aws_bedrockagentcore_agent_runtime"
ENDPOINT = "aws_bedrockagentcore_agent_runtime_endpoint"
KNOBS = (Setting.TOP_K, Setting.DESTINATION, Setting.PRUNE_EVENT_LOOP, Setting.KEPT_SESSIONS)
NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9_]{0,47}")


@pytest.fixture(params=["dev", "staging", "prod", "plain", "brought", "locked", "long", "code"])
def agent(request: pytest.FixtureRequest, shipped: Synthesis, variants: Synthesis) -> Stack:
    return {**shipped.stacks, **variants.stacks}[f"agent-{request.param}"]


def test_names_are_names_that_agentcore_takes(agent: Stack) -> None:
    """A hyphen, or a 49th character, would fail at deployment."""
    assert NAME.fullmatch(agent.only(RUNTIME)["agent_runtime_name"])
    assert NAME.fullmatch(agent.only(ENDPOINT)["name"])


def test_variables_are_few_enough_short_enough_and_none_is_empty(agent: Stack) -> None:
    """AgentCore takes 50 variables of 5,000 characters."""
    variables = agent.variables()

    assert len(variables) <= VARIABLES_LIMIT
    assert all(0 < len(value) <= VARIABLE_VALUE_LIMIT for value in variables.values())
    assert all(0 < len(name) <= 100 for name in variables)


def test_every_variable_is_a_name_of_the_contract(agent: Stack) -> None:
    """The image reads what the contract names, and nothing else is set."""
    regime = Regime(agent.variables()[CAPTURE_VARIABLE])

    launch = LAUNCH if agent.name == "agent-code" else ()
    elsewhere = {PLATFORM_DEFAULTS_OFF, OTLP_ENDPOINT} if agent.name == "agent-code" else ()
    assert set(agent.variables()) == {*TELEMETRY_SWITCHES[regime], SETTINGS_VARIABLE, *launch, *elsewhere}


@pytest.mark.parametrize("regime", Regime)
def test_the_switches_are_these(regime: Regime) -> None:
    """Spans go to the agent's own group, all of them, and no library writes texts, whatever the regime."""
    redacted = (
        *("content", "message", "tool.result", "gen_ai.input.messages", "gen_ai.output.messages"),
        *("gen_ai.system_instructions", "gen_ai.tool.call.arguments"),
        *("gen_ai.tool.call.result", "system_prompt", "exception.message", "exception.stacktrace"),
    )

    assert TELEMETRY_SWITCHES[regime] == {
        "RAG_CAPTURE": regime.value,
        "UNIFIED_TRACES_DESTINATION_ENABLED": "true",
        "AWS_GENAI_CONTENT_EXTRACTION_OPT_OUT": "true",
        "OTEL_SEMCONV_STABILITY_OPT_IN": "gen_ai_latest_experimental,gen_ai_unredacted_attributes=",
        "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "false",
        "AWS_REDACT_SPAN_ATTRIBUTES": ",".join(redacted),
        "OTEL_TRACES_SAMPLER": "always_on",
        "OTEL_PYTHON_EXCLUDED_URLS": "/ping",
        "OTEL_LOGS_EXPORTER": "none",
        "OTEL_PYTHON_LOGGING_AUTO_INSTRUMENTATION_ENABLED": "false",
        "OTEL_PYTHON_LOG_CORRELATION": "false",
        "OTEL_METRICS_EXPORTER": "none",
        "OTEL_BAGGAGE_SPAN_ATTRIBUTE_KEYS": "session.id",
        "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "64",
    }


@pytest.mark.parametrize(
    ("name", "regime"),
    [("dev", "content"), ("staging", "archive"), ("prod", "archive"), ("plain", "metadata"), ("brought", "address")],
)
def test_the_regime_of_the_file_sets_the_switches_that_make_it_true(
    shipped: Synthesis, variants: Synthesis, name: str, regime: str
) -> None:
    """In every regime both libraries that export content by themselves are switched off."""
    variables = {**shipped.stacks, **variants.stacks}[f"agent-{name}"].variables()

    assert variables.items() >= TELEMETRY_SWITCHES[Regime(regime)].items()
    assert variables["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"] == "false"
    assert "gen_ai_unredacted_attributes=" in variables["OTEL_SEMCONV_STABILITY_OPT_IN"]


def test_the_settings_document_names_the_environment_s_own_parts(shipped: Synthesis) -> None:
    """The image finds its table, buckets, topic and knowledge base by URL."""
    document = json.loads(shipped["agent-staging"].variables()[SETTINGS_VARIABLE])

    assert document[Setting.STORE] == "dynamodb://rastro-staging-state"
    assert document[Setting.ARCHIVE] == "s3://rastro-staging-archive-111122223333-us-east-1/passages/"
    assert document[Setting.AUDIT] == "s3://rastro-staging-audit-111122223333-us-east-1/audit/"
    assert document[Setting.ALERTS] == "arn:aws:sns:us-east-1:111122223333:rastro-staging-alerts"
    assert document[Setting.KNOWLEDGE_BASE] == "bedrock://STAGINGKB1"
    assert (document[Setting.ENVIRONMENT], document[Setting.REGION]) == ("staging", "us-east-1")
    left_out = {Setting.INDEX_VERSION, Setting.DESTINATION_HEADERS, Setting.HOOKS, Setting.LEDGER}
    assert set(document) == set(Setting) - left_out
    assert {key: document[key] for key in KNOBS} == {
        Setting.TOP_K: 5,
        Setting.DESTINATION: "cloudwatch",
        Setting.PRUNE_EVENT_LOOP: False,
        Setting.KEPT_SESSIONS: 1,
    }


def test_the_guard_s_numbers_are_handed_on_and_money_is_text(shipped: Synthesis) -> None:
    """Written out, defaults too, so that a runtime version keeps what it was deployed with; what is not set is not."""
    document = json.loads(shipped["agent-staging"].variables()[SETTINGS_VARIABLE])

    assert document[Setting.GUARD] == {
        "budget_usd": "0.50",
        "budget_tokens": 200_000,
        "budget_steps": 25,
        "approval_minutes": 240,
        "execute_minutes": 60,
        "lease_seconds": 60,
        "sweep_limit": 20,
        "max_output_tokens_reserved": 4_096,
        "alert_cooldown_minutes": 30,
        "cost_per_minute_usd": "0.25",
        "blocked_streak": 2,
        "error_streak": 5,
    }


def test_tools_prices_and_times_of_the_guard_are_handed_on(variants: Synthesis) -> None:
    """As the file says them, to the last digit; what it does not say of a tool stays as the tool's code says it."""
    guard = json.loads(variants["agent-locked"].variables()[SETTINGS_VARIABLE])[Setting.GUARD]

    assert (guard["budget_usd"], guard["limit_usd"], guard["execute_minutes"]) == ("0.1", "0.30", 15)
    assert guard["approval_minutes_by_zone"] == {"yellow": 30}
    assert guard["webhook_secret_arn"] == WEBHOOK
    assert guard["tools"] == {
        "search_knowledge": {
            "zone": "yellow",
            "price_usd": "0.0000000001",
            "poll": True,
            "min_interval_seconds": 5,
            "volatile": ["nonce"],
            "notify": True,
        },
        "open_ticket": {
            "level": 2,
            "red_when": [
                {"argument": "amount", "over": "100.10"},
                {"argument": "to.*.address", "outside": ["desk@example.com", 7, 0.5]},
                {"argument": "urgent", "equals": True},
            ],
            "reason": "Tickets of this environment are read by nobody else.",
        },
    }
    assert guard["prices"] == {
        "anthropic.claude-3-haiku-20240307-v1:0": {
            "input": "0.25",
            "output": "1.25",
            "cache_read": "0.03",
            "source": "the contract of the records office",
            "date": "2026-11-01",
        }
    }


@pytest.mark.parametrize("name", ["dev", "prod", "locked"])
def test_the_guard_reads_what_the_stack_writes(shipped: Synthesis, variants: Synthesis, name: str) -> None:
    """It refuses unknown keys and values out of range, and finds the numbers that the file holds."""
    stack = {**shipped.stacks, **variants.stacks}[f"agent-{name}"]
    document = json.loads(stack.only("aws_s3_object")["content"], parse_float=Decimal)

    read = parse_guard(document[Setting.GUARD])

    assert str(read.limits.soft.usd.normalize()) == {"locked": "0.1"}.get(name, "0.5")
    if name == "locked":
        assert str(read.limits.hard.usd.normalize()) == "0.3"
        assert read.minutes_to_answer(Zone.YELLOW) == 30
        assert read.tools["search_knowledge"].zone is Zone.YELLOW
        assert read.tools["search_knowledge"].level is None
        assert read.tools["open_ticket"].level is Level.BLOCK
        assert [rule.over for rule in read.tools["open_ticket"].red_when] == [Decimal("100.10"), None, None]
        assert [price.cache_write for price in read.prices.values()] == [None]


def test_every_knob_of_the_trail_is_handed_on(variants: Synthesis) -> None:
    """As the file says it, numbers as numbers."""
    document = json.loads(variants["agent-code"].variables()[SETTINGS_VARIABLE])

    assert {key: document[key] for key in (*KNOBS, Setting.DESTINATION_HEADERS)} == {
        Setting.TOP_K: 12,
        Setting.DESTINATION: "https://otel.example.com:4318/api/public/otel",
        Setting.DESTINATION_HEADERS: HEADERS,
        Setting.PRUNE_EVENT_LOOP: True,
        Setting.KEPT_SESSIONS: 0.25,
    }


@pytest.mark.parametrize("name", ["code", "dev", "prod", "locked", "long"])
def test_the_image_reads_the_very_document_that_the_stack_writes(
    shipped: Synthesis, variants: Synthesis, name: str
) -> None:
    """The image refuses unknown keys and values out of range: what the settings let through, it takes."""
    stack = {**shipped.stacks, **variants.stacks}[f"agent-{name}"]

    read = load(stack.variables(), lambda _uri: str(stack.only("aws_s3_object")["content"]))

    assert read.environment == name
    assert read.capture == stack.variables()[CAPTURE_VARIABLE]


def test_spans_that_go_elsewhere_are_kept_from_aws_s_endpoints_twice(variants: Synthesis, shipped: Synthesis) -> None:
    """The runtime sets no defaults of its own and ADOT names no endpoint of AWS's, before the agent's code runs."""
    variables = variants["agent-code"].variables()

    assert variables["DISABLE_ADOT_OBSERVABILITY"] == "true"
    assert variables["OTEL_EXPORTER_OTLP_ENDPOINT"] == "https://otel.example.com:4318/api/public/otel"
    assert not {PLATFORM_DEFAULTS_OFF, OTLP_ENDPOINT} & set(shipped["agent-prod"].variables())


def test_the_role_reads_its_one_secret_and_decrypts_it_with_the_environment_s_key(
    variants: Synthesis, shipped: Synthesis
) -> None:
    """That of the OTLP endpoint, or of the webhook; no other, and none where nobody asks for one."""
    role = by_sid(policy(variants["agent-code"].resources("aws_iam_role_policy")["role-policy"]["policy"]))

    assert role["ReadEndpointHeaders"]["Resource"] == [HEADERS]
    assert (
        "secretsmanager.us-gov-west-1.amazonaws.com"
        in role["UseTrailKey"]["Condition"]["StringEquals"]["kms:ViaService"]
    )
    locked = by_sid(policy(variants["agent-locked"].resources("aws_iam_role_policy")["role-policy"]["policy"]))
    assert locked["ReadWebhook"]["Resource"] == [WEBHOOK]
    assert "ReadEndpointHeaders" not in locked
    assert "ReadWebhook" not in role
    for stack in shipped.agents:
        assert "secretsmanager" not in stack.resources("aws_iam_role_policy")["role-policy"]["policy"]


def test_the_document_speaks_of_the_very_resources_of_the_stack(shipped: Synthesis) -> None:
    """Names in the document are written out; a rename of a resource must not leave them behind."""
    stack = shipped["agent-staging"]
    document = json.loads(stack.variables()[SETTINGS_VARIABLE])
    buckets = stack.resources("aws_s3_bucket")
    role = by_sid(policy(stack.resources("aws_iam_role_policy")["role-policy"]["policy"]))

    assert document[Setting.STORE].endswith(f"//{stack.only('aws_dynamodb_table')['name']}")
    assert document[Setting.ARCHIVE].startswith(f"s3://{buckets['archive']['bucket']}/")
    assert document[Setting.AUDIT].startswith(f"s3://{buckets['audit']['bucket']}/")
    assert document[Setting.ALERTS].endswith(f":{stack.only('aws_sns_topic')['name']}")
    assert document[Setting.MODELS] == role["InvokeModels"]["Resource"]


def test_a_part_that_is_not_there_has_no_key(variants: Synthesis) -> None:
    """No knowledge base means no key, not an empty one; an index version is passed on when it is set."""
    plain = json.loads(variants["agent-plain"].variables()[SETTINGS_VARIABLE])
    locked = json.loads(variants["agent-locked"].variables()[SETTINGS_VARIABLE])

    assert Setting.KNOWLEDGE_BASE not in plain
    assert locked[Setting.INDEX_VERSION] == "2026-11"


def test_a_document_too_long_for_a_variable_becomes_an_object_that_the_role_may_read(variants: Synthesis) -> None:
    """The variable then names one version of an object: a version that is rolled back to finds the settings it had."""
    stack = variants["agent-long"]
    stored = stack.only("aws_s3_object")

    assert len(stored["content"]) > SETTINGS_INLINE_LIMIT
    assert stored["bucket"] == "${aws_s3_bucket.audit.id}"
    assert stack.variables()[SETTINGS_VARIABLE] == (
        "s3://rastro-long-audit-123456789012-us-gov-west-1/${aws_s3_object.settings-object.key}"
        "?versionId=${aws_s3_object.settings-object.version_id}"
    )
    assert stored["key"] == "settings/settings.json"
    assert stored["lifecycle"] == {"prevent_destroy": True}
    assert "aws_s3_object.settings-object" in stack.only(RUNTIME)["depends_on"]
    assert "aws_s3_bucket_versioning.audit-versions" in stored["depends_on"]
    read = by_sid(policy(stack.resources("aws_iam_role_policy")["role-policy"]["policy"]))["ReadSettings"]
    assert read["Action"] == ["s3:GetObjectVersion"]
    assert read["Resource"] == ["arn:aws-us-gov:s3:::rastro-long-audit-123456789012-us-gov-west-1/settings/*"]


def test_a_short_document_stands_in_the_variable_and_nobody_needs_to_read_the_object(shipped: Synthesis) -> None:
    """The object is there all the same, so that a shorter document deletes nothing that older versions point to."""
    stack = shipped["agent-prod"]

    assert stack.only("aws_s3_object")["content"] == stack.variables()[SETTINGS_VARIABLE]
    assert "ReadSettings" not in by_sid(policy(stack.resources("aws_iam_role_policy")["role-policy"]["policy"]))


def test_the_image_is_addressed_by_digest_in_the_account_s_own_repository(shipped: Synthesis) -> None:
    """A tag may point elsewhere tomorrow."""
    artifact = shipped["agent-prod"].only(RUNTIME)["agent_runtime_artifact"]

    assert artifact[0]["container_configuration"][0]["container_uri"] == (
        f"444455556666.dkr.ecr.us-east-1.amazonaws.com/rastro-agent@sha256:{'0' * 64}"
    )


@pytest.mark.parametrize(
    ("region", "partition", "registry"),
    [
        ("eu-central-1", "aws", "amazonaws.com"),
        ("us-gov-east-1", "aws-us-gov", "amazonaws.com"),
        ("cn-north-1", "aws-cn", "amazonaws.com.cn"),
    ],
)
def test_a_region_settles_the_partition_and_the_registry(region: str, partition: str, registry: str) -> None:
    """ARNs and hosts differ outside the common partition."""
    place = Place("111122223333", region)

    assert place.arn("sns", "t") == f"arn:{partition}:sns:{region}:111122223333:t"
    assert place.registry == f"111122223333.dkr.ecr.{region}.{registry}"


def test_code_is_named_by_bucket_key_and_version(variants: Synthesis) -> None:
    """Without the version Terraform would see no change under the same key; ADOT starts before the code."""
    (artifact,) = variants["agent-code"].only(RUNTIME)["agent_runtime_artifact"]
    bucket = variants["account-gov"].resources("aws_s3_bucket")["bundles"]["bucket"]

    assert artifact == {
        "code_configuration": [
            {
                "code": [
                    {
                        "s3": [
                            {"bucket": bucket, "prefix": "agent.zip", "version_id": "3sL4kqtJlcpXroDTDmJ.rmSpXd3dIbrHY"}
                        ]
                    }
                ],
                "entry_point": ["opentelemetry-instrument", "main.py"],
                "runtime": "PYTHON_3_13",
            }
        ]
    }


def test_code_gets_as_variables_what_an_image_holds_itself(variants: Synthesis, shipped: Synthesis) -> None:
    """Else ADOT would not be set up, and the server would listen on loopback alone."""
    assert variants["agent-code"].variables().items() >= LAUNCH.items()
    assert not LAUNCH.keys() & shipped["agent-prod"].variables().keys()


def test_a_disposable_environment_may_use_a_tag(variants: Synthesis) -> None:
    """Tags are immutable in the repository."""
    artifact = variants["agent-locked"].only(RUNTIME)["agent_runtime_artifact"]

    assert artifact[0]["container_configuration"][0]["container_uri"].endswith("/rastro-agent:v12")


def test_the_endpoint_follows_the_newest_version_or_pins_a_number(shipped: Synthesis, variants: Synthesis) -> None:
    """A number rolls back."""
    newest = shipped["agent-prod"].only(ENDPOINT)["agent_runtime_version"]

    assert newest == "${aws_bedrockagentcore_agent_runtime.runtime.agent_runtime_version}"
    assert variants["agent-locked"].only(ENDPOINT)["agent_runtime_version"] == "3"


def test_session_lifecycle_network_and_authorizer_come_from_the_file(variants: Synthesis) -> None:
    """VPC needs subnets and groups, tokens need a provider and an audience."""
    runtime = variants["agent-locked"].only(RUNTIME)

    assert runtime["lifecycle_configuration"] == [{"idle_runtime_session_timeout": 60, "max_lifetime": 120}]
    assert runtime["protocol_configuration"] == [{"server_protocol": "HTTP"}]
    assert runtime["network_configuration"] == [
        {
            "network_mode": "VPC",
            "network_mode_config": [
                {
                    "security_groups": ["sg-0123456789abcdef0"],
                    "subnets": ["subnet-0123456789abcdef0", "subnet-0123456789abcdef1"],
                }
            ],
        }
    ]
    assert runtime["authorizer_configuration"] == [
        {
            "custom_jwt_authorizer": [
                {
                    "allowed_audience": ["agents"],
                    "allowed_clients": ["web"],
                    "discovery_url": "https://login.example.com/.well-known/openid-configuration",
                }
            ]
        }
    ]


def test_an_environment_that_lets_iam_decide_declares_no_authorizer(shipped: Synthesis) -> None:
    """IAM is AgentCore's default."""
    assert "authorizer_configuration" not in shipped["agent-prod"].only(RUNTIME)
    assert shipped["agent-prod"].only(RUNTIME)["network_configuration"] == [{"network_mode": "PUBLIC"}]

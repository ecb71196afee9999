"""Define the values that settings are made of: each one checks what the framework lets through."""

from __future__ import annotations

import re
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints
from pydantic_core import PydanticCustomError

from agent_image.contract import CLOUDWATCH, DEFAULT_INDEXED_FIELDS, TOP_K_LIMIT
from stacks.observability.identifiers import MANAGED_IDENTIFIERS, UNVERIFIED_IDENTIFIERS
from stacks.observability.masking import custom_pattern_problem
from stacks.partition import REGION_PATTERN
from stacks.settings.fault import nearest

RETENTION_DAYS: Final = (
    *(1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731),
    *(1096, 1827, 2192, 2557, 2922, 3288, 3653),
)
"""Days that CloudWatch Logs can keep events (PutRetentionPolicy); keeping them for ever is not offered."""
INDEXED_FIELDS_LIMIT: Final = 20
_VERSION_LIMIT: Final = 99_999
_FIELD_NAME_LIMIT: Final = 100
_SCALAR_LIMIT: Final = 10**15
_DECIMAL_PLACES: Final = 15


def _refused(problem: str, allowed: str | None = None) -> PydanticCustomError:
    # Carries what is allowed beside what is wrong.
    return PydanticCustomError("refused", "{problem}", {"problem": problem, "allowed": allowed})


def _text(pattern: str, problem: str, allowed: str) -> Any:
    def check(value: str) -> str:
        if not value.isascii() or re.fullmatch(pattern, value) is None:
            raise _refused(problem, allowed)
        return value

    schema: dict[str, Any] = {"pattern": f"^(?:{pattern})$"}
    return Annotated[str, AfterValidator(check), Field(json_schema_extra=schema)]


def _arn(service: str, resource: str, what: str) -> Any:
    pattern = rf"arn:aws(?:-[a-z]+)*:{service}:{resource}"
    return _text(pattern, f"is not the ARN of {what}", f"allowed: {pattern}")


AccountId = _text(r"[0-9]{12}", "is not an AWS account id", "allowed: 12 digits, in quotes")
RegionName = _text(
    REGION_PATTERN,
    "is not a Region of a partition that the kit knows",
    "allowed: a name such as us-east-1, us-gov-west-1 or cn-north-1",
)
RuntimeName = _text(
    r"[a-zA-Z][a-zA-Z0-9_]{0,47}",
    "is not a name that AgentCore takes",
    "allowed: a letter, then up to 47 letters, digits or underscores; no hyphen",
)
TagValue = _text(
    r"[a-zA-Z0-9 ._:/=+@-]{1,256}",
    "is not a tag value that every service takes",
    "allowed: 1 to 256 of unaccented letters, digits, spaces and ._:/=+@-",
)
Alias = _text(r"[a-z][a-z0-9-]{0,31}", "is not an account alias", "allowed: lower-case letters, digits and hyphens")
Image = _text(
    r"sha256:[0-9a-f]{64}|[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,127}",
    "is neither an image digest nor an image tag",
    "allowed: sha256: and 64 hexadecimal digits, or a tag",
)
BundleVersion = _text(
    r"(?!null$)[a-zA-Z0-9_.-]{1,1024}",
    "is not the version of an S3 object",
    "allowed: what `make bundle` writes; 32 zeros where there is no bundle yet",
)
KnowledgeBaseId = _text(
    r"[0-9A-Z]{10}", "is not a knowledge base id", "allowed: 10 upper-case letters and digits, as Bedrock shows it"
)
ModelArn = _arn(
    "bedrock",
    r"[a-z0-9-]*:[0-9]{0,12}:(?:foundation-model|inference-profile|application-inference-profile|provisioned-model"
    r"|imported-model|custom-model-deployment)/[a-zA-Z0-9._:/-]+",
    "a model or an inference profile",
)
KmsKeyArn = _arn("kms", r"[a-z0-9-]+:[0-9]{12}:key/[a-zA-Z0-9-]+", "a KMS key")
SecretArn = _arn("secretsmanager", r"[a-z0-9-]+:[0-9]{12}:secret:[a-zA-Z0-9/_+=.@-]+-[a-zA-Z0-9]{6}", "a secret")
RoleArn = _arn("iam", r":[0-9]{12}:role/[\w+=,.@/-]+", "an IAM role")
PolicyArn = _arn("iam", r":(?:[0-9]{12}|aws):policy/[\w+=,.@/-]+", "an IAM policy")
SubnetId = _text(r"subnet-[0-9a-f]{8,17}", "is not a subnet id", "allowed: subnet- and 8 to 17 hexadecimal digits")
SecurityGroupId = _text(
    r"sg-[0-9a-f]{8,17}", "is not a security group id", "allowed: sg- and 8 to 17 hexadecimal digits"
)
DiscoveryUrl = _text(
    r"https://[^\s\"]+/\.well-known/openid-configuration",
    "is not an OpenID Connect discovery URL",
    "allowed: https://…/.well-known/openid-configuration",
)
Destination = _text(
    rf"{CLOUDWATCH}|https://[a-zA-Z0-9.-]+(?::[0-9]{{1,5}})?(?:/[a-zA-Z0-9._~/-]*)?",
    "is neither cloudwatch nor the address of an OTLP endpoint",
    "allowed: cloudwatch, or https://<host>/<path> without user, query or fragment: credentials belong into a secret",
)
Webhook = _text(
    r"https://[a-zA-Z0-9.-]+(?::[0-9]{1,5})?(?:/[a-zA-Z0-9._~/-]*)?",
    "is not the address of a webhook",
    "allowed: https://<host>/<path> without user, query or fragment; an address that is a secret belongs into one",
)
Page = _text(
    r"https://[a-zA-Z0-9.-]+(?::[0-9]{1,5})?(?:/[a-zA-Z0-9._~/-]*)?",
    "is not the address of a page",
    "allowed: https://<host>/<path> without user, query or fragment",
)
Email = _text(
    r"[a-zA-Z0-9._%+-]{1,64}@[a-zA-Z0-9-]+(?:[.][a-zA-Z0-9-]+)*[.][a-zA-Z]{2,63}",
    "is not a mail address",
    "allowed: an address such as oncall@example.com",
)
ToolName = _text(r"[a-zA-Z0-9_-]{1,64}", "is not a tool's name", "allowed: 1 to 64 of a-z A-Z 0-9 _ -")
ModelName = _text(r"[a-zA-Z0-9._:/-]{1,2048}", "is not a model's id or ARN", "allowed: letters, digits and ._:/-")
# Neither image nor bundle takes what begins with a dot.
_HOOK_FILE: Final = r"(?:(?!__pycache__/)[a-zA-Z0-9_-][a-zA-Z0-9_.-]*/)*[a-zA-Z0-9_-][a-zA-Z0-9_.-]*[.]ya?ml"
HookFile = _text(
    _HOOK_FILE,
    "is not the path of a hook file",
    "allowed: a path in agent_image/ such as hooks/deployment.yaml; no part begins with a dot",
)
HookModelName = _text(
    r"[a-zA-Z0-9_.-]{1,64}", "is not a name for a model of hooks", "allowed: 1 to 64 of a-z A-Z 0-9 _ . -"
)
ArgumentPath = _text(
    r"(?:[a-zA-Z0-9_-]+|[*])(?:[.](?:[a-zA-Z0-9_-]+|[*]))*",
    "is not the path of an argument",
    "allowed: names joined by dots, * for each element of a list",
)
_REPOSITORY: Final = r"[a-zA-Z0-9-]{1,39}/[a-zA-Z0-9_.-]{1,100}|[a-zA-Z0-9-]{1,39}@[0-9]+/[a-zA-Z0-9_.-]{1,100}@[0-9]+"
Repository = _text(
    _REPOSITORY, "is not a GitHub repository", "allowed: owner/name, or owner@id/name@id as the token's sub has it"
)
JobEnvironment = _text(
    r"[a-zA-Z0-9_.-]{1,255}",
    "is not the name of a GitHub environment",
    "allowed: letters, digits and _.- only",
)
Branch = _text(r"[a-zA-Z0-9_./-]{1,200}", "is not the name of one branch", "allowed: letters, digits and _./- only")
BucketName = _text(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]", "is not a bucket name", "allowed: 3 to 63 of a-z 0-9 . -")
NonEmpty = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


def is_hook_file(path: str) -> bool:
    """Tell whether a path may be that of a hook file."""
    return path.isascii() and re.fullmatch(_HOOK_FILE, path) is not None


def _number(value: object) -> Decimal:
    # tomllib gives int or, with parse_float, Decimal; text and booleans are no numbers.
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise _refused("is not a number", "allowed: a number, without quotes")
    return Decimal(value)


def whole(value: object) -> object:
    """Refuse what only equals a whole number, such as true, where a choice is one of several."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise _refused("is not a whole number", "allowed: a whole number, without quotes")
    return value


def number(minimum: Decimal | int, maximum: Decimal | int | None = None, *, whole: bool = False) -> Any:
    """Build the type of a number within bounds, both included; `whole` refuses fractions."""
    low, high = Decimal(minimum), None if maximum is None else Decimal(maximum)
    span = f"allowed: {low} or more" if high is None else f"allowed: {low} to {high}"

    def check(value: Decimal) -> Decimal:
        if not value.is_finite() or value < low or (high is not None and value > high):
            raise _refused("is out of range", span)
        if whole and value != value.to_integral_value():
            raise _refused("is not a whole number", span)
        if int(value.as_tuple().exponent) < -_DECIMAL_PLACES:
            raise _refused("has too many decimal places", f"allowed: {_DECIMAL_PLACES} of them")
        return value

    schema: dict[str, Any] = {"type": "integer" if whole else "number", "minimum": float(low)}
    if high is not None:
        schema["maximum"] = float(high)
    return Annotated[
        Decimal, BeforeValidator(_number), AfterValidator(check), Field(json_schema_extra=_replace_with(schema))
    ]


def _replace_with(schema: dict[str, Any]) -> Any:
    def replace(generated: dict[str, Any]) -> None:
        kept = {key: generated[key] for key in ("title", "description", "default") if key in generated}
        generated.clear()
        generated.update(kept | schema)

    return replace


Percentage = number(0, 100)
Share = number(0, 1)
TopK = number(1, TOP_K_LIMIT, whole=True)
SessionSeconds = number(60, 1_209_600, whole=True)
LockDays = number(1, 36_500, whole=True)


def _kept_by_json(value: Decimal) -> Decimal:
    # In the settings document it is a JSON number, which is to say the same as the file.
    if Decimal(repr(float(value))) != value:
        raise _refused("has more digits than a JSON number keeps", "allowed: 15 digits")
    return value


def _scalar(value: object) -> object:
    # One check, not one fault for each branch of a union.
    if isinstance(value, str | bool):
        return value
    if not isinstance(value, int | Decimal):
        raise _refused("is neither text nor a number", "allowed: a text, a number, true or false")
    found = Decimal(value)
    if not found.is_finite() or abs(found) > _SCALAR_LIMIT:
        raise _refused("is out of range", f"allowed: {-_SCALAR_LIMIT} to {_SCALAR_LIMIT}")
    return _kept_by_json(found)


Scalar: Any = Annotated[
    Any, BeforeValidator(_scalar), Field(json_schema_extra=_replace_with({"type": ["string", "number", "boolean"]}))
]


def _day(value: object) -> object:
    # TOML has days of its own; JSON, and so the settings document, has none.
    if isinstance(value, date) and not isinstance(value, datetime):
        return value.isoformat()
    try:
        return date.fromisoformat(value).isoformat() if isinstance(value, str) else value
    except ValueError:
        raise _refused("is not a day", "allowed: a day such as 2026-11-30") from None


Day = Annotated[str, BeforeValidator(_day), Field(json_schema_extra={"format": "date"})]


def _version(value: object) -> object:
    # In one fault, not one for each branch of the union.
    is_version = isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= _VERSION_LIMIT
    if value != "newest" and not is_version:
        raise _refused("is not a runtime version", f'allowed: "newest", or a whole number from 1 to {_VERSION_LIMIT}')
    return value


LiveVersion = Annotated[Literal["newest"] | Annotated[int, Field(ge=1, le=_VERSION_LIMIT)], BeforeValidator(_version)]


def _retention(days: int) -> int:
    if days not in RETENTION_DAYS:
        allowed = ", ".join(map(str, RETENTION_DAYS))
        raise _refused("is not a retention that CloudWatch Logs takes", f"allowed: {allowed}")
    return days


RetentionDays = Annotated[int, AfterValidator(_retention), Field(json_schema_extra={"enum": list(RETENTION_DAYS)})]


def _identifier(name: str) -> str:
    if name in UNVERIFIED_IDENTIFIERS:
        raise _refused(
            "is a data identifier that AWS's lists name without an ARN", "leave it out until AWS lists its ARN"
        )
    if name not in MANAGED_IDENTIFIERS:
        raise _refused("is not a managed data identifier", nearest(name, MANAGED_IDENTIFIERS))
    return name


Identifier = Annotated[str, AfterValidator(_identifier), Field(json_schema_extra={"enum": sorted(MANAGED_IDENTIFIERS)})]


def _pattern(regex: str) -> str:
    if problem := custom_pattern_problem(regex):
        raise _refused(*problem)
    return regex


Pattern = Annotated[str, AfterValidator(_pattern), Field(json_schema_extra={"maxLength": 200})]


def _pattern_name(name: str) -> str:
    if name in MANAGED_IDENTIFIERS | UNVERIFIED_IDENTIFIERS:
        raise _refused("is the name of a managed data identifier", "choose another name")
    return name


PatternName: Any = Annotated[
    _text(r"[a-zA-Z0-9_-]{1,128}", "is not a name for a custom identifier", "allowed: 1 to 128 of a-z A-Z 0-9 _ -"),
    AfterValidator(_pattern_name),
]


def _field(name: str) -> str:
    if name in DEFAULT_INDEXED_FIELDS:
        raise _refused("is indexed by default, free of charge: listing it only spends one of 20 places", "leave it out")
    if not 1 <= len(name) <= _FIELD_NAME_LIMIT:
        raise _refused("is not a field name", f"allowed: 1 to {_FIELD_NAME_LIMIT} characters")
    return name


IndexedField = Annotated[str, AfterValidator(_field)]


def distinct(values: list[str]) -> list[str]:
    """Refuse a list that names something twice."""
    if twice := sorted({value for value in values if values.count(value) > 1}):
        raise _refused(f"names {', '.join(twice)} twice", "name each once")
    return values


def _fields(names: list[str]) -> list[str]:
    if len(names) > INDEXED_FIELDS_LIMIT:
        raise _refused(f"has {len(names)} fields", f"allowed: at most {INDEXED_FIELDS_LIMIT} fields")
    return names


IndexedFields = Annotated[
    list[IndexedField],
    BeforeValidator(lambda names: _fields(names) if isinstance(names, list) else names),
    AfterValidator(distinct),
    Field(json_schema_extra={"maxItems": INDEXED_FIELDS_LIMIT}),
]

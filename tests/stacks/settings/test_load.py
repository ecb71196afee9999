"""Loading the settings refuses each bad value with its file, key path, value and what is allowed."""

from __future__ import annotations

import pytest

from tests.stacks.settings.case import DEV, PROD, SANDBOX, Case
from tests.stacks.settings.folder import SHIPPED_FILES, Folder

RETENTION = "retention_days = 7"
DAYS = "1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653"
INDEXING = "indexing_percentage = 1"
ACCOUNT_ID = 'account_id = "111122223333"'
NAME = 'name = "handbook_dev"'
IMAGE = 'image = "sha256:0000000000000000000000000000000000000000000000000000000000000000"'
OWNER = 'owner = "agent-platform"'
VERSION = 'live_version = "newest"'
ENDPOINT = 'destination = "https://otel.example.com"'
MODEL = '"arn:aws:bedrock:us-west-2::foundation-model/anthropic.claude-haiku-4-5-20251001-v1:0"'


_ARABIC_DIGITS = "".join(chr(0x0660 + digit) for digit in range(10)) + "".join(map(chr, (0x0660, 0x0661)))

NUMBERS = (
    Case(
        "retention 31",
        *(DEV, RETENTION, "retention_days = 31"),
        f"observability.retention_days = 31: is not a retention that CloudWatch Logs takes; allowed: {DAYS}",
    ),
    Case(
        "retention for ever",
        *(DEV, RETENTION, "retention_days = 0"),
        f"observability.retention_days = 0: is not a retention that CloudWatch Logs takes; allowed: {DAYS}",
    ),
    Case(
        "retention missing",
        *(DEV, RETENTION, ""),
        f"observability.retention_days: is required and missing; allowed: {DAYS}",
    ),
    Case(
        "indexing 101",
        *(SANDBOX, INDEXING, "indexing_percentage = 101"),
        "indexing_percentage = 101: is out of range; allowed: 0 to 100",
    ),
    Case(
        "indexing -1",
        *(SANDBOX, INDEXING, "indexing_percentage = -1"),
        "indexing_percentage = -1: is out of range; allowed: 0 to 100",
    ),
    Case(
        "indexing that is no number",
        *(SANDBOX, INDEXING, "indexing_percentage = nan"),
        "indexing_percentage = NaN: input should be a finite number",
    ),
    Case(
        "half a step",
        *(DEV, "budget_steps = 25", "budget_steps = 2.5"),
        "guard.budget_steps = 2.5: is not a whole number; allowed: 1 to 10000",
    ),
    Case(
        "version 0",
        *(DEV, VERSION, "live_version = 0"),
        'agent.live_version = 0: is not a runtime version; allowed: "newest", or a whole number from 1 to 99999',
    ),
    Case(
        "no passages at all",
        *(DEV, VERSION, f"{VERSION}\ntop_k = 0"),
        "agent.top_k = 0: is out of range; allowed: 1 to 100",
    ),
    Case(
        "more passages than one call returns",
        *(DEV, VERSION, f"{VERSION}\ntop_k = 101"),
        "agent.top_k = 101: is out of range; allowed: 1 to 100",
    ),
    Case(
        "half a passage",
        *(DEV, VERSION, f"{VERSION}\ntop_k = 2.5"),
        "agent.top_k = 2.5: is not a whole number; allowed: 1 to 100",
    ),
    Case(
        "more sessions than there are",
        *(DEV, RETENTION, f"{RETENTION}\nkept_sessions = 1.5"),
        "observability.kept_sessions = 1.5: is out of range; allowed: 0 to 1",
    ),
    Case(
        "a text for a choice of two",
        *(DEV, RETENTION, f'{RETENTION}\nprune_event_loop = "yes"'),
        'observability.prune_event_loop = "yes": is of another type; allowed: true or false',
    ),
    Case(
        "a number too large to hold",
        *(DEV, "budget_usd = 0.50", "budget_usd = 1e99999999999999999999"),
        'is not readable TOML: "1e99999999999999999999" is too large a number',
    ),
)

TEXTS = (
    Case(
        "a hyphen in the runtime's name",
        *(DEV, NAME, 'name = "handbook-dev"'),
        'agent.name = "handbook-dev": is not a name that AgentCore takes; '
        "allowed: a letter, then up to 47 letters, digits or underscores; no hyphen",
    ),
    Case(
        "49 characters in the runtime's name",
        *(DEV, NAME, f'name = "{"a" * 49}"'),
        f'agent.name = "{"a" * 49}": is not a name that AgentCore takes; allowed: a letter, then up to 47',
    ),
    Case(
        "11 digits in the account id",
        *(SANDBOX, ACCOUNT_ID, 'account_id = "11112222333"'),
        'account_id = "11112222333": is not an AWS account id; allowed: 12 digits, in quotes',
    ),
    Case(
        "13 digits in the account id",
        *(SANDBOX, ACCOUNT_ID, 'account_id = "1111222233334"'),
        'account_id = "1111222233334": is not an AWS account id; allowed: 12 digits, in quotes',
    ),
    Case(
        "digits of another script in the account id",
        *(SANDBOX, ACCOUNT_ID, f'account_id = "{_ARABIC_DIGITS}"'),
        f'account_id = "{_ARABIC_DIGITS}": is not an AWS account id; allowed: 12 digits, in quotes',
    ),
    Case(
        "an accent in a tag",
        *(DEV, OWNER, 'owner = "São Paulo"'),
        'owner = "São Paulo": is not a tag value that every service takes; '
        "allowed: 1 to 256 of unaccented letters, digits, spaces and ._:/=+@-",
    ),
    Case(
        "half a digest",
        *(DEV, IMAGE, 'image = "sha256:00"'),
        'agent.image = "sha256:00": is neither an image digest nor an image tag; '
        "allowed: sha256: and 64 hexadecimal digits, or a tag",
    ),
    Case(
        "a branch that does not exist",
        *(DEV, '"PUBLIC"', '"VPCX"'),
        'network.mode = "VPCX": is not one of the choices; allowed: "PUBLIC", "VPC"',
    ),
    Case(
        "a regime that does not exist",
        *(DEV, '"content"', '"contents"'),
        'observability.capture = "contents": is not one of the choices; '
        'allowed: "metadata", "address", "archive", "content"',
    ),
    Case(
        "an artifact that does not exist",
        *(DEV, VERSION, f'{VERSION}\nartifact = "zip"'),
        'agent.artifact = "zip": is not one of the choices; allowed: "image", "code"',
    ),
    *(
        Case(
            f"a bundle that is {why}",
            *(DEV, IMAGE, f'artifact = "code"\nbundle = "{version}"'),
            f'agent.bundle = "{version}": is not the version of an S3 object; allowed: what `make bundle` writes',
        )
        for why, version in (("of no version", "null"), ("a path", "a/b"), ("empty", ""))
    ),
    *(
        Case(
            f"a destination {why}",
            *(DEV, RETENTION, f'{RETENTION}\ndestination = "{address}"'),
            f'observability.destination = "{address}": is neither cloudwatch nor the address of an OTLP endpoint; '
            "allowed: cloudwatch, or https://<host>/<path> without user, query or fragment: credentials",
        )
        for why, address in (
            ("in clear", "http://otel.example.com"),
            ("by its name", "langfuse"),
            ("with a user", "https://key:secret@otel.example.com"),
            ("with a query", "https://otel.example.com/v1/traces?key=secret"),
            ("with a fragment", "https://otel.example.com/#secret"),
            ("in a file", "file:spans.jsonl"),
        )
    ),
    Case(
        "an alias that does not exist",
        *(PROD, 'account = "production"', 'account = "producton"'),
        'account = "producton": no account file has this alias; did you mean production?',
    ),
)

ARNS = (
    Case(
        "a model's ARN",
        *(DEV, MODEL, '"arn:aws:bedrock:us-west-2::model/claude"'),
        'agent.models.3 = "arn:aws:bedrock:us-west-2::model/claude": '
        "is not the ARN of a model or an inference profile; allowed: arn:aws(?:-[a-z]+)*:bedrock:",
    ),
    Case(
        "a model's id in place of its ARN",
        *(DEV, MODEL, '"anthropic.claude"'),
        'agent.models.3 = "anthropic.claude": is not the ARN of a model or an inference profile; allowed: arn:aws',
    ),
    Case(
        "a key's alias in place of its ARN",
        *(DEV, RETENTION, f'{RETENTION}\nkms_key_arn = "arn:aws:kms:us-east-1:111122223333:alias/a"'),
        'observability.kms_key_arn = "arn:aws:kms:us-east-1:111122223333:alias/a": '
        "is not the ARN of a KMS key; allowed: arn:aws(?:-[a-z]+)*:kms:",
    ),
    Case(
        "headers in place of their secret's ARN",
        *(DEV, RETENTION, f'{RETENTION}\n{ENDPOINT}\ndestination_headers_secret_arn = "Authorization=Basic"'),
        'observability.destination_headers_secret_arn = "Authorization=Basic": is not the ARN of a secret; '
        "allowed: arn:aws(?:-[a-z]+)*:secretsmanager:",
    ),
    Case(
        "a user's ARN as role",
        *(DEV, "[guard]", '[role]\narn = "arn:aws:iam::111122223333:user/ana"\n[guard]'),
        'role.arn = "arn:aws:iam::111122223333:user/ana": is not the ARN of an IAM role; '
        "allowed: arn:aws(?:-[a-z]+)*:iam::",
    ),
    Case(
        "an accent in a role's ARN",
        *(DEV, "[guard]", '[role]\narn = "arn:aws:iam::111122223333:role/ação"\n[guard]'),
        'role.arn = "arn:aws:iam::111122223333:role/ação": is not the ARN of an IAM role; allowed: arn:aws',
    ),
    Case(
        "a role's ARN as boundary",
        *(DEV, "[guard]", '[role]\npermissions_boundary_arn = "arn:aws:iam::aws:role/r"\n[guard]'),
        'role.permissions_boundary_arn = "arn:aws:iam::aws:role/r": is not the ARN of an IAM policy; allowed: arn:aws',
    ),
)


@pytest.mark.parametrize("case", [*NUMBERS, *TEXTS, *ARNS], ids=lambda case: case.name)
def test_a_bad_value_is_refused_with_its_place_and_what_is_allowed(case: Case, folder: Folder) -> None:
    """Each bad value gives one fault: file, key path, value, what is wrong and what is allowed."""
    case.check(folder)


def test_the_shipped_files_load(folder: Folder) -> None:
    """The shipped settings load: every file becomes an account or an environment under its own name."""
    settings = folder.load()
    accounts = [f"accounts/{account.alias}.toml" for account in settings.accounts]
    environments = [f"{environment.name}.toml" for environment in settings.environments]
    assert sorted([*accounts, *environments]) == sorted(SHIPPED_FILES)

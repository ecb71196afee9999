"""An environment is checked against the account that it is deployed to, and against IAM's limits."""

from __future__ import annotations

import pytest

from stacks.limits import within_limits
from stacks.settings.fault import SettingsError
from tests.stacks.settings.case import DEV, SANDBOX, Case
from tests.stacks.settings.folder import Folder

PATTERNS = '[observability.masking.patterns]\nbare-cpf = "[0-9]{3}[.][0-9]{3}[.][0-9]{3}-[0-9]{2}"\n'
JWT = 'type = "JWT"\ndiscovery_url = "https://id.example/.well-known/openid-configuration"'
ROLE = 'arn = "arn:aws:iam::111122223333:role/own"'
PROFILE = "inference-profile/us.anthropic.claude-haiku-4-5-20251001-v1:0"
KEY = "arn:aws:kms:{region}:999999999999:key/0f1e2d3c-0000-4000-8000-000000000009"
ENDPOINT = 'destination = "https://otel.example.com"'
HEADERS = "destination_headers_secret_arn"
OF_ENDPOINT = "arn:aws:secretsmanager:{place}:secret:credentials-of-an-endpoint/headers-a1B2c3"
EXPRESSION = "holds ${ or %{, which Terraform reads as an expression; write it without"
AGAINST_THE_ACCOUNT = (
    Case(
        "an index version that Terraform would compute",
        *(DEV, "[agent.session]", "index_version = '${timestamp()}'\n[agent.session]"),
        f'agent.index_version = "${{timestamp()}}": {EXPRESSION}',
    ),
    Case(
        "a pattern that Terraform would read",
        *(DEV, PATTERNS, "[observability.masking.patterns]\nodd = 'Q[${]'\n"),
        f'observability.masking.patterns.odd = "Q[${{]": {EXPRESSION}',
    ),
    Case(
        "a model of another account",
        *(DEV, f"us-east-1:111122223333:{PROFILE}", f"us-east-1:999999999999:{PROFILE}"),
        f'agent.models.0 = "arn:aws:bedrock:us-east-1:999999999999:{PROFILE[:40]}…: belongs to another account; '
        "allowed: account 111122223333, which the account file names",
    ),
    Case(
        "a role of another account",
        *(DEV, "[guard]", '[role]\narn = "arn:aws:iam::999999999999:role/r"\n[guard]'),
        'role.arn = "arn:aws:iam::999999999999:role/r": belongs to another account; allowed: account 111122223333',
    ),
    Case(
        "a key of another Region",
        *(DEV, "retention_days = 7", f'retention_days = 7\nkms_key_arn = "{KEY.format(region="eu-west-1")}"'),
        f'observability.kms_key_arn = "{KEY.format(region="eu-west-1")}": is in another Region; allowed: us-east-1',
    ),
    *(
        Case(
            f"headers {where}",
            *(
                DEV,
                "retention_days = 7",
                f'retention_days = 7\n{ENDPOINT}\n{HEADERS} = "{OF_ENDPOINT.format(place=place)}"',
            ),
            f'observability.{HEADERS} = "{OF_ENDPOINT.format(place=place)[:79]}…: {says}',
        )
        for where, place, says in (
            ("of another account", "us-east-1:999999999999", "belongs to another account; allowed: account 1111"),
            ("of another Region", "eu-west-1:111122223333", "is in another Region; allowed: us-east-1"),
        )
    ),
    Case(
        "a lock on what must be deleted",
        *(DEV, "retention_days = 7", "retention_days = 7\naudit_object_lock_days = 30"),
        "observability.audit_object_lock_days = 30: locks objects that on_destroy = delete must be able to delete; set",
    ),
    Case(
        "an account's key of another Region",
        *(
            SANDBOX,
            "indexing_percentage = 1",
            f'indexing_percentage = 1\nkms_key_arn = "{KEY.format(region="eu-west-1")}"',
        ),
        f'kms_key_arn = "{KEY.format(region="eu-west-1")}": is in another Region; allowed: us-east-1',
    ),
    Case(
        "a role of another partition",
        *(DEV, "[guard]", '[role]\narn = "arn:aws-us-gov:iam::111122223333:role/r"\n[guard]'),
        'role.arn = "arn:aws-us-gov:iam::111122223333:role/r": belongs to another partition; allowed: arn:aws:…, as in',
    ),
    Case(
        "masking declared here and elsewhere",
        *(SANDBOX, "indexing_percentage = 1", "indexing_percentage = 1\nmasking_managed_elsewhere = true"),
        "masking: is declared here, and masking_managed_elsewhere says that it is not; keep one of the two",
    ),
    Case(
        "the Region of a bucket that is not named",
        *(SANDBOX, 'backend = "local"', 'backend = "s3"\nregion = "eu-west-1"'),
        'state.region = "eu-west-1": is the Region of a bucket of your own, and none is named; name state.bucket, or',
    ),
    Case(
        "an account id without quotes",
        *(SANDBOX, '"111122223333"', "111122223333"),
        "account_id = 111122223333: is of another type; allowed: text, in quotes",
    ),
    Case(
        "a Region of an isolated partition",
        *(SANDBOX, '"us-east-1"', '"us-iso-east-1"'),
        'region = "us-iso-east-1": is not a Region of a partition that the kit knows; allowed: a name such as us-east',
    ),
)


@pytest.mark.parametrize("case", AGAINST_THE_ACCOUNT, ids=lambda case: case.name)
def test_what_belongs_elsewhere_is_refused(case: Case, folder: Folder) -> None:
    """An ARN that is valid and of no use here would deploy, and fail at the first call."""
    case.check(folder)


def test_a_key_of_another_account_in_the_same_region_is_taken(folder: Folder) -> None:
    """Keys are often kept in an account of their own."""
    folder.replace(DEV, "retention_days = 7", f'retention_days = 7\nkms_key_arn = "{KEY.format(region="us-east-1")}"')

    assert folder.faults() == ()


def test_callers_with_tokens_need_account_level_masking(folder: Folder) -> None:
    """They may name the DEFAULT endpoint, whose log group nothing else masks."""
    folder.replace(DEV, 'type = "IAM"', f'{JWT}\nclients = ["web"]')
    folder.replace(SANDBOX, '["EmailAddress", "CreditCardNumber", "AwsSecretKey"]', "[]")

    (fault,) = folder.faults()

    assert str(fault) == (
        'environments/dev.toml: auth.type = "JWT": callers with tokens may also name the DEFAULT endpoint, and nothing '
        "masks its log group; list identifiers or patterns under [masking] of accounts/sandbox.toml, or say there that "
        "masking_managed_elsewhere = true"
    )
    folder.replace(SANDBOX, "indexing_percentage = 1", "indexing_percentage = 1\nmasking_managed_elsewhere = true")
    assert folder.faults() == ()


def test_a_role_s_policy_over_the_limit_is_refused_before_anything_is_synthesised(folder: Folder) -> None:
    """AWS would refuse it in the middle of a deployment, with table and buckets made already."""
    model = '  "arn:aws:bedrock:us-east-1::foundation-model/vendor.model-{:03}-v1:0",\n'
    models = "".join(model.format(number) for number in range(120))
    folder.replace(DEV, "models = [\n", f"models = [\n{models}")

    with pytest.raises(SettingsError, match=r"agent.models: make the role's policy 1\d,\d{3} characters long"):
        within_limits(folder.load())


def test_the_shipped_settings_are_within_every_limit(folder: Folder) -> None:
    """The check gives the settings back."""
    settings = folder.load()

    assert within_limits(settings) is settings


def test_a_brought_role_may_hold_a_longer_policy(folder: Folder) -> None:
    """Its owner can spread it over managed policies."""
    model = '  "arn:aws:bedrock:us-east-1::foundation-model/vendor.model-{:03}-v1:0",\n'
    folder.replace(DEV, "models = [\n", "models = [\n" + "".join(model.format(number) for number in range(120)))
    folder.replace(DEV, "[guard]", f"[role]\n{ROLE}\n[guard]")

    assert within_limits(folder.load())

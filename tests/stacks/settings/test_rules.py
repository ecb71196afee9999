"""Loading the settings refuses what no single value can tell: rules across the keys of a file, and across files."""

from __future__ import annotations

from contextlib import chdir
from pathlib import Path

import pytest
from pydantic import ValidationError

from stacks.settings.fault import Fault
from tests.stacks.settings.case import DEV, PROD, SANDBOX, Case
from tests.stacks.settings.folder import Folder

IDENTIFIERS = 'identifiers = ["EmailAddress", "CpfCode-BR", "CreditCardNumber", "AwsSecretKey"]\n'
REASON = 'content_reason = "Made-up questions only: developers read whole prompts here."'
PATTERNS = '[observability.masking.patterns]\nbare-cpf = "[0-9]{3}[.][0-9]{3}[.][0-9]{3}-[0-9]{2}"\n'
IMAGE = 'image = "sha256:0000000000000000000000000000000000000000000000000000000000000000"'
TIMES = "idle_timeout_seconds = 900\nmax_lifetime_seconds = 3600"
IDLE = "agent.session.idle_timeout_seconds"
JWT = 'type = "JWT"\ndiscovery_url = "https://id.example/.well-known/openid-configuration"'
ROLE = 'arn = "arn:aws:iam::111122223333:role/own"'
BOUNDARY = 'permissions_boundary_arn = "arn:aws:iam::111122223333:policy/edge"'

BUNDLE = f'bundle = "{"0" * 32}"'
CODE = f'artifact = "code"\n{BUNDLE}'
ENDPOINT = 'destination = "https://otel.example.com:4318/v1/traces"'
HEADERS = 'destination_headers_secret_arn = "arn:aws:secretsmanager:us-east-1:111122223333:secret:otel/headers-a1B2c3"'

WITHIN_A_FILE = (
    Case(
        "content without a reason",
        *(DEV, REASON, ""),
        "observability.content_reason: capture = content needs a written reason, and there is none; "
        "say why texts must be in the trail, or choose metadata, address or archive",
    ),
    Case(
        "a tag in prod",
        *(PROD, IMAGE, 'image = "latest"'),
        'agent.image = "latest": is a tag, which may point elsewhere tomorrow; '
        'write the digest (sha256:…); a tag is allowed only where on_destroy = "delete"',
    ),
    Case(
        "tokens without a price",
        *(DEV, "[usage]\n", "[usage]\ntokens = { input_per_session = 5, input_usd = 1 }\n"),
        "usage.tokens: counts tokens that have no price; "
        "name a model whose list price holds, or state input_usd and output_usd",
    ),
    Case(
        "idle longer than lifetime",
        *(DEV, TIMES, "idle_timeout_seconds = 3601\nmax_lifetime_seconds = 3600"),
        f"{IDLE} = 3601: 3601 seconds are longer than max_lifetime_seconds; allowed: at most 3600",
    ),
    Case(
        "idle written as a decimal",
        *(DEV, TIMES, "idle_timeout_seconds = 3601.0\nmax_lifetime_seconds = 3600"),
        f"{IDLE} = 3601.0: 3601.0 seconds are longer than max_lifetime_seconds; allowed: at most 3600",
    ),
    Case(
        "default idle longer than lifetime",
        *(DEV, TIMES, "max_lifetime_seconds = 600"),
        f"{IDLE}: 900 seconds are longer than max_lifetime_seconds; allowed: at most 600",
    ),
    Case(
        "idle longer than the default lifetime",
        *(DEV, TIMES, "idle_timeout_seconds = 28801"),
        f"{IDLE} = 28801: 28801 seconds are longer than max_lifetime_seconds; allowed: at most 28800",
    ),
    Case(
        "a boundary of a role that is not made",
        *(DEV, "[guard]", f"[role]\n{ROLE}\n{BOUNDARY}\n[guard]"),
        'role.permissions_boundary_arn = "arn:aws:iam::111122223333:policy/edge": '
        "bounds the role that is made, and role.arn says that none is; set one of the two",
    ),
    Case(
        "an image where code runs",
        *(DEV, IMAGE, f"{IMAGE}\n{CODE}"),
        f'agent.image = "sha256:{"0" * 64}": is not what runs: artifact = code; leave it out, or change agent.artifact',
    ),
    Case(
        "a bundle where an image runs",
        *(DEV, IMAGE, f"{IMAGE}\n{BUNDLE}"),
        f'agent.bundle = "{"0" * 32}": is not what runs: artifact = image; leave it out, or change agent.artifact',
    ),
    Case(
        "code without a bundle",
        *(DEV, IMAGE, 'artifact = "code"'),
        "agent.bundle: is required by artifact = code, and missing; the version that `make bundle` writes; 32 zeros",
    ),
    Case(
        "no image",
        *(DEV, IMAGE, ""),
        "agent.image: is required by artifact = image, and missing; Image digest (sha256:…)",
    ),
    Case(
        "headers that no endpoint asks for",
        *(DEV, "retention_days = 7", f"retention_days = 7\n{HEADERS}"),
        f"observability.{HEADERS}: holds headers of an OTLP endpoint, and the destination is cloudwatch; "
        "set observability.destination, or leave the secret out",
    ),
    Case(
        "JWT for every token",
        *(DEV, 'type = "IAM"', JWT),
        "auth.audiences: every token of the provider would be let in; list audiences or clients",
    ),
    Case(
        "JWT with empty lists",
        *(DEV, 'type = "IAM"', f"{JWT}\naudiences = []\nclients = []"),
        "auth.audiences: every token of the provider would be let in; list audiences or clients",
    ),
)

TAKEN = (
    ("code with its bundle", DEV, IMAGE, CODE),
    ("an image, said", DEV, IMAGE, f'{IMAGE}\nartifact = "image"'),
    ("a kept environment that runs code", PROD, IMAGE, CODE),
    ("an endpoint", DEV, "retention_days = 7", f"retention_days = 7\n{ENDPOINT}"),
    ("an endpoint with headers", DEV, "retention_days = 7", f"retention_days = 7\n{ENDPOINT}\n{HEADERS}"),
    ("no session kept but those that fail", DEV, "retention_days = 7", "retention_days = 7\nkept_sessions = 0"),
    ("as many passages as one call returns", DEV, IMAGE, f"{IMAGE}\ntop_k = 100"),
    ("idle as long as lifetime", DEV, TIMES, "idle_timeout_seconds = 3600\nmax_lifetime_seconds = 3600"),
    ("a tag where the trail is deleted", DEV, IMAGE, 'image = "latest"'),
    ("a bound role", DEV, "[guard]", f"[role]\n{BOUNDARY}\n[guard]"),
    ("an own role", DEV, "[guard]", f"[role]\n{ROLE}\n[guard]"),
    ("JWT with clients", DEV, 'type = "IAM"', f'{JWT}\nclients = ["web"]'),
    ("content masked by patterns alone", DEV, IDENTIFIERS, ""),
    ("content masked by identifiers alone", DEV, PATTERNS, ""),
)


@pytest.mark.parametrize("case", WITHIN_A_FILE, ids=lambda case: case.name)
def test_keys_that_contradict_each_other_are_refused(case: Case, folder: Folder) -> None:
    """Keys of one file that do not go together give one fault that says what to do."""
    case.check(folder)


@pytest.mark.parametrize(("file", "old", "new"), [row[1:] for row in TAKEN], ids=[row[0] for row in TAKEN])
def test_the_nearest_allowed_neighbour_is_taken(file: str, old: str, new: str, folder: Folder) -> None:
    """What stands just on the allowed side of a rule loads."""
    folder.replace(file, old, new)
    assert folder.faults() == ()


def test_a_trail_is_kept_unless_the_environment_is_dev(folder: Folder) -> None:
    """Where the file says nothing, `dev` alone is disposable."""
    folder.replace(DEV, 'on_destroy = "delete"\n', "")
    folder.replace(PROD, 'on_destroy = "keep"\n', "")

    kept = {environment.name: environment.keeps_trail for environment in folder.load().environments}
    assert kept == {"dev": False, "prod": True, "staging": True}


def test_settings_do_not_change_once_they_are_read(folder: Folder) -> None:
    """Stacks, names and digests all speak of the same values."""
    declared = folder.load().environments[0].declared

    with pytest.raises(ValidationError, match="frozen"):
        declared.owner = "somebody else"  # type: ignore[misc]


@pytest.mark.parametrize(
    "file",
    [f"{'e' * 17}.toml", "edge-.toml", "1st.toml", f"accounts/{'a' * 33}.toml", "accounts/edge-.toml"],
)
def test_a_file_is_named_as_its_resources_can_be(file: str, folder: Folder) -> None:
    """Names of buckets and stacks are made of it; a name that is just short enough loads."""
    is_account = file.startswith("accounts/")
    text = (folder.path / (SANDBOX if is_account else DEV)).read_text(encoding="utf-8")
    text = text.replace('region = "us-east-1"', 'region = "us-west-2"').replace("handbook_dev", "handbook_edge")
    folder.write(file, text)

    (fault,) = folder.faults()

    assert (fault.file, fault.problem) == (f"environments/{file}", "is not named as its resources can be")
    (folder.path / file).unlink()
    folder.write(f"accounts/{'a' * 32}.toml" if is_account else f"{'e' * 16}.toml", text)
    assert folder.faults() == ()


def test_content_without_masking_is_refused(folder: Folder) -> None:
    """Capture of texts with neither identifiers nor patterns gives one fault that names the other regimes."""
    folder.replace(DEV, IDENTIFIERS, "")
    folder.replace(DEV, PATTERNS, "")
    (fault,) = folder.faults()
    assert str(fault) == (
        "environments/dev.toml: observability.masking: capture = content puts texts into the trail, and nothing masks "
        "them; list identifiers or patterns, or choose metadata, address or archive"
    )


def test_one_runtime_name_twice_in_an_account_and_region_is_refused(folder: Folder) -> None:
    """Two environments with the same account, Region and agent name would fight over one runtime."""
    folder.replace("staging.toml", 'name = "handbook_staging"', 'name = "handbook_dev"')
    (fault,) = folder.faults()
    assert str(fault) == (
        'environments/staging.toml: agent.name = "handbook_dev": environments/dev.toml has this agent name too, in the '
        "same account (111122223333) and Region (us-east-1); give each environment its own"
    )


def test_one_runtime_name_in_two_accounts_or_two_regions_is_taken(folder: Folder) -> None:
    """The same agent name in another account, or in another Region, is no clash."""
    folder.replace(PROD, 'name = "handbook_prod"', 'name = "handbook_dev"')
    account = (folder.path / SANDBOX).read_text(encoding="utf-8")
    folder.write("accounts/elsewhere.toml", account.replace("us-east-1", "sa-east-1"))
    folder.replace("staging.toml", 'account = "sandbox"', 'account = "elsewhere"')
    folder.replace("staging.toml", 'name = "handbook_staging"', 'name = "handbook_dev"')
    assert folder.faults() == ()


def test_two_environments_whose_names_differ_in_case_alone_are_refused(folder: Folder) -> None:
    """`Dev` and `dev` would name the same resources: the second is refused, and so is its capital letter."""
    text = (folder.path / DEV).read_text(encoding="utf-8").replace("handbook_dev", "handbook_other")
    folder.write("Dev.toml", text)
    misnamed, twin = map(str, folder.faults())
    assert misnamed == (
        "environments/Dev.toml: is not named as its resources can be; "
        "allowed: lower-case letters, digits and hyphens, at most 16 (an account: 32) of them"
    )
    assert twin == (
        "environments/dev.toml: names the same environment as environments/Dev.toml; rename one of the two files"
    )


UNREADABLE = (
    ("broken TOML", b"account = ", "is not readable TOML: Invalid value (at end of document)"),
    ("a key twice", b"a = 1\na = 2", "is not readable TOML: Cannot overwrite a value (at end of document)"),
    (
        "not UTF-8",
        b'owner = "S\xe3o Paulo"',
        "is not readable TOML: 'utf-8' codec can't decode byte 0xe3 in position 10",
    ),
    ("an integer of 5,000 digits", b"a = " + b"9" * 5_000, "is not readable TOML: Exceeds the limit"),
    ("lists nested too deep", b"a = " + b"[" * 3_000 + b"]" * 3_000, "is not readable TOML: maximum recursion depth"),
)


@pytest.mark.parametrize(("raw", "problem"), [row[1:] for row in UNREADABLE], ids=[row[0] for row in UNREADABLE])
@pytest.mark.parametrize("file", [DEV, "accounts/production.toml"])
def test_a_file_that_cannot_be_read_gives_one_fault(file: str, raw: bytes, problem: str, folder: Folder) -> None:
    """An unreadable file gives one fault: who refers to an unreadable account is not blamed for it."""
    folder.write(file, raw)
    (fault,) = folder.faults()
    assert (fault.file, fault.path, fault.value) == (f"environments/{file}", "", None)
    assert fault.problem.startswith(problem)


def test_a_folder_that_does_not_exist_or_is_empty_is_refused(tmp_path: Path) -> None:
    """A missing folder is named in full, an empty one by its name, each with what to do."""
    assert Folder(tmp_path / "none").faults() == (
        Fault(str(tmp_path / "none"), "", "there is no such folder", None, "name the folder of environments"),
    )
    (tmp_path / "empty").mkdir()
    assert Folder(tmp_path / "empty").faults() == (
        Fault("empty", "", "holds no environment", None, "add <environment>.toml"),
    )


def test_files_are_named_the_same_from_within_the_folder(folder: Folder) -> None:
    """The folder `.` is shown by its name, not as the root of the disk."""
    folder.replace(DEV, "retention_days = 7", "retention_days = 8")
    with chdir(folder.path):
        (fault,) = Folder(Path()).faults()
    assert fault.file == "environments/dev.toml"


def test_two_files_of_one_account_and_region_are_refused(folder: Folder) -> None:
    """Their stacks would fight over the same singletons; another Region of the account is another file."""
    sandbox = (folder.path / "accounts" / "sandbox.toml").read_text()
    folder.write("accounts/second.toml", sandbox)

    (fault,) = folder.faults()

    assert str(fault) == (
        'environments/accounts/second.toml: account_id = "111122223333": environments/accounts/sandbox.toml describes '
        "this account and Region (us-east-1) too; keep one of the two files"
    )
    folder.write("accounts/second.toml", sandbox.replace("us-east-1", "us-west-2"))
    assert folder.faults() == ()


def test_tables_nested_deeper_than_a_stack_are_refused_like_any_unknown_key(folder: Folder) -> None:
    """Dotted keys cost a file little and would cost a recursive reader everything."""
    text = (folder.path / DEV).read_text(encoding="utf-8")
    folder.write(DEV, f"{'.'.join('a' * 5_000)} = 1\n{text}")

    (fault,) = folder.faults()

    assert (fault.path, fault.problem) == ("a", "is an unknown key")

"""Loading the settings refuses masks that CloudWatch Logs would not take, and masks that would hide the trail."""

from __future__ import annotations

import pytest

from stacks.observability.identifiers import UNVERIFIED_IDENTIFIERS
from tests.stacks.settings.case import DEV, SANDBOX, Case
from tests.stacks.settings.folder import Folder

IDENTIFIERS = 'identifiers = ["EmailAddress", "CpfCode-BR", "CreditCardNumber", "AwsSecretKey"]'
PATTERN = 'bare-cpf = "[0-9]{3}[.][0-9]{3}[.][0-9]{3}-[0-9]{2}"'
MASKING = "observability.masking"
CHARACTERS = r"allowed: letters, digits, space, _#=@/;,- and ^$?[]{}|\*+."
HIDES = "would mask the trail itself: it matches"


def _pattern(name: str, regex: str, says: str) -> Case:
    shown = f'"{regex}"' if len(regex) < 79 else f'"{regex[:79]}…'
    new = f"bare-cpf = '''{regex}'''"
    return Case(name, DEV, PATTERN, new, f"{MASKING}.patterns.bare-cpf = {shown}: {says}")


NAMES = (
    Case(
        "misspelt",
        *(DEV, IDENTIFIERS, 'identifiers = ["Name", "CpfCod-BR"]'),
        f'{MASKING}.identifiers.1 = "CpfCod-BR": is not a managed data identifier; did you mean CpfCode-BR?',
    ),
    Case(
        "unknown",
        *(DEV, IDENTIFIERS, 'identifiers = ["zz"]'),
        f'{MASKING}.identifiers.0 = "zz": is not a managed data identifier; allowed: Address, AwsSecretKey, Bank',
    ),
    Case(
        "misspelt in an account",
        *(SANDBOX, '["EmailAddress", "CreditCardNumber", "AwsSecretKey"]', '["CnpjCode-BR"]'),
        'masking.identifiers.0 = "CnpjCode-BR": is not a managed data identifier; did you mean',
    ),
    Case(
        "a pattern under a managed name",
        *(DEV, "bare-cpf = ", "EmailAddress = "),
        f'{MASKING}.patterns.EmailAddress = "EmailAddress": is the name of a managed data identifier; choose another',
    ),
    Case(
        "twice",
        *(DEV, IDENTIFIERS, 'identifiers = ["Name", "Name"]'),
        f"{MASKING}.identifiers = ['Name', 'Name']: names Name twice; name each once",
    ),
    Case(
        "pattern name",
        *(DEV, PATTERN, PATTERN.replace("bare-cpf", '"bare cpf"')),
        f'{MASKING}.patterns.bare cpf = "bare cpf": is not a name for a custom identifier; allowed: 1 to 128 of a-z',
    ),
    Case(
        "11 patterns",
        *(DEV, PATTERN, "\n".join(f'p{number} = "[Q]{{{number + 1}}}"' for number in range(11))),
        f"{MASKING}.patterns: has 11 entries; allowed: at most 10",
    ),
    *(
        Case(
            f"UNVERIFIED {name}",
            *(DEV, IDENTIFIERS, f'identifiers = ["{name}"]'),
            f'{MASKING}.identifiers.0 = "{name}": '
            "is a data identifier that AWS's lists name without an ARN; leave it out until AWS lists its ARN",
        )
        for name in sorted(UNVERIFIED_IDENTIFIERS)
    ),
)

PATTERNS = (
    _pattern("201 characters", "Q" * 201, "has 201 characters; allowed: 1 to 200 characters"),
    _pattern("no characters", "", "has 0 characters; allowed: 1 to 200 characters"),
    _pattern("parentheses", "(cpf)", f"holds ( ), which CloudWatch Logs does not take in a pattern; {CHARACTERS}"),
    _pattern("a colon", "cpf: Q", f"holds :, which CloudWatch Logs does not take in a pattern; {CHARACTERS}"),
    _pattern("quotes", "\"Q'q", f"holds \" ', which CloudWatch Logs does not take in a pattern; {CHARACTERS}"),
    _pattern("accents", "ação", f"holds ã ç, which CloudWatch Logs does not take in a pattern; {CHARACTERS}"),
    _pattern("an open set", "[0-9", "is not a regular expression (missing ]: [0-9); mend it"),
    _pattern("a count too large", "a{2000}", "is not a regular expression (invalid repetition size: {2000}); mend it"),
    _pattern("nanoseconds", "[0-9]{11}", f"{HIDES} a timestamp in nanoseconds; make it narrower"),
    _pattern("account ids", "[^0-9][0-9]{12}[^0-9]", f"{HIDES} the account id in an ARN; make it"),
    _pattern("trace ids", "^[0-9a-f]{32}$", f"{HIDES} a trace id; make it narrower"),
    _pattern("span ids", "^[0-9a-f]{16}$", f"{HIDES} a span id; make it narrower"),
    _pattern("hashes", "^[0-9a-f]{64}$", f"{HIDES} the hash of an event; make it narrower"),
    _pattern("digests", "^.+digest.+[A-Za-z0-9_-]{16}.+$", f"{HIDES} the digest of a text; make it narrower"),
    _pattern("log groups", "/aws/bedrock[a-z-]+", f"{HIDES} a log group; make it narrower"),
    _pattern("anything", ".*", f"{HIDES} a timestamp in nanoseconds; make it narrower"),
)


@pytest.mark.parametrize("case", NAMES, ids=lambda case: case.name)
def test_a_mask_that_cloudwatch_logs_would_refuse_is_refused_first(case: Case, folder: Folder) -> None:
    """An identifier without a known ARN, a list with a twin and a list too long are refused before AWS sees them."""
    case.check(folder)


@pytest.mark.parametrize("case", PATTERNS, ids=lambda case: case.name)
def test_a_custom_pattern_that_is_unfit_is_refused(case: Case, folder: Folder) -> None:
    """A pattern of refused length, characters or form is refused, and so is one that would mask the trail."""
    case.check(folder)


def test_a_pattern_of_200_characters_is_taken(folder: Folder) -> None:
    """The longest pattern that AWS takes loads."""
    folder.replace(DEV, PATTERN, f'bare-cpf = "{"Q" * 200}"')
    assert folder.faults() == ()


def test_a_pattern_of_many_stars_is_checked_in_a_moment(folder: Folder) -> None:
    """An engine that goes back and forth would take hours over this one; no limit on time is needed to tell."""
    folder.replace(DEV, PATTERN, f"bare-cpf = '{'[a-z0-9]*' * 15};Q'")

    assert folder.faults() == ()

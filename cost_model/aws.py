"""Say in one sentence why AWS did not do what was asked: which right is missing, or what to do about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, Final

import boto3
from botocore import exceptions as aws
from botocore.config import Config
from botocore.parsers import ResponseParserError
from urllib3.exceptions import HTTPError

from cost_model.errors import AwsError
from cost_model.render.figures import clean

ATTEMPTS: Final = 5
"""How often a question is asked at most while AWS says: later. The waits between double: some ten seconds together."""
_NO_REASONS: Final[Mapping[str, str]] = MappingProxyType({})
_DENIED: Final = frozenset({"AccessDenied", "AccessDeniedException", "UnauthorizedOperation", "AuthorizationError"})
_EXPIRED: Final = frozenset(
    {"ExpiredToken", "ExpiredTokenException", "InvalidClientTokenId", "InvalidSignatureException"}
    | {"UnrecognizedClientException", "SignatureDoesNotMatch"}
)
_THROTTLED: Final = frozenset(
    {"Throttling", "ThrottlingException", "ThrottledException", "TooManyRequestsException", "LimitExceededException"}
    | {"RequestLimitExceeded"}
)
_NO_CREDENTIALS: Final = (
    aws.NoCredentialsError,
    aws.PartialCredentialsError,
    aws.CredentialRetrievalError,
    aws.TokenRetrievalError,
    aws.SSOError,
)


def client_of(service: str, region: str | None = None) -> Any:  # noqa: ANN401 - a boto3 client has no type
    """Make a client that asks again where it is throttled; without a Region, the one that boto3 is set up for.

    Raises:
        AwsError: there is no Region, or no such profile.
    """
    config = Config(retries={"mode": "standard", "total_max_attempts": ATTEMPTS})
    with told(f"reaching {service} failed"):
        return boto3.Session().client(service, region_name=region, config=config)


@contextmanager
def told(attempt: str, right: str = "", reasons: Mapping[str, str] = _NO_REASONS) -> Iterator[None]:
    """Turn what boto3 raises into a sentence that begins with what was attempted.

    Args:
        attempt: what failed.
        right: the IAM action that it takes.
        reasons: what AWS's codes mean here.

    Raises:
        AwsError: AWS did not do it.
    """
    try:
        yield
    except _NO_CREDENTIALS as error:
        reason = f"no AWS credentials ({type(error).__name__}): sign in, or choose a profile with AWS_PROFILE"
    except aws.ProfileNotFound:
        reason = "AWS_PROFILE names a profile that is not configured"
    except (aws.NoRegionError, aws.InvalidRegionError):
        reason = "no AWS Region: set AWS_REGION, or choose a profile that has one"
    except aws.ClientError as error:
        code = code_of(error)
        reason = reasons.get(code) or _reason(code, right)
    except ResponseParserError:
        reason = "the answer is not one of AWS's"
    except (aws.BotoCoreError, HTTPError) as error:
        reason = f"AWS was not reached, or broke off ({type(error).__name__})"
    else:
        return
    message = f"{attempt}: {reason}"
    raise AwsError(message) from None


def code_of(error: aws.ClientError) -> str:
    """Give the code of AWS's refusal."""
    return str(error.response.get("Error", {}).get("Code", ""))


def _reason(code: str, right: str) -> str:
    if code in _DENIED:
        return f"access denied: this needs {right}" if right else "access denied"
    if code in _EXPIRED:
        return "the credentials are not valid, or no longer: sign in again"
    if code in _THROTTLED:
        return "AWS throttles: try again in a minute"
    if code in {"ResourceNotFoundException", "ResourceNotFound"}:
        return "it does not exist, or not in this account and Region"
    return f"AWS answered {clean(code)[:80] or 'an error without a code'}"

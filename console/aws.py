"""Say in one sentence why AWS did not do what was asked, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Final

from botocore import exceptions as aws
from urllib3.exceptions import HTTPError

from console.errors import ConsoleError

_NO_CREDENTIALS: Final = (
    aws.NoCredentialsError,
    aws.PartialCredentialsError,
    aws.CredentialRetrievalError,
    aws.TokenRetrievalError,
    aws.SSOError,
)
_DENIED: Final = "access denied: the credentials lack the right, or the resource does not admit them"
_EXPIRED: Final = "the credentials are not valid, or no longer: sign in again"
_REASONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "AccessDenied": _DENIED,
        "AccessDeniedException": _DENIED,
        "ExpiredToken": _EXPIRED,
        "ExpiredTokenException": _EXPIRED,
        "InvalidSignatureException": _EXPIRED,
        "UnrecognizedClientException": _EXPIRED,
        "ThrottlingException": "throttled: try again in a moment",
        "ResourceNotFoundException": "it does not exist, or not in this account and Region",
        "RuntimeClientError": "the agent refused the invocation, or failed before it answered",
        "ServiceQuotaExceededException": "the account's quota is used up",
    }
)


@contextmanager
def told(attempt: str, reasons: Mapping[str, str] = _REASONS) -> Iterator[None]:
    """Turn what boto3 raises into a sentence that begins with what was attempted; `reasons` go by error code.

    Raises:
        ConsoleError: AWS did not do it.
    """
    try:
        yield
    except _NO_CREDENTIALS as error:
        reason = f"no AWS credentials ({type(error).__name__}): sign in, or choose a profile with AWS_PROFILE"
    except aws.ProfileNotFound:
        reason = "AWS_PROFILE names a profile that is not configured"
    except aws.NoRegionError:
        reason = "no AWS Region: set AWS_REGION, or choose a profile that has one"
    except aws.ClientError as error:
        code = error.response.get("Error", {}).get("Code", "")
        reason = reasons.get(code) or _REASONS.get(code) or f"AWS answered {code}"
    except (aws.BotoCoreError, HTTPError) as error:
        reason = f"AWS was not reached, or broke off ({type(error).__name__})"
    else:
        return
    message = f"{attempt}: {reason}"
    raise ConsoleError(message)

"""Say why AWS did not do what was asked."""

from __future__ import annotations

import pytest
from botocore import exceptions as aws
from botocore.parsers import ResponseParserError

from cost_model.aws import told
from cost_model.errors import AwsError


def refusal(code: str) -> aws.ClientError:
    """Make what boto3 raises where AWS refuses."""
    return aws.ClientError({"Error": {"Code": code, "Message": "secret words"}}, "GetMetricData")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (aws.NoCredentialsError(), "no AWS credentials (NoCredentialsError): sign in"),
        (aws.ProfileNotFound(profile="p"), "a profile that is not configured"),
        (aws.NoRegionError(), "no AWS Region: set AWS_REGION"),
        (aws.EndpointConnectionError(endpoint_url="http://127.0.0.1:9"), "AWS was not reached, or broke off"),
        (ResponseParserError("x"), "the answer is not one of AWS's"),
        (refusal("AccessDenied"), "access denied: this needs cloudwatch:GetMetricData"),
        (refusal("AccessDeniedException"), "access denied: this needs cloudwatch:GetMetricData"),
        (refusal("ExpiredToken"), "sign in again"),
        (refusal("Throttling"), "AWS throttles: try again in a minute"),
        (refusal("LimitExceededException"), "AWS throttles: try again in a minute"),
        (refusal("ResourceNotFoundException"), "it does not exist, or not in this account and Region"),
        (refusal("Odd\x1b[31m"), "AWS answered Odd [31m"),
        (refusal("Mine"), "what it means here"),
    ],
)
def test_a_failure_is_one_sentence_without_words_of_aws(error: Exception, said: str) -> None:
    """What was attempted, then why it failed and what to do."""
    with (
        pytest.raises(AwsError) as raised,
        told("measuring failed", "cloudwatch:GetMetricData", {"Mine": "what it means here"}),
    ):
        raise error

    (line,) = raised.value.lines
    assert line.startswith("measuring failed: ")
    assert said in line
    assert "secret words" not in line
    assert line.isprintable()
    assert raised.value.status == 1


def test_other_errors_are_not_taken_for_aws_s() -> None:
    """A fault of the program shows as one."""
    with pytest.raises(ZeroDivisionError), told("measuring failed"):
        raise ZeroDivisionError

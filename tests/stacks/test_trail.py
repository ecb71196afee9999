"""The trail is kept, masked and indexed as the environment file says."""

from __future__ import annotations

import json

import pytest

from agent_image.contract import DEFAULT_INDEXED_FIELDS
from tests.synthesis import Stack, Synthesis

RETENTION = {"agent-dev": 7, "agent-staging": 30, "agent-prod": 30}


def masked(stack: Stack) -> list[list[str]]:
    document = json.loads(stack.only("aws_cloudwatch_log_data_protection_policy")["policy_document"])
    return [statement["DataIdentifier"] for statement in document["Statement"]]


@pytest.mark.parametrize(("name", "days"), RETENTION.items())
def test_one_owned_group_keeps_events_for_the_declared_days(shipped: Synthesis, name: str, days: int) -> None:
    """The class is STANDARD: the others have no field index."""
    group = shipped[name].only("aws_cloudwatch_log_group")

    assert group["retention_in_days"] == days
    assert group["log_group_class"] == "STANDARD"


def test_no_group_is_kept_for_ever(shipped: Synthesis, variants: Synthesis) -> None:
    """Retention is never absent and never zero."""
    for stack in [*shipped.stacks.values(), *variants.stacks.values()]:
        for group in stack.resources("aws_cloudwatch_log_group").values():
            assert group["retention_in_days"] > 0


def test_audit_and_mask_list_the_same_identifiers(shipped: Synthesis, variants: Synthesis) -> None:
    """AWS refuses a document whose two lists differ."""
    for agent in [*shipped.agents, variants["agent-locked"]]:
        audit, mask = masked(agent)
        assert audit == mask


def test_the_document_audits_and_masks(shipped: Synthesis) -> None:
    """Audit says what is coming in, mask keeps it from being read."""
    document = json.loads(shipped["agent-prod"].only("aws_cloudwatch_log_data_protection_policy")["policy_document"])

    assert document["Version"] == "2021-06-01"
    assert [statement["Operation"] for statement in document["Statement"]] == [
        {"Audit": {"FindingsDestination": {}}},
        {"Deidentify": {"MaskConfig": {}}},
    ]
    assert len(json.dumps(document)) <= 30_720


def test_a_custom_pattern_is_declared_once_and_cited_by_name_in_both_lists(shipped: Synthesis) -> None:
    """Managed identifiers are cited by ARN, custom ones by bare name."""
    document = json.loads(shipped["agent-prod"].only("aws_cloudwatch_log_data_protection_policy")["policy_document"])

    assert document["Configuration"]["CustomDataIdentifier"] == [
        {"Name": "bare-cpf", "Regex": "[0-9]{3}[.][0-9]{3}[.][0-9]{3}-[0-9]{2}"}
    ]
    for cited in masked(shipped["agent-prod"]):
        assert "bare-cpf" in cited
        assert "arn:aws:dataprotection::aws:data-identifier/CpfCode-BR" in cited


def test_identifiers_belong_to_the_partition_of_the_region(variants: Synthesis) -> None:
    """Another partition has its own ARNs."""
    assert masked(variants["agent-locked"])[0] == ["arn:aws-us-gov:dataprotection::aws:data-identifier/EmailAddress"]


def test_an_environment_that_masks_nothing_declares_no_policy(variants: Synthesis) -> None:
    """A document without identifiers would be refused."""
    assert not variants["agent-plain"].resources("aws_cloudwatch_log_data_protection_policy")


def test_a_mask_that_is_no_longer_asked_for_is_let_go_not_destroyed(shipped: Synthesis, variants: Synthesis) -> None:
    """A kept group that loses its mask would be readable in clear; where nothing is kept, nothing is held on to."""
    untouched = {"destroy": False}

    assert variants["agent-plain"].document["removed"] == [
        {"from": "aws_cloudwatch_log_data_protection_policy.masking", "lifecycle": untouched},
        {"from": "aws_cloudwatch_log_index_policy.index", "lifecycle": untouched},
    ]
    assert not any("removed" in stack.document for stack in shipped.agents)
    for stack in [*shipped.agents, *variants.agents]:
        declared = {address for address, _ in stack.each()}
        assert not {block["from"] for block in stack.document.get("removed", [])} & declared


def test_the_index_lists_the_declared_fields_and_no_free_one(shipped: Synthesis) -> None:
    """Session and trace ids are indexed by default and would only spend places."""
    for agent in shipped.agents:
        fields = json.loads(agent.only("aws_cloudwatch_log_index_policy")["policy_document"])["Fields"]
        assert 0 < len(fields) <= 20
        assert not DEFAULT_INDEXED_FIELDS & set(fields)


def test_no_index_policy_without_fields(variants: Synthesis) -> None:
    """The free index needs no policy."""
    assert not variants["agent-plain"].resources("aws_cloudwatch_log_index_policy")


def test_a_key_encrypts_the_group_and_the_outputs_say_what_the_key_must_allow(variants: Synthesis) -> None:
    """Without that statement in the key's policy, creating the group fails."""
    stack = variants["agent-locked"]
    statement = json.loads(stack.output("kms_key_policy_statement"))

    assert stack.only("aws_cloudwatch_log_group")["kms_key_id"].endswith("-000000000003")
    assert statement["Principal"] == {"Service": "logs.us-gov-west-1.amazonaws.com"}
    assert statement["Effect"] == "Allow"
    assert statement["Action"] == [
        f"kms:{action}" for action in ("Encrypt", "Decrypt", "ReEncrypt*", "GenerateDataKey*", "Describe*")
    ]
    assert statement["Condition"]["ArnLike"]["kms:EncryptionContext:aws:logs:arn"] == (
        "arn:aws-us-gov:logs:us-gov-west-1:123456789012:log-group:/aws/bedrock-agentcore/runtimes/*"
    )
    assert "kms_key_policy_statement" not in variants["agent-plain"].document["output"]

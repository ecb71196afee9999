"""Write `aws.json`, the arguments and attributes of the provider types that the stacks use.

Run `python -m tests.terraform_schema.extract` after adding a type below or raising the version of `cdktn-provider-aws`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any, Final

from tests.terraform_schema.assembly import Bindings, BindingsError, find_tarball, read_bindings
from tests.terraform_schema.schema import EXTRACT, Type

PACKAGE: Final = "cdktn_provider_aws"
"""The newer bindings, also for stacks on the older ones: only these know both X-Ray resources."""

RESOURCES: Final = (
    "aws_bedrockagentcore_agent_runtime",
    "aws_bedrockagentcore_agent_runtime_endpoint",
    "aws_bedrockagentcore_resource_policy",
    "aws_budgets_budget",
    "aws_cloudwatch_dashboard",
    "aws_cloudwatch_log_account_policy",
    "aws_cloudwatch_log_data_protection_policy",
    "aws_cloudwatch_log_group",
    "aws_cloudwatch_log_index_policy",
    "aws_cloudwatch_log_metric_filter",
    "aws_cloudwatch_log_resource_policy",
    "aws_cloudwatch_metric_alarm",
    "aws_cloudwatch_query_definition",
    "aws_dynamodb_table",
    "aws_ecr_lifecycle_policy",
    "aws_ecr_repository",
    "aws_ecr_repository_policy",
    "aws_iam_openid_connect_provider",
    "aws_iam_policy",
    "aws_iam_role",
    "aws_iam_role_policy",
    "aws_iam_role_policy_attachment",
    "aws_kms_alias",
    "aws_kms_key",
    "aws_s3_bucket",
    "aws_s3_bucket_lifecycle_configuration",
    "aws_s3_bucket_object_lock_configuration",
    "aws_s3_bucket_ownership_controls",
    "aws_s3_bucket_policy",
    "aws_s3_bucket_public_access_block",
    "aws_s3_bucket_server_side_encryption_configuration",
    "aws_s3_bucket_versioning",
    "aws_s3_object",
    "aws_scheduler_schedule",
    "aws_scheduler_schedule_group",
    "aws_sns_topic",
    "aws_sns_topic_policy",
    "aws_sns_topic_subscription",
    "aws_ssm_parameter",
    "aws_xray_indexing_rule",
    "aws_xray_trace_segment_destination",
)
DATA_SOURCES: Final = ("aws_caller_identity", "aws_partition", "aws_region")

# The documentation links are the one place of an assembly where Terraform's own spelling stands.
_TYPE_LINK: Final = re.compile(r"\{@link \S+ (\w+)\}")
_ARGUMENT_LINK: Final = re.compile(r"\{@link \S+#(\w+) \w+#\1\}")
_QUOTED_NAME: Final = re.compile(r"""(["'])([a-z][a-z0-9_]*)\1""")

_PRIMITIVES: Final = {"string": Type.STRING, "number": Type.NUMBER, "boolean": Type.BOOL, "any": Type.ANY}


class UnknownTypesError(BindingsError):
    """Say which listed types the bindings lack."""

    def __init__(self, missing: Iterable[str]) -> None:
        """Name the types."""
        super().__init__(f"not in the bindings: {', '.join(sorted(missing))}; correct the list or the package version")


class UnreadableBindingsError(BindingsError):
    """Say where the generated code has a form that this script does not know."""

    def __init__(self, where: str, form: object) -> None:
        """Show the form and where it stands."""
        super().__init__(f"{where}: unforeseen form {form!r}; teach tests/terraform_schema/extract.py to read it")


def extract(bindings: Bindings, resources: Iterable[str], data_sources: Iterable[str]) -> dict[str, Any]:
    """Return the extract of the named types, ready to be written as JSON."""
    resource_classes = _classes(bindings, "TerraformResource", resources)
    data_classes = _classes(bindings, "TerraformDataSource", data_sources)
    provider_name = bindings.provider.rpartition("/")[2]
    provider_class = _classes(bindings, "TerraformProvider", [provider_name])[provider_name]
    return {
        "provider": bindings.provider,
        "version": bindings.version,
        "resource": _all_arguments(bindings, resource_classes),
        "resource_attributes": _all_attributes(bindings, resource_classes),
        "data": _all_arguments(bindings, data_classes),
        "data_attributes": _all_attributes(bindings, data_classes),
        "provider_arguments": _block(bindings, _config(provider_class), ()),
    }


def render(document: dict[str, Any]) -> str:
    """Render an extract so that a changed argument is a changed line."""
    return json.dumps(document, indent=1, sort_keys=True) + "\n"


def _classes(bindings: Bindings, base: str, names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Find the classes of Terraform types; the framework's name before the base is `cdktn` or `cdktf`."""
    wanted = set(names)
    found = {}
    for item in bindings.types.values():
        if item["kind"] == "class" and item.get("base", "").rpartition(".")[2] == base:
            link = _TYPE_LINK.search(item["docs"]["summary"])
            if link and link[1] in wanted:
                found[link[1]] = item
    if missing := wanted - found.keys():
        raise UnknownTypesError(missing)
    return found


def _config(item: dict[str, Any]) -> str:
    return str(item["initializer"]["parameters"][-1]["type"]["fqn"])


def _all_arguments(bindings: Bindings, classes: dict[str, dict[str, Any]]) -> dict[str, Any]:
    return {name: _block(bindings, _config(item), ()) for name, item in classes.items()}


def _block(bindings: Bindings, struct: str, parents: tuple[str, ...]) -> dict[str, Any]:
    """Describe the properties of a struct under their Terraform names."""
    block = {}
    for item in bindings.types[struct].get("properties", ()):
        docs = f"{item['docs'].get('summary', '')} {item['docs'].get('remarks', '')}"
        where = f"{struct}.{item['name']}"
        link = _ARGUMENT_LINK.search(docs)
        if link is None:
            raise UnreadableBindingsError(where, docs)
        shape = _shape(bindings, item["type"], where, (*parents, struct))
        block[link[1]] = {"required": not item.get("optional", False), **shape}
    return block


def _shape(bindings: Bindings, ref: dict[str, Any], where: str, parents: tuple[str, ...]) -> dict[str, Any]:
    match ref:
        case {"union": {"types": [*members]}}:
            # Every list and flag may also be a token, which Terraform sees as an expression.
            plain = [member for member in members if not str(member.get("fqn", "")).endswith(".IResolvable")]
            if len(plain) == 1:
                return _shape(bindings, plain[0], where, parents)
        case {"primitive": str(name)} if name in _PRIMITIVES:
            return {"type": _PRIMITIVES[name]}
        case {"collection": {"kind": "array", "elementtype": {"fqn": str(struct)}}} if struct in bindings.types:
            return _nested(bindings, struct, parents)
        case {"collection": {"kind": kind, "elementtype": {"primitive": str(name)}}} if name in _PRIMITIVES:
            return {"type": Type.LIST if kind == "array" else Type.MAP, "element": _PRIMITIVES[name]}
        case {"fqn": str(struct)} if struct in bindings.types:
            return _nested(bindings, struct, parents)
    raise UnreadableBindingsError(where, ref)


def _nested(bindings: Bindings, struct: str, parents: tuple[str, ...]) -> dict[str, Any]:
    if struct in parents:
        return {"type": Type.ANY}
    return {"type": Type.BLOCK, "block": _block(bindings, struct, parents)}


def _all_attributes(bindings: Bindings, classes: dict[str, dict[str, Any]]) -> dict[str, list[str]]:
    sources = {name: item["locationInModule"]["filename"] for name, item in classes.items()}
    texts = bindings.javascript(sources.values())
    return {name: _attributes(item, texts[sources[name]]) for name, item in classes.items()}


def _attributes(item: dict[str, Any], javascript: str) -> list[str]:
    """List what a class lets one read, under the names that its compiled code asks Terraform for.

    Computed attributes have no documentation link, and `checksumCrc32C` does not tell whether an underscore precedes
    the C: the quoted name that spells the same letters does.
    """
    properties = {one["name"] for one in item["properties"] if not one.get("static", False)}
    # `xInput` is how the framework reads back what was written to `x`.
    inputs = {f"{one}Input" for one in properties}
    spellings: dict[str, set[str]] = {}
    for _, quoted in _QUOTED_NAME.findall(javascript):
        spellings.setdefault(quoted.replace("_", ""), set()).add(quoted)
    return sorted(_only(spellings.get(one.lower(), set()), f"{item['fqn']}.{one}") for one in properties - inputs)


def _only(candidates: set[str], where: str) -> str:
    if len(candidates) != 1:
        raise UnreadableBindingsError(where, sorted(candidates))
    return next(iter(candidates))


def main() -> None:
    """Write the extract of the installed bindings beside this module."""
    bindings = read_bindings(find_tarball(PACKAGE))
    EXTRACT.write_text(render(extract(bindings, RESOURCES, DATA_SOURCES)), encoding="utf-8")
    print(f"{EXTRACT.name}: {bindings.provider} {bindings.version}, {EXTRACT.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()

"""Declare the messages of Terraform's plugin protocol 6 that the provider needs; the wire ignores the others.

A value travels as MessagePack; what Terraform does not know yet is a MessagePack extension.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory  # type: ignore[import-untyped] # no types

msgpack: Any = import_module("msgpack")

_MESSAGES: Final = """
Empty:
Value: 1 msgpack bytes, 2 json bytes
Diagnostic: 1 severity int32, 2 summary string, 3 detail string
Step: 1 attribute_name string
Path: 1 steps *Step
Attribute: 1 name string, 2 type bytes, 4 required bool, 5 optional bool, 6 computed bool
Block: 2 attributes *Attribute, 3 block_types *NestedBlock
NestedBlock: 1 type_name string, 2 block Block, 3 nesting int32
Schema: 1 version int64, 2 block Block
NamedSchema: 1 key string, 2 value Schema
Schemas: 1 provider Schema, 2 resource_schemas *NamedSchema
Request: 1 type_name string, 2 config Value
ProviderConfig: 1 config Value
Diagnostics1: 1 diagnostics *Diagnostic
Diagnostics2: 2 diagnostics *Diagnostic
RawState: 1 json bytes
UpgradeRequest: 1 type_name string, 2 version int64, 3 raw_state RawState
UpgradeResponse: 1 upgraded_state Value, 2 diagnostics *Diagnostic
ReadRequest: 1 type_name string, 2 current_state Value
ReadResponse: 1 new_state Value, 2 diagnostics *Diagnostic
PlanRequest: 1 type_name string, 2 prior_state Value, 3 proposed_new_state Value, 4 config Value
PlanResponse: 1 planned_state Value, 2 requires_replace *Path, 4 diagnostics *Diagnostic
ApplyRequest: 1 type_name string, 2 prior_state Value, 3 planned_state Value, 4 config Value
ApplyResponse: 1 new_state Value, 3 diagnostics *Diagnostic
ImportRequest: 1 type_name string, 2 id string
Imported: 1 type_name string, 2 state Value
ImportResponse: 1 imported_resources *Imported, 2 diagnostics *Diagnostic
"""

UNKNOWN: Final = msgpack.ExtType(0, b"\0")


def _declare() -> dict[str, Any]:
    file = descriptor_pb2.FileDescriptorProto(name="rehearsal.proto", package="rehearsal", syntax="proto3")
    kind = descriptor_pb2.FieldDescriptorProto
    for line in _MESSAGES.strip().splitlines():
        name, _, fields = line.partition(":")
        message = file.message_type.add(name=name)
        for number, field, type_name in (part.split() for part in fields.split(",") if part):
            label = kind.LABEL_REPEATED if type_name.startswith("*") else kind.LABEL_OPTIONAL
            added = message.field.add(name=field, number=int(number), label=label)
            plain = type_name.lstrip("*")
            if plain[0].isupper():
                added.type, added.type_name = kind.TYPE_MESSAGE, f".rehearsal.{plain}"
            else:
                added.type = kind.Type.Value(f"TYPE_{plain.upper()}")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    names = (message.name for message in file.message_type)
    return {name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"rehearsal.{name}")) for name in names}


messages: Final = _declare()
"""The message classes by name."""


def decode(value: Any) -> Any:
    """Read a value that Terraform sent; null is None."""
    return msgpack.unpackb(value.msgpack, strict_map_key=False)


def encode(value: Any) -> Any:
    """Write a value for Terraform."""
    return messages["Value"](msgpack=msgpack.packb(value))


def is_unknown(value: object) -> bool:
    """Tell whether Terraform does not know a value yet."""
    return isinstance(value, msgpack.ExtType)

"""Speak Terraform's plugin protocol 6 in the place of `hashicorp/aws`, for the pretend cloud.

Terraform starts it from a file-system mirror (`install`); `TF_DISABLE_PLUGIN_TLS=1` spares both sides certificates.
"""

from __future__ import annotations

import json
import os
import stat
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from concurrent import futures
from pathlib import Path
from typing import Any, Final

import grpc  # type: ignore[import-untyped] # it ships no types

from tests.rehearsal.cloud import Cloud, RefusedError, kind_of
from tests.rehearsal.plugins import platform
from tests.rehearsal.wire import UNKNOWN, decode, encode, is_unknown, messages
from tests.terraform_schema.schema import Argument, Kind, Type, load_schema

ROOT: Final = Path(__file__).parents[2]
_LIST: Final = 2  # the nesting mode of every block
_ALSO_COMPUTED: Final = frozenset({"id", "region", "tags_all"})
"""Arguments that the cloud fills in where a configuration is silent."""
_COMPUTED_TYPES: Final = {"tags_all": b'["map","string"]', "attachment_count": b'"number"'}


def install(folder: Path, version: str) -> dict[str, str]:
    """Write a mirror that holds this provider alone, and return the environment that makes Terraform use it."""
    place = folder / "mirror/registry.terraform.io/hashicorp/aws" / version / platform()
    place.mkdir(parents=True, exist_ok=True)
    binary = place / f"terraform-provider-aws_v{version}"
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    binary.write_text(f'#!/bin/sh\nPYTHONPATH="{path}" exec "{sys.executable}" -m tests.rehearsal.provider\n')
    binary.chmod(binary.stat().st_mode | stat.S_IXUSR)
    settings = folder / "terraform.rc"
    settings.write_text(f'provider_installation {{\n  filesystem_mirror {{ path = "{folder}/mirror" }}\n}}\n')
    return {
        "TF_CLI_CONFIG_FILE": str(settings),
        "TF_DISABLE_PLUGIN_TLS": "1",
        "PRETEND_CLOUD": str(folder / "cloud"),
        "CHECKPOINT_DISABLE": "1",
    }


class Provider:
    """Answer Terraform: plan like the real provider where the order depends on it, and apply to the cloud."""

    def __init__(self, cloud: Cloud) -> None:
        """Answer for one cloud."""
        self._cloud = cloud
        self._schema = load_schema()
        self._default_tags: dict[str, str] = {}

    def schemas(self, _request: object) -> Any:
        named = messages["NamedSchema"]
        resources = [named(key=name, value=_schema(kind)) for name, kind in self._schema.resources.items()]
        provider = messages["Schema"](block=_block(self._schema.provider_arguments))
        return messages["Schemas"](provider=provider, resource_schemas=resources)

    def configure(self, request: Any) -> Any:
        config = decode(request.config)
        allowed = config["allowed_account_ids"]
        if allowed and self._cloud.account_id not in allowed:
            message = f"AWS account ID not allowed: {self._cloud.account_id}"
            raise RefusedError(message)
        for block in config["default_tags"]:
            self._default_tags |= block["tags"]
        return messages["Diagnostics1"]()

    def upgrade(self, request: Any) -> Any:
        return messages["UpgradeResponse"](upgraded_state=encode(json.loads(request.raw_state.json)))

    def read(self, request: Any) -> Any:
        found = self._cloud.read(request.type_name, decode(request.current_state))
        return messages["ReadResponse"](new_state=encode(found))

    def plan(self, request: Any) -> Any:
        prior, planned = decode(request.prior_state), decode(request.proposed_new_state)
        if planned is None:
            return messages["PlanResponse"](planned_state=encode(None))
        if "tags_all" in planned:
            planned["tags_all"] = self._default_tags | (planned["tags"] or {})
        replaced: list[str] = []
        if prior is None:
            computed = self._computed(request.type_name)
            planned |= {name: UNKNOWN for name in computed if planned[name] is None}
        elif planned != prior:
            kind = kind_of(request.type_name)
            replaced = [name for name in (*kind.identity, *kind.fixed) if planned[name] != prior[name]]
            planned |= dict.fromkeys(kind.renewed, UNKNOWN)
        step, path = messages["Step"], messages["Path"]
        paths = [path(steps=[step(attribute_name=name)]) for name in replaced]
        return messages["PlanResponse"](planned_state=encode(planned), requires_replace=paths)

    def apply(self, request: Any) -> Any:
        prior, planned = decode(request.prior_state), decode(request.planned_state)
        if planned is None:
            self._cloud.delete(request.type_name, prior)
            return messages["ApplyResponse"](new_state=encode(None))
        wanted = {name: ... if is_unknown(value) else value for name, value in planned.items()}
        change = self._cloud.create if prior is None else self._cloud.update
        return messages["ApplyResponse"](new_state=encode(change(request.type_name, wanted)))

    def import_(self, request: Any) -> Any:
        found = self._cloud.find(request.type_name, request.id)
        imported = messages["Imported"](type_name=request.type_name, state=encode(found))
        return messages["ImportResponse"](imported_resources=[imported])

    def _computed(self, type_name: str) -> set[str]:
        return _computed(self._schema.resources[type_name])


def _computed(kind: Kind) -> set[str]:
    return {*(kind.attributes - kind.arguments.keys()), *(_ALSO_COMPUTED & kind.attributes)}


def _schema(kind: Kind) -> Any:
    computed = _computed(kind)
    block = _block(kind.arguments, computed)
    for name in sorted(computed - kind.arguments.keys()):
        block.attributes.add(name=name, type=_COMPUTED_TYPES.get(name, b'"string"'), computed=True)
    return messages["Schema"](block=block)


def _block(arguments: Mapping[str, Argument], computed: set[str] | None = None) -> Any:
    block = messages["Block"]()
    for name, argument in arguments.items():
        if argument.block is not None:
            block.block_types.add(type_name=name, block=_block(argument.block), nesting=_LIST)
            continue
        kind = [argument.type, argument.element] if argument.type in (Type.LIST, Type.MAP) else argument.type
        block.attributes.add(
            name=name,
            type=json.dumps(kind).encode(),
            required=argument.required,
            optional=not argument.required,
            computed=name in (computed or ()),
        )
    return block


Answer = Callable[[Any], Any]


def _guarded(answer: Answer, response: str) -> Callable[[Any, Any], Any]:
    def guarded(request: Any, _context: object) -> Any:
        try:
            return answer(request)
        except RefusedError as refusal:
            return messages[response](diagnostics=[messages["Diagnostic"](severity=1, summary=str(refusal))])

    return guarded


def _handlers(methods: Mapping[str, tuple[str, str, Answer]]) -> dict[str, Any]:
    return {
        name: grpc.unary_unary_rpc_method_handler(
            _guarded(answer, response),
            request_deserializer=messages[request].FromString,
            response_serializer=messages[response].SerializeToString,
        )
        for name, (request, response, answer) in methods.items()
    }


def serve(provider: Provider) -> None:
    """Serve one Terraform process on a socket until it says goodbye."""
    over = threading.Event()

    def say_goodbye(_request: object) -> Any:
        over.set()
        return messages["Empty"]()

    methods: dict[str, tuple[str, str, Answer]] = {
        "GetProviderSchema": ("Empty", "Schemas", provider.schemas),
        "ValidateProviderConfig": ("ProviderConfig", "Diagnostics2", lambda _request: messages["Diagnostics2"]()),
        "ValidateResourceConfig": ("Request", "Diagnostics1", lambda _request: messages["Diagnostics1"]()),
        "ConfigureProvider": ("Request", "Diagnostics1", provider.configure),
        "UpgradeResourceState": ("UpgradeRequest", "UpgradeResponse", provider.upgrade),
        "ReadResource": ("ReadRequest", "ReadResponse", provider.read),
        "PlanResourceChange": ("PlanRequest", "PlanResponse", provider.plan),
        "ApplyResourceChange": ("ApplyRequest", "ApplyResponse", provider.apply),
        "ImportResourceState": ("ImportRequest", "ImportResponse", provider.import_),
        "StopProvider": ("Empty", "Empty", lambda _request: messages["Empty"]()),
    }
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=10))
    shutdown = {"Shutdown": ("Empty", "Empty", say_goodbye)}
    server.add_generic_rpc_handlers(
        (
            grpc.method_handlers_generic_handler("tfplugin6.Provider", _handlers(methods)),
            grpc.method_handlers_generic_handler("plugin.GRPCController", _handlers(shutdown)),
        )
    )
    with tempfile.TemporaryDirectory() as folder:
        server.add_insecure_port(f"unix:{folder}/socket")
        server.start()
        print(f"1|6|unix|{folder}/socket|grpc", flush=True)  # noqa: T201 - the handshake is a line on standard output
        over.wait()
        server.stop(grace=1).wait()


if __name__ == "__main__":
    if sys.argv[1:2] == ["install"]:
        for name, value in install(Path(sys.argv[2]).resolve(), load_schema().version).items():
            print(f"export {name}={value}")  # noqa: T201 - for a shell to eval
    else:
        slow = frozenset(os.environ.get("PRETEND_SLOW", "").split(","))
        serve(Provider(Cloud(Path(os.environ["PRETEND_CLOUD"]), os.environ["PRETEND_ACCOUNT_ID"], slow=slow)))

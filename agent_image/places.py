"""Open the places that the settings name: a URL's scheme decides what stands behind it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Final, TypeVar
from urllib.parse import unquote, urlsplit

from agent_image.alerts.channels import channels_at
from agent_image.contract import Regime, Setting
from agent_image.errors import SettingsError
from agent_image.guard.alerts import Channel
from agent_image.guard.audit_place import outlet_at
from agent_image.guard.outlet import MemoryOutlet, Outlet
from agent_image.guard.records import Records
from agent_image.guard.settings import GuardSettings
from agent_image.retrieval.archive import Archive, NoArchive
from agent_image.retrieval.bedrock import BedrockKnowledgeBase, bedrock_clients
from agent_image.retrieval.folder import FolderKnowledgeBase, parse_folder
from agent_image.retrieval.folder_store import FolderPassageStore
from agent_image.retrieval.index_version import CachedIndexVersion, GivenIndexVersion, IndexVersion, last_ingestion
from agent_image.retrieval.knowledge_base import KnowledgeBase
from agent_image.retrieval.s3_store import S3PassageStore, parse_s3_place, s3_clients
from agent_image.retrieval.store import PassageStore
from agent_image.settings import Settings
from agent_image.stores.by_url import records_at as store_at
from agent_image.tools.ledger import Ledger

T = TypeVar("T")


def knowledge_base_at(settings: Settings) -> KnowledgeBase | None:
    """Open the knowledge base; None where the settings name none.

    Raises:
        SettingsError: the URL cannot be understood, or there is nothing of its kind.
    """
    url = settings.knowledge_base
    return None if url is None else _open(Setting.KNOWLEDGE_BASE, url, settings, _KNOWLEDGE_BASES)


def archive_at(settings: Settings) -> Archive | NoArchive:
    """Open the archive where the regime has one.

    Raises:
        SettingsError: the regime is `archive`, and the URL is missing or cannot be understood.
    """
    return Archive(passage_store_at(settings)) if settings.capture is Regime.ARCHIVE else NoArchive()


def passage_store_at(settings: Settings) -> PassageStore:
    """Open the store behind the archive.

    Raises:
        SettingsError: the URL is missing or cannot be understood.
    """
    url = settings.archive
    if url is None:
        raise SettingsError([f"{Setting.ARCHIVE} is missing; {_forms(_ARCHIVES)}"])
    return _open(Setting.ARCHIVE, url, settings, _ARCHIVES)


def ledger_at(settings: Settings) -> Ledger | None:
    """Open the ledger of the sample's tools, or none where the settings name none.

    Raises:
        SettingsError: the URL cannot be understood.
    """
    url = settings.ledger
    return None if url is None else _open(Setting.LEDGER, url, settings, _LEDGERS)


def records_at(settings: Settings) -> Records:
    """Open the store of the guard's records; one that ends with the process where the settings name none.

    Raises:
        SettingsError: the URL cannot be understood.
    """
    bucket = settings.archive if settings.archive is not None and settings.archive.startswith("s3://") else None
    large = None if bucket is None else f"s3://{urlsplit(bucket).netloc}"
    try:
        return store_at(settings.store, settings.region, large=large)
    except ValueError as error:
        raise SettingsError([f"{Setting.STORE}: {fault}" for fault in str(error).splitlines()]) from None


def audit_outlet_at(settings: Settings) -> Outlet:
    """Open the place of the audit; in the process where the settings name none.

    Raises:
        SettingsError: the URL cannot be understood.
    """
    if settings.audit is None:
        return MemoryOutlet()
    try:
        return outlet_at(settings.audit, settings.region)
    except ValueError as error:
        raise SettingsError([f"{Setting.AUDIT} is {error}"]) from None


def alert_channels_at(settings: Settings, guarding: GuardSettings) -> tuple[Channel, ...]:
    """Open the channels that alerts go out through.

    Raises:
        SettingsError: the topic is none.
    """
    try:
        return channels_at(
            settings.environment,
            webhook=guarding.webhook,
            webhook_secret_arn=guarding.webhook_secret_arn,
            topic=settings.alerts,
        )
    except ValueError as error:
        raise SettingsError([f"{Setting.ALERTS} is {error}"]) from None


def _bedrock(url: str, settings: Settings) -> KnowledgeBase:
    knowledge_base_id = url.removeprefix("bedrock://")
    clients = bedrock_clients(_region(settings, url))
    version: IndexVersion = (
        GivenIndexVersion(settings.index_version)
        if settings.index_version is not None
        else CachedIndexVersion(partial(last_ingestion, clients.index_version, knowledge_base_id), time.monotonic)
    )
    return BedrockKnowledgeBase(knowledge_base_id, clients.retrieve, version)


def _folder(url: str, settings: Settings) -> KnowledgeBase:
    return FolderKnowledgeBase(parse_folder(url), index_version=settings.index_version)


def _s3_archive(url: str, settings: Settings) -> PassageStore:
    return S3PassageStore(parse_s3_place(url, settings.store), s3_clients(_region(settings, url)))


def _folder_archive(url: str, settings: Settings) -> PassageStore:
    del settings
    return FolderPassageStore(Path(unquote(url.removeprefix("file:"))))


def _file_ledger(url: str, settings: Settings) -> Ledger:
    del settings
    return Ledger(Path(unquote(url.removeprefix("file:"))))


_KNOWLEDGE_BASES: Final[Mapping[str, Callable[[str, Settings], KnowledgeBase]]] = MappingProxyType(
    {"bedrock": _bedrock, "folder": _folder}
)
_ARCHIVES: Final[Mapping[str, Callable[[str, Settings], PassageStore]]] = MappingProxyType(
    {"s3": _s3_archive, "file": _folder_archive}
)
_LEDGERS: Final[Mapping[str, Callable[[str, Settings], Ledger]]] = MappingProxyType({"file": _file_ledger})


def _open(key: Setting, url: str, settings: Settings, schemes: Mapping[str, Callable[[str, Settings], T]]) -> T:
    scheme, colon, _ = url.partition(":")
    if not colon or scheme not in schemes:
        raise SettingsError([f"{key} is {url!r}; {_forms(schemes)}"])
    try:
        return schemes[scheme](url, settings)
    except ValueError as error:
        raise SettingsError([f"{key}: {fault}" for fault in str(error).splitlines()]) from None


def _forms(schemes: Mapping[str, object]) -> str:
    return f"allowed: a URL that begins with {' or '.join(f'{scheme}:' for scheme in schemes)}"


def _region(settings: Settings, url: str) -> str:
    if settings.region is None:
        message = f"{Setting.REGION} is missing; {url} needs one"
        raise ValueError(message)
    return settings.region

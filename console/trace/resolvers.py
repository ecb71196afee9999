"""Compose what resolves passages, for an agent on this machine and for one that is deployed."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from agent_image.contract import Discovery
from agent_image.retrieval.folder import Folder
from agent_image.retrieval.folder_store import FolderPassageStore
from console.laptop import archive_folder, remembered
from console.progress import Progress, no_progress
from console.trace.archive import Archive, NoArchive, StoredArchive
from console.trace.index_now import IndexNow, NoIndex, of_folder, of_knowledge_base
from console.trace.resolve import Resolver
from console.trace.sources.by_scheme import ByScheme
from console.trace.sources.files import Files, OtherMachine
from console.trace.sources.s3 import S3, s3_client
from console.trace.sources.source import Sources
from console.trace.sources.web import Web
from console.where import Where

if TYPE_CHECKING:
    from console.environment import Environment


def resolver_for(
    where: Where,
    *,
    read_sources: bool = True,
    allow_private: bool = False,
    surroundings: int = 0,
    progress: Progress = no_progress,
) -> Resolver:
    """Compose it.

    Args:
        where: the agent that was reading.
        read_sources: look at documents; False leaves them alone.
        allow_private: also read documents of loopback and private networks.
        surroundings: characters to give before and after a passage.
        progress: what to tell how far it is.

    Raises:
        BadInputError: no environment can have this name.
        ConsoleError: the environment is not found.
    """
    environment = _found(where)
    archive, index = _of_laptop(where) if environment is None else _of_environment(environment)
    sources = _sources(environment, allow_private=allow_private) if read_sources else None
    return Resolver(sources, archive, index, surroundings=surroundings, progress=progress)


def _found(where: Where) -> Environment | None:
    if where.environment is None:
        return None
    # boto3 takes longer to import than a local answer takes.
    from console.environment import find  # noqa: PLC0415

    return find(where.environment)


def _sources(environment: Environment | None, *, allow_private: bool) -> Sources:
    region = None if environment is None else environment.text(Discovery.REGION)
    web = Web(allow_private=allow_private)
    # A trail of this machine names its files; one of AWS that names files means those of another.
    files = Files() if environment is None else OtherMachine()
    return ByScheme({"file": files, "s3": S3(partial(s3_client, region)), "http": web, "https": web})


def _of_laptop(where: Where) -> tuple[Archive, IndexNow]:
    laptop = remembered(where.state)
    index = NoIndex() if laptop is None else of_folder(Folder(laptop.knowledge, laptop.cut))
    folder = archive_folder(where.state)
    # Where the folder is gone, nobody knows what lay in it: that it "never had" a passage would be a claim.
    return StoredArchive(FolderPassageStore(folder)) if folder.exists() else NoArchive(), index


def _of_environment(environment: Environment) -> tuple[Archive, IndexNow]:
    from agent_image.retrieval.s3_store import S3PassageStore, parse_s3_place, s3_clients  # noqa: PLC0415 - as above

    region = environment.text(Discovery.REGION)
    place = parse_s3_place(
        f"s3://{environment.text(Discovery.ARCHIVE)}", f"dynamodb://{environment.text(Discovery.TABLE)}"
    )
    archive = StoredArchive(S3PassageStore(place, s3_clients(region)))
    knowledge_base = environment.document.get(Discovery.KNOWLEDGE_BASE)
    if not isinstance(knowledge_base, str) or not knowledge_base:
        return archive, NoIndex()
    return archive, of_knowledge_base(knowledge_base, partial(_bedrock, region))


def _bedrock(region: str) -> Any:  # noqa: ANN401 - boto3 makes its clients at run time
    from agent_image.retrieval.bedrock import bedrock_clients  # noqa: PLC0415 - as above

    return bedrock_clients(region).index_version

"""Put together what `rastro erase` works with: archive, store, audit and trail of an agent, and who is there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta

from agent_image.contract import CLOUDWATCH, PASSAGE_OBJECT_PREFIX, Discovery, Regime
from agent_image.guard.erasing import ErasingStore
from agent_image.retrieval.folder_store import FolderPassageStore
from agent_image.retrieval.store import PassageStore
from console.audit.writing import new_id, outlet_of, text_of
from console.erase.commands import Counter
from console.erase.erasing import Eraser
from console.erase.events import Events
from console.erase.limits import Trail
from console.identity import approver_at
from console.laptop import archive_folder, remembered, spans_file
from console.moments import now
from console.options import write
from console.place import place_of, records_of
from console.progress import progress_on_terminal
from console.screen import standard
from console.since import since_of
from console.trace.confirming import confirming
from console.trace.trails import trail_at
from console.where import Where


@contextmanager
def counter_at(where: Where, since: str | None, *, yes: bool, as_json: bool) -> Iterator[Counter]:
    """Open it.

    Raises:
        BadInputError: no environment can have this name, or `since` is no time.
        ConsoleError: the agent is not found, or AWS does not say who is there.
    """
    back = since_of(since, now())
    place = place_of(where)
    who = approver_at(place)
    archive, kept = _kept(where)
    with ExitStack() as stack:
        progress = stack.enter_context(progress_on_terminal())
        records = stack.enter_context(records_of(place))
        events = Events(outlet_of(place), text_of(place), new_id)
        yield Counter(
            eraser=Eraser(archive, ErasingStore(records), events, now),
            source=trail_at(where, since=back, confirm=confirming(yes=yes), progress=progress),
            kept=kept,
            who=who,
            new_id=new_id,
            screen=standard(write),
            option=where.option,
            in_aws=place.in_aws,
            as_json=as_json,
        )


def _kept(where: Where) -> tuple[PassageStore, Trail]:
    """Open the archive, and say what is known of the place of the trail."""
    if where.environment is None:
        found = remembered(where.state)
        content = found is not None and found.capture is Regime.CONTENT
        return FolderPassageStore(archive_folder(where.state)), Trail(str(spans_file(where.state)), content)
    # boto3 takes longer to import than a local answer takes.
    from agent_image.retrieval.s3_store import S3PassageStore, S3Place, s3_clients  # noqa: PLC0415
    from console.environment import find  # noqa: PLC0415

    environment = find(where.environment)
    days = environment.document.get(Discovery.RETENTION_DAYS)
    destination = environment.document.get(Discovery.DESTINATION)
    kept = Trail(
        environment.text(Discovery.LOG_GROUP),
        content=environment.document.get(Discovery.CAPTURE) == Regime.CONTENT,
        retention=timedelta(days=days) if isinstance(days, int) else None,
        elsewhere=destination if isinstance(destination, str) and destination != CLOUDWATCH else "",
    )
    archive = S3Place(environment.text(Discovery.ARCHIVE), PASSAGE_OBJECT_PREFIX, environment.text(Discovery.TABLE))
    return S3PassageStore(archive, s3_clients(environment.text(Discovery.REGION))), kept

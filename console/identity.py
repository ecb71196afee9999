"""Tell who somebody is by what cannot be typed in: the operating system's user, or the identity that AWS knows."""

from __future__ import annotations

import os
import pwd
from contextlib import closing

from console.place import Place


def approver_at(place: Place) -> str:
    """Name the person at this command, as the place knows people.

    Raises:
        ConsoleError: AWS does not say.
    """
    return caller(place.region) if place.in_aws else user()


def user() -> str:
    """Name the operating system's user by the process's own id, whatever the environment's variables say."""
    number = os.getuid()
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return f"uid:{number}"


def caller(region: str | None) -> str:
    """Give the ARN of the identity whose credentials are in use.

    Raises:
        ConsoleError: there are none, or they are not valid.
    """
    import boto3  # noqa: PLC0415 - a laptop does without

    from console.aws import told  # noqa: PLC0415 - the same

    with (
        told("asking AWS who you are failed"),
        closing(boto3.Session().client("sts", region_name=region)) as client,
    ):
        arn: str = client.get_caller_identity()["Arn"]
    return arn


def same_person(one: str, other: str) -> bool:
    """Tell whether two names may be one person's: a session of a role ends in the name of who assumed it."""
    return _last(one) == _last(other)


def _last(name: str) -> str:
    return name.rpartition("/")[2].casefold()

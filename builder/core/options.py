"""What a build is told."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What a build is told.

    Attributes:
        base_url: where the output will be published, with a slash at its end; "" if unknown.
        repository: address of the project's repository, "" if none.
        drafts: whether drafts are built.
        reload: address of a script that every page loads, "" if none.
    """

    base_url: str = ""
    repository: str = ""
    drafts: bool = False
    reload: str = ""

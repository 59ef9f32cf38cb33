"""The studies that come with Headway, and how a study is named on the command line."""

from __future__ import annotations

from pathlib import Path

from headway.errors import UserError
from headway.units import nearest

__all__ = ["locate", "shipped", "shipped_folder"]

STUDY_FILE = "study.toml"


def shipped_folder() -> Path | None:
    """The folder of shipped studies: in a checkout beside the package, else inside it."""
    package = Path(__file__).resolve().parents[1]
    checkout = package.parents[1]
    for folder in (checkout / "studies", package / "studies"):
        if folder.is_dir():
            return folder
    return None


def shipped() -> dict[str, Path]:
    """The shipped studies' files by name, in the order of names."""
    folder = shipped_folder()
    if folder is None:
        return {}
    return {file.parent.name: file for file in sorted(folder.glob(f"*/{STUDY_FILE}"))}


def locate(named: str) -> Path:
    """The file of the study that the user named.

    A path to a study file or to its folder comes first; then a shipped study's name,
    with or without "studies/" before it. Raises UserError where there is none.
    """
    path = Path(named)
    if path.is_file():
        return path
    if (path / STUDY_FILE).is_file():
        return path / STUDY_FILE
    known = shipped()
    name = named.rstrip("/").removesuffix(f"/{STUDY_FILE}").removeprefix("studies/")
    if name in known:
        return known[name]
    if path.is_dir():
        raise UserError(f"{named}: the folder has no {STUDY_FILE}")
    if path.suffix == ".toml":
        raise UserError(f"{named}: no such file")
    meant = nearest(name, tuple(known))
    hint = f'did you mean "{meant}"? ' if meant else ""
    raise UserError(
        f"{named}: no such study; {hint}shipped studies: {', '.join(known) or 'none'}; "
        f"or name the path of a {STUDY_FILE}"
    )

"""Options that several verbs share, each with one meaning and one set of refusals."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from ...scenarios.errors import InputError
from ..seeds import LARGEST_SEED, checked_seed

__all__ = ["OptionalSeed", "Plugins", "Seed", "Settings", "folder", "folder_argument", "load_plugins"]


def _seed(text: str | int) -> int:
    try:
        return checked_seed(int(text))
    except (ValueError, InputError):
        from ...scenarios.wording import printable

        given = printable(str(text)[:60])
        raise InputError(f"--seed {given}: must be a whole number from 0 to {LARGEST_SEED}") from None


Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="Override one value by its dotted path. May be repeated."
    ),
]
Seed = Annotated[
    int, typer.Option("--seed", metavar="N", help="Root seed of every random draw.", parser=_seed)
]
OptionalSeed = Annotated[
    int | None,
    typer.Option("--seed", metavar="N", help="Root seed of every random draw [1].", parser=_seed),
]
Plugins = Annotated[
    list[Path] | None,
    typer.Option("--plugin", metavar="FILE", help="Python file with mechanisms or rules of your own."),
]


def folder(option: str, help: str) -> Any:  # noqa: A002  # as typer calls it
    """An option that names a directory; an empty name, which would mean the current one, is refused."""
    return typer.Option(option, metavar="DIR", help=help, parser=_named(option, in_utf_8=True))


def folder_argument(metavar: str, help: str) -> Any:  # noqa: A002
    """Like `folder`, for an argument."""
    return typer.Argument(metavar=metavar, help=help, show_default=False, parser=_named(metavar))


def _named(option: str, *, in_utf_8: bool = False) -> Any:
    def parse(text: str) -> Path:
        from ...scenarios.wording import is_utf_8, printable

        if in_utf_8 and not is_utf_8(str(text)):
            raise InputError(
                f"{option} '{printable(str(text))}': must be a name in UTF-8, as manifests tell it"
            )
        if not str(text).strip():
            raise InputError(f"{option} '{text}': must name a directory; the current one is .")
        return Path(text)

    return parse


def load_plugins(plugins: Sequence[Path] | None) -> None:
    """Let what the user's files define join the registries, before any name is looked up.

    Raises
    ------
    InputError
        A file cannot be loaded.
    """
    if plugins:
        from ..registries import load_plugins as load

        load(plugins)

"""A finished figure, and how it is saved: PDF, SVG, PNG, its data and its caption, the same bytes each time."""

import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from .style import house_style

__all__ = ["Drawing", "save_figure", "write_atomically"]

_PNG_DPI = 300


@dataclass(frozen=True)
class Drawing:
    """A finished figure with what must go with it.

    Attributes
    ----------
    figure
        Made by `figure`.
    stem
        Name of its files without their ending.
    data
        What is drawn, tidy.
    caption
        Plain sentences.
    """

    figure: Figure
    stem: str
    data: pd.DataFrame
    caption: str

    def save(self, directory: str | Path, provenance: Mapping[str, Any]) -> list[Path]:
        """Write its five files (`save_figure`)."""
        return save_figure(self.figure, directory, self.stem, self.data, self.caption, provenance)


def save_figure(
    fig: Figure,
    directory: str | Path,
    stem: str,
    data: pd.DataFrame,
    caption: str,
    provenance: Mapping[str, Any],
) -> list[Path]:
    """Write a figure as PDF, SVG and PNG with its data (CSV) and its caption (text).

    Parameters
    ----------
    fig
        Made by `figure`.
    directory, stem
        Where, and the name without its ending. The directory is made if need be.
    data
        What is drawn, tidy. Floats are written with 10 significant digits; undefined values as empty fields.
    caption
        Plain sentences. Goes to `stem.txt` (with the provenance under it) and into every image.
    provenance
        Scenario, seed, hashes, command …: anything that JSON takes. It goes into the metadata of every image,
        so it should hold no date and no path if the files are to be the same bytes on every machine.

    Returns
    -------
    list of Path
        The five files: pdf, svg, png, csv, txt. Each is written aside, synced and renamed.
    """
    folder = Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    record = json.dumps(dict(provenance), sort_keys=True, default=str, ensure_ascii=True)
    contents = {
        "pdf": _render(
            fig,
            "pdf",
            {
                "Title": stem,
                "Subject": caption,
                "Keywords": record,
                "Creator": "deniability",
                "CreationDate": None,
            },
        ),
        "svg": _render(
            fig,
            "svg",
            {
                "Title": stem,
                "Description": caption,
                "Source": record,
                "Creator": "deniability",
                "Date": None,
            },
        ),
        "png": _render(
            fig,
            "png",
            {"Title": stem, "Description": caption, "Provenance": record, "Software": "deniability"},
        ),
        "csv": data.to_csv(index=False, float_format="%.10g", lineterminator="\n").encode(),
        "txt": f"{caption.strip()}\n\nProvenance: {record}\n".encode(),
    }
    paths = [folder / f"{stem}.{ending}" for ending in contents]
    for path, content in zip(paths, contents.values(), strict=True):
        write_atomically(path, content)
    return paths


def _render(fig: Figure, kind: str, metadata: dict[str, Any]) -> bytes:
    buffer = BytesIO()
    with house_style():
        fig.savefig(buffer, format=kind, metadata=metadata, dpi=_PNG_DPI)
    return buffer.getvalue()


def write_atomically(path: Path, content: bytes) -> None:
    """Replace `path` by `content` so that a reader, or a crash, never sees half a file."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    aside = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        mask = os.umask(0)
        os.umask(mask)
        aside.chmod(0o666 & ~mask)  # mkstemp makes files that only their owner can read
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)

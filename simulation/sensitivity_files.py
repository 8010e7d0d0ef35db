"""The files of a sensitivity study: indices, points with their metrics, a figure, the manifest; runs in `runs/`."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from ..analysis.results import Results
from ..analysis.study_figures import indices_figure
from ..scenarios import InputError, ResolvedScenario, content_hash
from .batch_directory import read_manifest
from .manifest import manifest
from .provenance import code_hash
from .sensitivity import SensitivityResult
from .store import MANIFEST, check_place, staged, write_json, write_table

__all__ = ["check_study", "write_sensitivity"]


def check_study(directory: Path, *, force: bool) -> None:
    """Refuse a directory of other content; whether the runs in it fit is the batch's own business.

    Raises
    ------
    InputError
        If it is refused.
    """
    check_place(directory)
    if force or not directory.exists():
        return
    there = {file.name for file in directory.iterdir()}
    if there - {"runs"} and read_manifest(directory).get("kind") != "sensitivity":
        raise InputError(
            f"--out {directory}: the directory holds something else than a sensitivity study; give another --out, or "
            "--force to write into it all the same"
        )


def write_sensitivity(
    result: SensitivityResult,
    directory: Path,
    scenario: ResolvedScenario,
    *,
    seed: int,
    command: Sequence[str],
    started: datetime,
) -> None:
    """Write tables/indices.csv, points.parquet, the figure and the manifest into `directory`.

    Raises
    ------
    InputError
        If it cannot be written.
    """
    about = manifest(
        "sensitivity",
        f"{result.batch.plan.identity}-{result.design.method}",
        scenario,
        seed=seed,
        command=command,
        started=started,
        method=result.design.method,
        parameters=list(result.design.parameters),
        samples=len(result.design.values),
        replicates=result.batch.replicates,
    )
    provenance = {
        "scenario": scenario.config.scenario.name,
        "content_hash": content_hash(scenario.config),
        "code_hash": code_hash(),
        "seed": seed,
    }
    drawing = indices_figure(
        Results("sensitivity", directory.name, about, {}, summaries={"indices": result.indices})
    )
    with staged(directory) as aside:
        (aside / "tables").mkdir()
        text = result.indices.to_csv(index=False, float_format="%.10g", lineterminator="\n")
        (aside / "tables" / "indices.csv").write_text(text, encoding="utf-8")
        write_table(result.points, aside / "points.parquet")
        if drawing is not None:
            drawing.save(aside / "figures", provenance)
        write_json(about, aside / MANIFEST)

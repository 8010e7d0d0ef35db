"""The verb `plan`: what a guarantee costs, exactly, before anything is simulated."""

import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .options import folder

if TYPE_CHECKING:
    from ..plans import Plan

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the verb to the application."""
    app.command("plan")(plan)


def plan(
    # text, so that all that is wrong with the numbers is said at once
    targets: Annotated[str, typer.Option(metavar="C", help="Audit targets: the granularity.")],
    horizon: Annotated[str, typer.Option(metavar="T", help="Audit decisions the guarantee covers.")],
    delta: Annotated[str, typer.Option(metavar="D", help="Per-report deniability level, 0 < D < 1.")],
    run_length: Annotated[
        str | None,
        typer.Option(metavar="L", help="Periods since the counters' last restart [the horizon]."),
    ] = None,
    out: Annotated[Path | None, folder("--out", "Write tables and a figure here.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Write into a directory of other content.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No account.")] = False,
) -> None:
    """Say what a guarantee means and what it costs under each mechanism."""
    from ..plans import parse_plan

    started = datetime.now(UTC)
    made = parse_plan(targets, horizon, delta, run_length)
    if out is not None:
        _write(made, out, force=force, started=started)
    if as_json:
        typer.echo(json.dumps(made.summary(), allow_nan=False))
    elif not quiet:
        from rich.console import Console

        from ..plan_account import plan_account

        Console().print(plan_account(made))


def _write(made: "Plan", directory: Path, *, force: bool, started: datetime) -> None:
    from ...analysis.drawing import save_figure
    from ...analysis.plan_figures import plan_figure
    from ..plan_crossings import longest_run_for_the_counter
    from ..plan_tables import crossing_table, group_table, lead_table, misselection_table
    from ..provenance import code_hash, versions
    from ..store import MANIFEST, check_directory, staged, write_json

    choice = {
        "n_targets": made.n_targets,
        "horizon": made.horizon,
        "delta": made.delta,
        "run_length": made.run_length,
    }
    identity = json.dumps(choice, sort_keys=True)
    check_directory(directory, kind="plan", identity=identity, force=force)
    misselection, compared, group = misselection_table(made), crossing_table(made), group_table(made)
    leads = lead_table(made, compared)
    figure, drawn = plan_figure(misselection, leads, group)
    longest = longest_run_for_the_counter(made, whole_programme=True)
    never = [key for key in ("uniform", "rr") if made.gap_for_90[key] is None]
    caption = (
        f"What deniability costs: {made.n_targets:,} targets, {made.horizon:,} decisions, "
        f"delta = {made.delta:g}; exact values. a: chance of auditing another target than the leader, counters at "
        f"run length {made.run_length:,}; shaded: below the least error of any rule with this guarantee that treats "
        "targets alike. b: smallest lead at which the leader is audited with 90 %, by the time since the last "
        "restart; filled: in a programme of this horizon, open circles: TCA in a programme that is as long as "
        f"the run, where it needs no larger lead than the exponential mechanism up to {longest:,} decisions"
        + (f"; no lead is enough for {' and '.join(never)}" if never else "")
        + ". c: total variation between the transcripts with and without the reports, at most; TCA with any "
        "counter, but for reports about one target that are apart in time, which is the Toeplitz counter's; the "
        "broken line holds for every rule."
    )
    with staged(directory) as folder:
        save_figure(figure, folder / "figures", "plan", drawn, caption, choice | {"code_hash": code_hash()})
        tables = {
            "misselection": misselection,
            "leads": leads,
            "crossings": compared,
            "group": group,
        }
        (folder / "tables").mkdir()
        for name, table in tables.items():
            table.to_csv(
                folder / "tables" / f"{name}.csv", index=False, float_format="%.12g", lineterminator="\n"
            )
        write_json(made.summary(), folder / "plan.json")
        manifest = {
            "kind": "plan",
            "identity": identity,
            "plan": choice,
            "code_hash": code_hash(),
            "versions": versions(),
            "command": sys.argv,
            "started": started.isoformat(),
            "ended": datetime.now(UTC).isoformat(),
        }
        write_json(manifest, folder / MANIFEST)

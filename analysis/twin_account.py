"""The readable account of a twin study: what reporting does to the person who reports."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from .style import channel_label, mechanism_label

__all__ = ["twin_account"]


def twin_account(summary: Mapping[str, Any], directory: Path | None = None) -> RenderableType:
    """Tell the result of a twin study.

    Parameters
    ----------
    summary
        As printed with `--json`: scenario, mechanism, delta, bound, channels, total, total_channels.
    directory
        Where the files are, if any were written.
    """
    certified = summary["channels"]["transcript"]
    table = Table(box=None, pad_edge=False)
    table.add_column("Effect of reporting on being retaliated against")
    for name in ("Difference", "95 % interval", "Pairs"):
        table.add_column(name, justify="right")
    table.add_row("Certified, through the transcript", *_numbers(certified), style="bold")
    table.add_row("Total, all channels", *_numbers(summary["total"]))
    for channel, effect in summary["total_channels"].items():
        table.add_row(f"  {channel_label(channel)}", *_numbers(effect))
    parts: list[RenderableType] = [
        Text(
            f"{summary['scenario']}, {mechanism_label(summary['mechanism'])}, delta = {summary['delta']:g}",
            "bold",
        ),
        Text(_verdict(certified, summary["bound"]) + "\n"),
        table,
        Text(
            "\nThe certified effect is held to the conditions under which the guarantee bounds its mean. The total "
            "effect lets everything run freely, own learning, leaks and findings included; no bound is claimed for "
            "it. Compare intervals, not single pairs."
        ),
    ]
    if directory is not None:
        parts.append(Text(f"\nWritten to {directory}"))
    return Group(*parts)


def _numbers(effect: Mapping[str, Any]) -> tuple[str, str, str]:
    if effect["effect"] is None:
        return "–", "–", "0"
    return (
        f"{effect['effect']:+.3f}",
        f"{effect['low']:+.3f} to {effect['high']:+.3f}",
        f"{effect['pairs']:d}",
    )


def _verdict(effect: Mapping[str, Any], bound: float) -> str:
    if effect["effect"] is None:
        return "In no pair did anybody file a report in time: there is nothing to compare."
    if bound >= 1.0:
        return "This mechanism gives no guarantee, so nothing bounds the effect."
    if effect["low"] > bound:
        return f"The interval lies above the bound of {bound:g}: either chance, or a fault. Run more pairs."
    within = "lies within" if effect["high"] <= bound else "reaches beyond"
    return f"The guarantee bounds the certified effect by {bound:g}; the interval {within} it."

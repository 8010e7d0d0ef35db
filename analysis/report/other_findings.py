"""Findings of studies that are no batch: twin runs, leakage, sensitivity."""

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from ..estimates import records
from ..findings import Finding, batch_findings
from ..results import Results
from ..style import channel_label, mechanism_label
from ..wording import interval_text, key_label, number_text, wording

__all__ = ["findings_of"]

_TOLD = 5
"""Parameters of an order that are told."""


def findings_of(results: Results) -> list[Finding]:
    """Say what a directory of results shows, whatever it is."""
    found = [*batch_findings(results)] if results.kind != "sensitivity" else []
    if "effects" in results.summaries:
        found += _twins(results.summaries["effects"])
    if "indices" in results.summaries:
        found += _sensitivity(results.summaries["indices"], results.manifest)
    game = results.manifest.get("leakage_result")
    if isinstance(game, Mapping):
        found += _leakage(game)
    return found


def _twins(effects: pd.DataFrame) -> Iterator[Finding]:
    topic = "What reporting does to the person who reports"
    for row in records(effects):
        if pd.isna(row["effect"]) or not (row["kind"] == "total" or row["channel"] == "transcript"):
            continue
        told = (
            f"{100 * row['effect']:+.1f} points (95 % interval {100 * row['low']:+.1f} to {100 * row['high']:+.1f}; "
            f"{row['pairs']} pairs)"
        ).replace("-", "−")
        apart = row["low"] > 0 or row["high"] < 0
        if row["kind"] == "certified":
            bound = float(row["bound"])
            text = f"Certified effect through the transcript: {told}"
            if bound >= 1:
                text += "; this mechanism gives no guarantee, so nothing bounds it."
            elif row["low"] > bound:
                text += f"; the whole interval lies above the bound of {100 * bound:g} points: chance, or a fault."
            else:
                place = "lies within" if row["high"] <= bound and row["low"] >= -bound else "reaches beyond"
                text += f"; the guarantee bounds its mean by {100 * bound:g} points, and the interval {place} that."
            yield Finding(topic, text, (row,))
        elif apart:
            what = "all channels" if row["channel"] == "any" else channel_label(str(row["channel"])).lower()
            more = "raises" if row["effect"] > 0 else "lowers"
            yield Finding(
                topic, f"Reporting {more} the chance of being retaliated against, {what}: {told}.", (row,)
            )
    if not effects["effect"].notna().any():
        yield Finding(topic, "In no pair did anybody file a report in time: there is nothing to compare.")


def _leakage(game: Mapping[str, Any]) -> Iterator[Finding]:
    value, low, high, bound = (game.get(k) for k in ("advantage", "low", "high", "bound"))
    if value is None or low is None or high is None:
        return
    text = (
        f"Against {mechanism_label(str(game.get('mechanism', '')))}, an adversary who knows every other report and "
        f"sees the transcript has an advantage of {value:.3f} (95 % interval {low:.3f} to {high:.3f}; "
        f"{game.get('transcripts', 0):,} transcripts in each world)"
    )
    if bound is not None and bound < 1:
        verdict = "the whole interval lies above it" if low > bound else "the interval does not contradict it"
        text += f". The guarantee allows at most {bound:g}; {verdict}"
    yield Finding("What a transcript betrays", text + ".")


def _sensitivity(indices: pd.DataFrame, manifest: Mapping[str, Any]) -> Iterator[Finding]:
    needed = {"metric", "parameter", "index", "value", "low", "high"}
    if not needed <= set(indices.columns):
        return
    yield from _setting(manifest)
    blocks, least, name_of_block = _blocks(manifest)
    if blocks is not None and blocks < least:
        yield Finding(
            "What moves",
            f"{blocks} {name_of_block} are too few to tell parameters apart: nothing is said of them with fewer than "
            f"{least}. The table and the figure show what there is.",
        )
        return
    for (metric, index), rows in indices[indices["index"].isin(["ST", "mu_star"])].groupby(
        ["metric", "index"]
    ):
        name = wording(str(metric)).name.lower()
        ranked = rows.dropna(subset="value").sort_values("value", ascending=False, kind="stable")
        for row in records(ranked.head(_TOLD)):
            yield Finding(f"What moves: {name}", _moves(row, total=index == "ST"), (row,))
        if len(ranked):
            left = f" {len(ranked) - _TOLD} more are in the table." if len(ranked) > _TOLD else ""
            yield Finding(
                f"What moves: {name}",
                "This is an order and not a test: an index of this kind is above zero also for a parameter that only "
                f"shuffles luck.{left}",
            )


def _moves(row: Mapping[str, Any], *, total: bool) -> str:
    key = str(row["metric"])
    if total:
        told = f"total-order index {row['value']:.3g} (95 % interval {row['low']:.3g} to {row['high']:.3g})"
    else:
        value = number_text(key, row["value"], points=wording(key).is_share)
        if not wording(key).is_share:
            value += f" {wording(key).unit}"
        bounds = interval_text(key, row["low"], row["high"])
        told = f"mean absolute effect over its range {value} (95 % interval {bounds})"
    return f"{key_label(str(row['parameter'])).split(' (')[0]}: {told}."


def _setting(manifest: Mapping[str, Any]) -> Iterator[Finding]:
    """At which mechanism and delta the parameters were moved: a design takes no account of a sweep."""
    auditor = manifest.get("resolved_scenario", {}).get("auditor", {})
    if "mechanism" in auditor and "delta" in auditor:
        yield Finding(
            "Where",
            f"All of it is measured under {mechanism_label(str(auditor['mechanism']))} audits at δ = "
            f"{auditor['delta']:g}; everything else but the parameters named stands as in the scenario.",
        )


def _blocks(manifest: Mapping[str, Any]) -> tuple[int | None, int, str]:
    """Size of a design, the least that its intervals need, and what it is counted in.

    The interval of Morris's μ* is 1.96 bootstrap standard errors over trajectories: at ten it is a sixth shorter than
    Student's, below that worse. Saltelli's designs are counted in base samples, of which a few dozen are the least in
    use.
    """
    points, parameters = manifest.get("samples"), manifest.get("parameters")
    sobol = manifest.get("method") == "sobol"
    if not isinstance(points, int) or not parameters:
        return None, 0, ""
    return (
        (points // (len(parameters) + 2), 32, "base samples")
        if sobol
        else (points // (len(parameters) + 1), 10, "trajectories")
    )

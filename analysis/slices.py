"""Which part of a sweep a figure or a sentence is about: one key varies, the others stand at their reference.

The reference of a key is the scenario's own value where the sweep has it, else the middle one of the sweep's. A key
with many values (a sample, not a grid) has no reference: its cells are pooled.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from .estimates import lendable, seed_column
from .results import DELTA, MECHANISM, Results, swept_keys, value_at
from .style import MECHANISM_STYLE
from .wording import key_label, level_text

__all__ = ["IGNORES_DELTA", "Slice", "mechanism_order", "numeric_keys", "reference_slice", "varying_keys"]

IGNORES_DELTA = ("greedy", "uniform")
"""Mechanisms that do the same at every delta."""

_MOST_LEVELS = 12


@dataclass(frozen=True)
class Slice:
    """Part of a sweep.

    Attributes
    ----------
    runs
        Its runs.
    at
        Values at which other keys are held.
    pooled
        Keys over which cells are pooled.
    lent
        Design effects over the whole sweep, for `estimates`; None where cells are pooled, since a design effect
        grows with the outcomes that one seed has.
    """

    runs: pd.DataFrame
    at: Mapping[str, Any]
    pooled: tuple[str, ...]
    lent: Mapping[str, float] | None

    @property
    def n_runs(self) -> int:
        """Independent runs: distinct seeds."""
        return int(self.runs[seed_column(self.runs)].nunique()) if len(self.runs) else 0

    def told(self) -> str:
        """Say where it stands, for a caption: "δ (per report) = 0.1"; empty if nothing is held or pooled."""
        parts = [f"{key_label(key)} = {level_text(value)}" for key, value in self.at.items()]
        parts += [f"pooled over {key_label(key)}" for key in self.pooled]
        return ", ".join(parts)


def varying_keys(runs: pd.DataFrame) -> list[str]:
    """Swept keys with more than one value."""
    return [key for key in swept_keys(runs) if runs[key].nunique(dropna=False) > 1]


def numeric_keys(runs: pd.DataFrame) -> list[str]:
    """Varying keys whose values are numbers."""
    return [
        key
        for key in varying_keys(runs)
        if pd.api.types.is_numeric_dtype(runs[key]) and not pd.api.types.is_bool_dtype(runs[key])
    ]


def reference_slice(results: Results, vary: Collection[str] = (MECHANISM,)) -> Slice:
    """Hold every swept key but those of `vary` at its reference."""
    runs = results.runs
    at: dict[str, Any] = {}
    pooled = []
    varied = varying_keys(runs) if len(runs) else []
    # delta last, so that a grid thinned by the other keys still decides
    for key in sorted(varied, key=lambda name: name == DELTA):
        if key in vary:
            continue
        levels = np.sort(runs[key].unique()) if key in numeric_keys(runs) else runs[key].unique()
        if len(levels) > _MOST_LEVELS:
            pooled.append(key)
            continue
        base = value_at(results.scenario, key) if results.scenario else None
        chosen = base if base in list(levels) else levels[(len(levels) - 1) // 2]
        if isinstance(chosen, np.generic):
            chosen = chosen.item()
        at[key] = chosen
        runs = runs[runs[key] == chosen]
    for key in swept_keys(runs):
        # a delta that no cell varies still stands behind every number
        if key not in at and key not in vary and key not in pooled and len(runs) and key == DELTA:
            at[key] = runs[key].iloc[0]
    lent = lendable(results.runs) if len(runs) and not pooled else None
    return Slice(runs.reset_index(drop=True), at, tuple(pooled), lent)


def mechanism_order(names: Collection[Any]) -> list[str]:
    """Mechanisms in the order in which they are always shown; those that others plugged in come last."""
    known = [name for name in MECHANISM_STYLE if name in names]
    return known + sorted(str(name) for name in names if name not in MECHANISM_STYLE)

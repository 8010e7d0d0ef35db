"""What the verb `leakage` draws, writes and says."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..agents.auditor.mechanisms import CounterMechanism
from ..agents.auditor.privacy import (
    epsilon_for_delta,
    exponential_trade_off,
    gaussian_trade_off,
    mu_for_delta,
)
from ..agents.ports import IntArray
from ..analysis.leakage_figures import LeakageCurves, leakage_figure
from .leakage import Leakage
from .provenance import code_hash, versions
from .store import MANIFEST, staged, write_json, write_table

__all__ = ["leakage_account", "leakage_curves", "write_leakage"]


def leakage_curves(result: Leakage, n_targets: int, horizon: int) -> LeakageCurves:
    """Gather what the figure shows."""
    mechanism = result.mechanism
    net = np.linspace(0.0, 1.0, 201)
    trade_off, cap = None, None
    if isinstance(mechanism, CounterMechanism):
        trade_off = gaussian_trade_off(net, np.asarray(mu_for_delta(mechanism.delta)))
    elif mechanism.id == "exponential":
        epsilon = epsilon_for_delta(mechanism.delta)
        trade_off, cap = exponential_trade_off(net, np.asarray(epsilon)), float(np.exp(epsilon))
    return LeakageCurves(
        mechanism=mechanism.label,
        setting=(
            f"{n_targets:,} targets, {horizon:,} periods, delta = {mechanism.delta:g}, report in period "
            f"{result.period + 1:,} about target {result.target}"
        ),
        without=result.without,
        with_report=result.with_report,
        point=(result.false_positive_rate, result.true_positive_rate),
        advantage=result.advantage,
        bound=result.bound,
        trade_off=None if trade_off is None else pd.DataFrame({"fpr": net, "tpr": trade_off}),
        cap=cap,
    )


def write_leakage(
    result: Leakage,
    stream: IntArray,
    directory: Path,
    *,
    choice: Mapping[str, Any],
    identity: str,
    command: Sequence[str],
    started: datetime,
) -> None:
    """Write a study: manifest, `leakage.json`, scores, the stream, the figure with its data.

    Raises
    ------
    InputError
        If it cannot be written.
    """
    horizon, n_targets = stream.shape
    scores = pd.DataFrame(
        {
            "filed": np.repeat([False, True], [result.without.size, result.with_report.size]),
            "log_likelihood_ratio": np.concatenate([result.without, result.with_report]),
        }
    )
    with staged(directory) as aside:
        leakage_figure(leakage_curves(result, n_targets, horizon)).save(
            aside / "figures", dict(choice) | {"code_hash": code_hash()}
        )
        write_table(scores, aside / "scores.parquet")
        (aside / "tables").mkdir()
        pd.DataFrame(stream).to_csv(
            aside / "tables" / "stream.csv", index=False, header=False, lineterminator="\n"
        )
        write_json(result.summary(), aside / "leakage.json")
        manifest = {
            "kind": "leakage",
            "identity": identity,
            "leakage": dict(choice),
            "code_hash": code_hash(),
            "versions": versions(),
            "command": list(command),
            "started": started.isoformat(timespec="seconds"),
            "ended": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        write_json(manifest, aside / MANIFEST)


def leakage_account(result: Leakage, n_targets: int, horizon: int, directory: Path | None) -> str:
    """Say the outcome in plain sentences."""
    value, low, high = result.advantage
    mean, error = result.mean_likelihood_ratio
    if result.bound <= 0.0:
        verdict = "It allows no advantage at all."
    elif result.bound >= 1.0:
        verdict = "It promises nothing."
    elif low > result.bound:
        verdict = f"The interval lies above delta = {result.bound:g}: the guarantee is broken."
    else:
        verdict = (
            f"Its guarantee allows at most {result.bound:g}; measured is {value / result.bound:.0%} of that."
        )
    lines = [
        f"One report about target {result.target}, first counted in period {result.period + 1:,} of {horizon:,}; "
        f"{n_targets:,} targets; {result.without.size:,} transcripts in each world.",
        f"The adversary who knows every other report has the advantage {value:.4f} (95 % interval {low:.4f} to "
        f"{high:.4f}): true-positive rate {result.true_positive_rate:.4f}, false-positive rate "
        f"{result.false_positive_rate:.4f}, saying filed where the likelihood ratio exceeds 1.",
        f"{result.mechanism.label}: {verdict}",
        f"Check: the mean likelihood ratio without the report is {mean:.4f} (standard error {error:.4f}; "
        f"{result.method}).",
    ]
    if directory is not None:
        lines.append(f"Written to {directory}.")
    return "\n".join(lines)

"""Sensitivity indices from a table: which parameter moves a metric, alone and with the others.

>>> shares = sobol_design(2, 64)
>>> shares.shape
(256, 2)
>>> found = sobol_indices(["a", "b"], 2 * shares[:, 0] + shares[:, 1])
>>> [round(float(v), 1) for v in found.query("index == 'S1'")["value"]]
[0.8, 0.2]
"""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

__all__ = ["morris_design", "morris_indices", "sobol_design", "sobol_indices"]

type _Floats = npt.NDArray[np.float64]

_LEVELS = 4
"""Levels of a Morris design: shares 0, 1/3, 2/3 and 1 of each range; a step is 2/3 of it."""
_RESAMPLES = 1000


def morris_design(n_parameters: int, trajectories: int, seed: int = 1) -> _Floats:
    """Points of Morris's screening, as shares of each range: (trajectories × (parameters + 1), parameters).

    References
    ----------
    Morris (1991), Technometrics 33, 161-174; Campolongo, Cariboni & Saltelli (2007), Environmental Modelling &
    Software 22, 1509-1518.
    """
    from SALib.sample import morris

    result: _Floats = morris.sample(
        _problem(_names(n_parameters)), trajectories, num_levels=_LEVELS, seed=seed
    )
    return result


def sobol_design(n_parameters: int, samples: int, seed: int = 1) -> _Floats:
    """Points for Sobol indices, as shares of each range: (samples × (parameters + 2), parameters).

    `samples` is a power of 2.

    References
    ----------
    Saltelli et al. (2010), Computer Physics Communications 181, 259-270.
    """
    from SALib.sample import sobol

    result: _Floats = sobol.sample(
        _problem(_names(n_parameters)), samples, calc_second_order=False, seed=seed
    )
    return result


def morris_indices(parameters: Sequence[str], shares: _Floats, values: npt.ArrayLike) -> pd.DataFrame:
    """Estimate Morris's μ* and σ.

    Parameters
    ----------
    parameters
        Names, in the order of the columns of the design.
    shares
        The design of `morris_design`.
    values
        The metric at each of its points.

    Returns
    -------
    DataFrame
        parameter, index ("mu_star", "sigma"), value, low, high: the change of the metric over a whole range; 95 %
        intervals by bootstrap over trajectories, none for σ.
    """
    from SALib.analyze import morris

    y = _metric(values, len(shares))
    found = _quietly(
        morris.analyze, _problem(parameters), shares, y, num_levels=_LEVELS, num_resamples=_RESAMPLES, seed=1
    )
    star, reach = np.asarray(found["mu_star"], float), np.asarray(found["mu_star_conf"], float)
    none = np.full(len(star), np.nan)
    return pd.concat(
        [
            _table(parameters, "mu_star", star, np.maximum(star - reach, 0.0), star + reach),
            _table(parameters, "sigma", np.asarray(found["sigma"], float), none, none),
        ],
        ignore_index=True,
    )


def sobol_indices(parameters: Sequence[str], values: npt.ArrayLike) -> pd.DataFrame:
    """Estimate first-order and total-order Sobol indices.

    Parameters
    ----------
    parameters
        Names, in the order of the columns of the design.
    values
        The metric at each point of `sobol_design`.

    Returns
    -------
    DataFrame
        parameter, index ("ST", "S1"), value, low, high: shares of the variance; 95 % intervals by bootstrap.
        Undefined where the metric does not vary.
    """
    from SALib.analyze import sobol

    y = _metric(values, None)
    if np.ptp(y) == 0.0:
        none = np.full(len(parameters), np.nan)
        return pd.concat([_table(parameters, k, none, none, none) for k in ("ST", "S1")], ignore_index=True)
    found = _quietly(
        sobol.analyze, _problem(parameters), y, calc_second_order=False, num_resamples=_RESAMPLES, seed=1
    )
    tables = []
    for kind in ("ST", "S1"):
        value, reach = np.asarray(found[kind], float), np.asarray(found[f"{kind}_conf"], float)
        tables.append(_table(parameters, kind, value, value - reach, value + reach))
    return pd.concat(tables, ignore_index=True)


def _table(
    parameters: Sequence[str], index: str, value: _Floats, low: _Floats, high: _Floats
) -> pd.DataFrame:
    return pd.DataFrame(
        {"parameter": list(parameters), "index": index, "value": value, "low": low, "high": high}
    )


def _metric(values: npt.ArrayLike, n_points: int | None) -> _Floats:
    y = np.asarray(values, dtype=np.float64)
    if not np.isfinite(y).all() or (n_points is not None and len(y) != n_points):
        raise ValueError("the metric must be defined at every point of the design")
    return y


def _problem(parameters: Sequence[str]) -> dict[str, Any]:
    return {
        "num_vars": len(parameters),
        "names": list(parameters),
        "bounds": [[0.0, 1.0]] * len(parameters),
    }


def _names(n: int) -> list[str]:
    return [str(i) for i in range(n)]


def _quietly(analyze: Any, *args: Any, **options: Any) -> Any:
    """Call SALib without its table on the terminal and its warnings about pandas to come."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return analyze(*args, print_to_console=False, **options)

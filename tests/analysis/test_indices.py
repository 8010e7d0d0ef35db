"""Sensitivity indices against functions whose indices are known in closed form."""

import numpy as np
import pytest

from deniability.analysis.indices import morris_design, morris_indices, sobol_design, sobol_indices

ISHIGAMI = {"ST": (0.5576, 0.4424, 0.2437), "S1": (0.3139, 0.4424, 0.0)}
"""For a = 7, b = 0.1: Saltelli et al. (2000), Sensitivity Analysis, Wiley, p. 179 onwards."""


def ishigami(shares):
    x = np.pi * (2 * shares - 1)
    return np.sin(x[:, 0]) + 7 * np.sin(x[:, 1]) ** 2 + 0.1 * x[:, 2] ** 4 * np.sin(x[:, 0])


def test_sobol_indices_of_the_ishigami_function():
    design = sobol_design(3, 1024)
    found = sobol_indices("abc", ishigami(design))
    for kind, exact in ISHIGAMI.items():
        rows = found[found["index"] == kind]
        # an error of 0.05 is about three standard errors at 1024 base samples
        assert rows["value"].to_numpy() == pytest.approx(exact, abs=0.05)
        assert ((rows["low"] - 0.02 <= np.array(exact)) & (np.array(exact) <= rows["high"] + 0.02)).all()


def test_a_sum_has_no_interactions():
    design = sobol_design(3, 256)
    found = sobol_indices("abc", design @ [3.0, 4.0, 0.0])
    assert found["value"].to_numpy() == pytest.approx([0.36, 0.64, 0, 0.36, 0.64, 0], abs=0.02)


def test_morris_of_a_plane_is_exact():
    design = morris_design(3, 6)
    found = morris_indices("abc", design, 5 + design @ [2.0, -3.0, 0.0])
    assert found.query("index == 'mu_star'")["value"].to_numpy() == pytest.approx([2, 3, 0], abs=1e-12)
    assert found.query("index == 'sigma'")["value"].to_numpy() == pytest.approx(0, abs=1e-12)


def test_morris_spread_shows_an_interaction():
    design = morris_design(3, 20)
    found = morris_indices("abc", design, design[:, 0] * design[:, 1]).set_index(["index", "parameter"])[
        "value"
    ]
    assert found["sigma", "a"] > 0.1
    assert found["sigma", "b"] > 0.1
    assert found["mu_star", "c"] == found["sigma", "c"] == 0


@pytest.mark.parametrize(("make", "n_points"), [(morris_design, 5 * 4), (sobol_design, 8 * 5)])
def test_designs_have_the_size_that_is_said_and_stay_the_same(make, n_points):
    n = 5 if make is morris_design else 8
    design = make(3, n)
    assert design.shape == (n_points, 3)
    assert (design >= 0).all()
    assert (design <= 1).all()
    assert np.array_equal(design, make(3, n))
    assert not np.array_equal(design, make(3, n, seed=2))


def test_what_does_not_vary_has_no_shares():
    assert sobol_indices("ab", np.ones(4 * 8))["value"].isna().all()
    design = morris_design(2, 4)
    assert (morris_indices("ab", design, np.ones(len(design)))["value"] == 0).all()


def test_an_undefined_metric_is_refused():
    design = morris_design(2, 4)
    with pytest.raises(ValueError, match="every point"):
        morris_indices("ab", design, np.full(len(design), np.nan))

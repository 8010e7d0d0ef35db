"""The compiled normal functions, the chance of a selection and the winner's draw, against scipy."""

import numpy as np
import pytest
from scipy import integrate, special, stats

from deniability.agents.organization.inference.strong import normal, particles, selection

TABLE, HAZARDS, QUANTILES, EXPONENTIALS, FLAT, LAYOUT = normal.filter_tables()


def log_f(y, means, audited):
    """The integrand, written out with scipy."""
    winners = np.array(audited)
    losers = np.setdiff1d(np.arange(means.size), winners)
    y = np.asarray(y)[..., None]
    total = special.log_ndtr(y - means[losers]).sum(axis=-1)
    others = special.log_ndtr(means[winners] - y)
    terms = stats.norm.logpdf(y - means[winners]) - others + others.sum(axis=-1, keepdims=True)
    return total + special.logsumexp(terms, axis=-1)


def tabulated(means, audited):
    lost = np.ones(means.size, dtype=bool)
    lost[list(audited)] = False
    grid, mass = np.empty(normal.GRID), np.empty(normal.GRID)
    chosen = np.array(sorted(audited))
    n, start, step, log_sum, log_chance = selection.tabulate(
        means, chosen, lost, TABLE, HAZARDS, EXPONENTIALS, FLAT, LAYOUT, np.empty(means.size), grid, mass, 0
    )
    return chosen, lost, n, start, step, log_sum, log_chance, grid, mass


def exact_log_chance(means, audited):
    y = np.arange(means.min() - 45, means.max() + 45, 0.01)
    values = log_f(y, means, audited)
    top = values.max()
    return top + np.log(integrate.trapezoid(np.exp(values - top), dx=0.01))


def test_log_cdf_is_right_from_tail_to_tail():
    x = np.concatenate([np.linspace(-60, 10, 20_001), [-1e4, 1e4, normal.LEFT, normal.RIGHT]])
    values = np.array([normal.log_cdf(v, TABLE) for v in x])
    np.testing.assert_allclose(values, special.log_ndtr(x), rtol=1e-13, atol=1e-9)


def test_hazard_is_right_and_its_rough_form_is_close():
    x = np.linspace(-39, 8.4, 5_001)
    exact = np.exp(stats.norm.logpdf(x) - special.log_ndtr(x))
    np.testing.assert_allclose([normal.hazard(v, TABLE) for v in x], exact, rtol=1e-8)
    np.testing.assert_allclose([normal.rough_hazard(v, HAZARDS) for v in x], exact, atol=0.01)
    assert normal.rough_hazard(-50.0, HAZARDS) == pytest.approx(50.02, abs=0.03)


def test_quantiles_invert_the_distribution():
    p = np.concatenate(
        [np.linspace(1e-6, 1 - 1e-6, 5_001), 10.0 ** -np.arange(1, 300, 7), 1 - 2.0 ** -np.arange(1, 53)]
    )
    np.testing.assert_allclose([normal.quantile(v) for v in p], special.ndtri(p), rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose([normal.quick_quantile(v, QUANTILES) for v in p], special.ndtri(p), atol=5e-9)
    log_p = -np.exp(np.linspace(-36, 14, 2_001))
    x = np.array([normal.quantile_of_log(v) for v in log_p])
    np.testing.assert_allclose(x, special.ndtri_exp(log_p), rtol=1e-12, atol=1e-15)


def test_quick_exponential_is_right_for_negative_numbers():
    x = np.linspace(-64, 0, 10_001)
    np.testing.assert_allclose([normal.quick_exp(v, EXPONENTIALS) for v in x], np.exp(x), rtol=3e-10)
    assert normal.quick_exp(-64.1, EXPONENTIALS) == 0.0


SITUATIONS = {
    "alike": (np.zeros(50), (3,)),
    "one against one": (np.array([0.3, 0.0]), (1,)),
    "sure winner": (np.array([0.0, 30.0, -5.0]), (1,)),
    "far behind one": (np.array([0.0, 14.0]), (0,)),
    "far behind many": (np.append(np.full(49, 10.0), 0.0), (49,)),
    "hopeless": (np.array([0.0, 90.0, 88.0, 3.0]), (0,)),
    "hopeless against a thousand": (np.append(np.full(1000, 60.0), 0.0), (1000,)),
    "scattered": (np.random.default_rng(0).normal(0, 3, 30), (7,)),
    "alone": (np.array([2.0]), (0,)),
    "two of many": (np.random.default_rng(1).normal(0, 2, 12), (4, 9)),
    "two, one far behind": (np.array([0.0, 12.0, 6.0, 5.0]), (0, 1)),
    "three surely": (np.array([20.0, 19.0, 25.0, 0.0]), (0, 1, 2)),
    "all": (np.array([1.0, 2.0, 0.0]), (0, 1, 2)),
}


@pytest.mark.parametrize("name", SITUATIONS)
def test_chance_of_a_selection(name):
    """The table's stated error is 8e-6 per loser; the interpolant is close enough to draw from."""
    means, audited = SITUATIONS[name]
    *_, log_sum, log_chance, _, _ = tabulated(means, audited)
    n_losers = means.size - len(audited)
    truth = exact_log_chance(means, audited)
    assert log_chance == pytest.approx(truth, abs=8e-6 * n_losers + 1e-7)
    assert log_sum == pytest.approx(truth, abs=0.08)


@pytest.mark.parametrize("name", SITUATIONS)
def test_drawn_winner_with_its_correction_has_the_exact_law(name):
    """Averages of y and y^2 over an even net of uniforms, weighted by f/q, are those of f."""
    means, audited = SITUATIONS[name]
    chosen, lost, n, start, step, log_sum, _, grid, mass = tabulated(means, audited)
    u = (np.arange(4000) + 0.5) / 4000
    draws = np.array([selection.draw(v, n, start, step, grid, mass, 0) for v in u])
    logs = np.empty(means.size)
    density = np.array([selection.log_density(y, means, chosen, lost, TABLE, logs) for y in draws[:, 0]])
    np.testing.assert_allclose(density, log_f(draws[:, 0], means, audited), rtol=1e-9, atol=1e-7)
    weights = np.exp(density - draws[:, 1] + log_sum - exact_log_chance(means, audited))
    assert np.all(np.diff(draws[:, 0]) > 0)  # inversion: monotone in the uniform
    assert weights.mean() == pytest.approx(1.0, abs=2e-4)
    assert weights.std() < 0.08
    y = np.arange(means.min() - 45, means.max() + 45, 0.01)
    values = log_f(y, means, audited)
    f = np.exp(values - values.max())
    mean = (y * f).sum() / f.sum()
    sd = np.sqrt((y**2 * f).sum() / f.sum() - mean**2)
    assert (weights * (draws[:, 0] - mean)).mean() == pytest.approx(0.0, abs=2e-3 * sd)
    assert (weights * (draws[:, 0] - mean) ** 2).mean() == pytest.approx(sd**2, rel=1e-2)


def test_without_the_correction_the_draw_is_off():
    """Negative control: f has no ripple of the grid's period, the log-linear interpolant has one."""
    means, audited = SITUATIONS["alike"]
    chosen, lost, n, start, step, log_sum, _, grid, mass = tabulated(means, audited)
    u = (np.arange(20_000) + 0.5) / 20_000
    draws = np.array([selection.draw(v, n, start, step, grid, mass, 0) for v in u])
    ripple = np.cos(2.0 * np.pi * (draws[:, 0] - start) / step)
    logs = np.empty(means.size)
    density = np.array([selection.log_density(y, means, chosen, lost, TABLE, logs) for y in draws[:, 0]])
    weights = np.exp(density - draws[:, 1] + log_sum - exact_log_chance(means, audited))
    assert abs(ripple.mean()) > 2e-3
    assert abs((weights * ripple).mean()) < 1e-4


def test_keyed_uniforms_are_uniform_and_unrelated():
    """Kolmogorov-Smirnov on the draws and on products of neighbours, at a level of 1e-4 each."""
    base = particles.decision_key(np.uint64(12345), 3)
    u = np.array([particles.uniform(np.uint64(base), i) for i in range(20_000)])
    assert u.min() > 0.0
    assert u.max() < 1.0
    assert stats.kstest(u, "uniform").pvalue > 1e-4
    assert abs(np.corrcoef(u[:-1], u[1:])[0, 1]) < 4 / np.sqrt(20_000)
    other = particles.decision_key(np.uint64(12345), 4)
    v = np.array([particles.uniform(np.uint64(other), i) for i in range(20_000)])
    assert abs(np.corrcoef(u, v)[0, 1]) < 4 / np.sqrt(20_000)

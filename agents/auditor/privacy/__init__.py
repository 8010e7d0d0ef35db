"""The privacy calculus: calibration, group privacy, trade-off curves, bounds. Pure functions, vectorised.

========================  ========================================================================
`calibration`             delta to sigma, mu, p_rand and epsilon, and back
`gaussian`                trade-off curves of every mechanism
`group`                   several reports by one person
`renewal`                 reports older than the horizon, horizons in a row
`evidence`                caps on odds and posteriors, an adversary's gain
`bounds`                  utility theorem, error floors
`static`                  exact mis-selection of one decision
`toeplitz`                the Toeplitz counter's coefficients and sensitivity
========================  ========================================================================

Nothing here imports the mechanisms or the counters, which import from here.
"""

from .bounds import error_floor, rr_error_floor, utility_bound
from .calibration import (
    delta_for_epsilon,
    delta_for_mu,
    delta_for_p_rand,
    delta_for_sigma,
    epsilon_for_delta,
    mu_for_delta,
    p_rand_for_delta,
    sigma_for_delta,
)
from .evidence import (
    delta_for_posterior_cap,
    exponential_success_gain,
    gaussian_success_gain,
    odds_cap,
    posterior_cap,
    success_gain,
)
from .gaussian import delta_trade_off, exponential_trade_off, gaussian_trade_off, rr_trade_off
from .group import (
    different_targets_group_delta,
    exponential_group_delta,
    linear_group_delta,
    mixed_group_delta,
    rr_group_delta,
    same_counter_group_delta,
    separated_group_delta,
    separated_sensitivity,
)
from .renewal import counter_delta_at_age, renewed_counter_delta, renewed_delta, rr_delta_at_age
from .static import (
    counter_misselection,
    exponential_misselection,
    greedy_misselection,
    rr_misselection,
    smallest_gap,
    uniform_misselection,
)
from .toeplitz import toeplitz_coefficients, toeplitz_sensitivity

__all__ = [
    "counter_delta_at_age",
    "counter_misselection",
    "delta_for_epsilon",
    "delta_for_mu",
    "delta_for_p_rand",
    "delta_for_posterior_cap",
    "delta_for_sigma",
    "delta_trade_off",
    "different_targets_group_delta",
    "epsilon_for_delta",
    "error_floor",
    "exponential_group_delta",
    "exponential_misselection",
    "exponential_success_gain",
    "exponential_trade_off",
    "gaussian_success_gain",
    "gaussian_trade_off",
    "greedy_misselection",
    "linear_group_delta",
    "mixed_group_delta",
    "mu_for_delta",
    "odds_cap",
    "p_rand_for_delta",
    "posterior_cap",
    "renewed_counter_delta",
    "renewed_delta",
    "rr_delta_at_age",
    "rr_error_floor",
    "rr_group_delta",
    "rr_misselection",
    "rr_trade_off",
    "same_counter_group_delta",
    "separated_group_delta",
    "separated_sensitivity",
    "sigma_for_delta",
    "smallest_gap",
    "success_gain",
    "toeplitz_coefficients",
    "toeplitz_sensitivity",
    "uniform_misselection",
    "utility_bound",
]

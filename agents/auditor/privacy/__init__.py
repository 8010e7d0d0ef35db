"""The privacy calculus: calibration, group privacy, trade-off curves, bounds. Pure functions, vectorised."""

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
from .gaussian import delta_trade_off, exponential_trade_off, gaussian_trade_off, rr_trade_off
from .toeplitz import toeplitz_coefficients, toeplitz_sensitivity

__all__ = [
    "delta_for_epsilon",
    "delta_for_mu",
    "delta_for_p_rand",
    "delta_for_sigma",
    "delta_trade_off",
    "epsilon_for_delta",
    "exponential_trade_off",
    "gaussian_trade_off",
    "mu_for_delta",
    "p_rand_for_delta",
    "rr_trade_off",
    "sigma_for_delta",
    "toeplitz_coefficients",
    "toeplitz_sensitivity",
]

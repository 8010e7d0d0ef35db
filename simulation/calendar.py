"""Weeks and years: rates are per year, delays in weeks, the clock runs in audit periods."""

__all__ = ["WEEKS_PER_YEAR"]

WEEKS_PER_YEAR = 365.25 / 7.0

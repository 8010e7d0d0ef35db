"""Continual counters whose noise hardly grows with time."""

from .counter_based import CounterMechanism

__all__ = ["ToeplitzContinualAuditing"]


class ToeplitzContinualAuditing(CounterMechanism):
    """Counter-based auditing, with the Toeplitz counter unless another is plugged in.

    The story: the auditor never looks at the counts themselves, but at a ticker for each target that shows
    the running count plus noise. The noise of a ticker is one long correlated path instead of fresh dice
    every week, which makes the whole path as safe to watch as a single noisy look, at a price that grows
    like the square root of the log of the horizon. An audit starts a new ticker.

    Source: "Plausible Deniability Guarantees for Whistleblowers" (2026); the counter is the
    matrix-factorization mechanism of Fichtenberger, Henzinger & Upadhyay (2023), "Constant matters:
    fine-grained complexity of differentially private continual observation".

    Names: Toeplitz Continual Auditing, TCA; with other counters `tca-binary_tree`, `tca-blt`,
    `tca-independent`.
    """

    id = "tca"

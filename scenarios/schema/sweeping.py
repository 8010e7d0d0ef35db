"""Which values a batch varies, and how often it repeats them."""

from typing import Annotated, Any, Literal

from pydantic import Field, Strict

from .base import Number, Table, Text, Whole, parameter

__all__ = ["Precision", "Sample", "Sweep"]

type Values = Annotated[list[Any], Field(min_length=1, max_length=100_000), Strict()]
type Axes = Annotated[dict[Annotated[str, Strict()], Values], Strict()]
type Range = Annotated[list[Any], Field(min_length=2, max_length=2), Strict()]
type Ranges = Annotated[dict[Annotated[str, Strict()], Range], Strict()]


class Sample(Table):
    """`[sweep.sample]`: points spread evenly over ranges of numbers, where a grid would need too many.

    Without ranges nothing is sampled.
    """

    method: Literal["latin-hypercube", "sobol"] = parameter(
        "latin-hypercube",
        "How points are spread: one in each slice of every range, or Owen's scrambled Sobol sequence.",
        "none",
    )
    points: Whole = parameter(64, "Number of points; a power of 2 for sobol.", "cells", ge=1, le=100_000)
    seed: Whole = parameter(1, "Which of the random spreads it is.", "none", ge=0, le=2**63 - 1)
    linear: Ranges = parameter({}, "Dotted path to [low, high], spread evenly.", "none")
    log: Ranges = parameter({}, "Dotted path to [low, high], spread evenly in the logarithm.", "none")


class Precision(Table):
    """`[sweep.precision]`: replicates go on until a metric is known well enough in every cell.

    Without a metric there is no target.
    """

    metric: Text = parameter(
        "", "Metric whose 95 % interval is to become narrow; empty for no target.", "none"
    )
    half_width: Number = parameter(
        0.01, "Half the width that the interval may have, in units of the metric.", "none", gt=0, le=1e9
    )
    max_replicates: Whole = parameter(
        1000, "Runs per cell after which it is given up.", "runs", ge=1, le=10_000_000
    )


class Sweep(Table):
    """`[sweep]`: what a batch runs; a single run ignores it.

    `zip` lists advance together, `grid` lists are crossed with each other, with them and with the points of `sample`.
    """

    replicates: Whole = parameter(1, "Runs per cell, with different seeds.", "runs", ge=1, le=10_000_000)
    grid: Axes = parameter({}, "Dotted path to the values to cross with all others.", "none")
    zip: Axes = parameter({}, "Dotted path to values that advance together; all lists equally long.", "none")
    sample: Sample = Field(default_factory=Sample)
    precision: Precision = Field(default_factory=Precision)

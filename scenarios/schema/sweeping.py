"""Which values a batch varies."""

from typing import Annotated, Any

from pydantic import Field, Strict

from .base import Table, Whole, parameter

__all__ = ["Sweep"]

type Values = Annotated[list[Any], Field(min_length=1, max_length=100_000), Strict()]
type Axes = Annotated[dict[Annotated[str, Strict()], Values], Strict()]


class Sweep(Table):
    """`[sweep]`: what a batch runs; a single run ignores it.

    `zip` lists advance together, `grid` lists are crossed with each other and with them.
    """

    replicates: Whole = parameter(1, "Runs per cell, with different seeds.", "runs", ge=1, le=10_000_000)
    grid: Axes = parameter({}, "Dotted path to the values to cross with all others.", "none")
    zip: Axes = parameter({}, "Dotted path to values that advance together; all lists equally long.", "none")

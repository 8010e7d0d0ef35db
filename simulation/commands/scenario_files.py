"""Verbs for scenario files: list, show, validate, schema, new."""

import typer

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the verbs of this module to the application."""

"""The report on a directory of results: figures, tables, and one HTML page that needs no network."""

from .writer import Report, make_report, write_report

__all__ = ["Report", "make_report", "write_report"]

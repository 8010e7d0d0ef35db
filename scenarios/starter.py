"""The file that `deniability new` writes."""

import re

__all__ = ["starter_text", "study_name"]

_TEXT = """\
# A study of your own: it starts from five-labs and changes what is set here.
#
#   deniability show five-labs           every value, with its unit and where it comes from
#   deniability validate {file}
#   deniability run {file}

[scenario]
name = "{name}"
title = "{name}"
question = "What should this study answer?"
extends = ["five-labs"]  # shipped names, or paths relative to this file

[time]
periods = 104  # audit periods, weeks unless period_weeks says otherwise

[auditor]
mechanism = "tca"
delta = 0.1  # deniability level per report, greater than 0 and less than 1

[employees]
scale = 0.1  # a tenth of every headcount, to try things out quickly

# One lab that differs from [organizations]:
# [labs.lab-e.organization]
# retaliation_probability = 0.82

# What a batch varies. Lists replace those of five-labs; its other axes stay.
[sweep]
replicates = 10

[sweep.grid]
"auditor.mechanism" = ["greedy", "tca", "exponential"]
"auditor.delta" = [0.1, 0.2]

# Where a value comes from: a key of [sources], or "assumption: why". What five-labs says about a value no longer
# holds once you change it.
[evidence]
"employees.scale" = "assumption: small, for a first look"

# [sources]
# smith-2020 = "Author, title, year, address"
"""


def study_name(text: str) -> str:
    """Turn the name of a file into the name of a study: lower-case words joined by hyphens.

    Examples
    --------
    >>> study_name("My Study (2)")
    'my-study-2'
    """
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:64].strip("-") or "scenario"


def starter_text(name: str, file: str) -> str:
    """Return a commented scenario called `name`, to be saved as `file`."""
    return _TEXT.format(name=name, file=file)

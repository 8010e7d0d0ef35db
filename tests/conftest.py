"""For every test: no property is judged by the clock, since others may be busy on the same machine."""

from hypothesis import settings

settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")

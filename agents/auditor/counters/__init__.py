"""Continual counters: the noise that a counter-based mechanism adds to running counts. One counter a file."""

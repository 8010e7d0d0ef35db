"""The auditor: selection mechanisms, continual counters, and the privacy calculus behind them."""

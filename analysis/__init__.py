"""From result tables to estimates, figures and tables. Reads tables only; never runs a simulation."""

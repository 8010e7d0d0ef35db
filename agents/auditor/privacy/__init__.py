"""The privacy calculus: calibration, group privacy, trade-off curves, bounds. Pure functions, vectorised."""

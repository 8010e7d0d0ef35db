"""The shipped scenarios: one TOML file each, every parameter with its evidence."""

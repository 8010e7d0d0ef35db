"""The roof: worlds, draws, the Mesa model, records, studies, and the command line."""

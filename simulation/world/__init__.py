"""What the agents live in: people, access graphs, colleagues, incidents."""

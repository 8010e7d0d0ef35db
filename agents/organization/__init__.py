"""A lab: what it infers from the public transcript, and whom it retaliates against."""

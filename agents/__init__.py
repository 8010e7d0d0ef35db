"""Who acts: the auditor, the labs (organizations) and the employees, each with its algorithms.

Actors see the rest of the simulation only through the protocols of `ports`.
"""

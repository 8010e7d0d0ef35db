"""What a study is: the scenario schema, its loader and the catalogue of shipped scenarios.

Data first, little code. Nothing here knows agents, analysis or simulation; the other three build on it.
"""

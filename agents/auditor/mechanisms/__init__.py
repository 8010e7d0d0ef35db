"""Selection mechanisms: which target is audited, given the active reports. One mechanism a file."""

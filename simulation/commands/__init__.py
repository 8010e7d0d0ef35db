"""The command line's verbs, a module each.

Every module has `register(app)`, which adds its verbs to the application. Heavy imports stand inside the
functions, so that `deniability --help` stays quick.
"""

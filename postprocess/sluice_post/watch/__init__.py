"""The command ``watch``: a live page of a running case.

`follow` reads what has changed in the directory of a run, `page` shows it, `serve` is the server. Nothing here writes.
"""

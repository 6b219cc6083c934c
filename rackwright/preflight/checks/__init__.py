"""What preflight asks of machines: one function a question, in a module by concern.

A check is a function that yields a fault for each thing that is not as the site says. Its parameters name what it
reads: `machine` (what was found; the check then runs once for each) with `host` (what is wished), or `fleet` for all
machines at once; `site`, `phase`, `catalog`, `secrets`. It ends at the first thing that a machine did not show, which
is said.
"""

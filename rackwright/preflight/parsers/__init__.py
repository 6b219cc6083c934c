"""The words of commands and of the kernel, understood: one module a kind, each of pure functions of texts.

A parser gives what it understood and raises NotSeen where that is nothing; no text makes it fail in another way.
"""

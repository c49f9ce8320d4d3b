"""
Deliberate defects of the reference agents: each breaks one rule, in a way that real agents have broken it, or might.

A suite that doesn't catch one of these has a hole where that rule ought to be. Each is a small override of the sound
agent. `window` and `claim` here give them by contract; the modules beside them hold them by what they are about.
"""

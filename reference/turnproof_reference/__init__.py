"""
Reference agents: two small asyncio agents that keep every rule of their contract.

They are written from the prose of the contracts alone and import nothing of the specification, so that where the two
agree the agreement means something. They work as agents too: model, tools, hooks and checkpoint are async callables
that you bring.

Reading order: `messages` and `events` (the values), `publish` and `session` (how they become an ordered log), `tools`
(one batch of calls), then `window` or `claim` (one contract each), `driver` (an agent behind the driver protocol).
"""

import logging

# A library is silent unless its user wants to hear it.
logging.getLogger(__name__).addHandler(logging.NullHandler())

"""
The reference agents behind the driver protocol.

Read `driver` first, then `world`, `gates` and `record`; `adapter` tells what a contract has to add.
"""

from turnproof_reference.driver.driver import Driver
from turnproof_reference.driver.errors import ProtocolError
from turnproof_reference.driver.loop import QuietLoop, quiet_loop

__all__ = ["Driver", "ProtocolError", "QuietLoop", "quiet_loop"]

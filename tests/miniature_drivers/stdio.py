"""
Serve a driver of this package over stdio: ``python -m miniature_drivers.stdio CLASS``.
"""

from __future__ import annotations

import json
import sys

from miniature_drivers import defects, driver


def serve(served):
    """Answer requests, one a line, until the end of the input or a shutdown."""
    for line in sys.stdin.buffer:
        request = json.loads(line)
        reply = {"jsonrpc": "2.0", "id": request["id"]}
        try:
            answer = served.perform(request["method"], request["params"])
            reply["result"] = served.observe() if answer is None else answer
        except driver.RpcFailure as failure:
            reply["error"] = {"code": failure.code, "message": str(failure)}
        sys.stdout.buffer.write(json.dumps(reply).encode() + b"\n")
        sys.stdout.buffer.flush()
        if request["method"] == "shutdown":
            return


if __name__ == "__main__":
    serve(getattr(defects, sys.argv[1])())

"""
Serve a driver over stdio, soundly or with one defect: ``python -m miniature_drivers.stdio CLASS``.
"""

from __future__ import annotations

import json
import signal
import sys

from miniature_drivers.driver import Driver, RpcFailure


class Server:
    """Answer requests, one a line, until the end of the input or a shutdown."""

    def __init__(self):
        self.driver = Driver()

    def serve(self):
        for line in sys.stdin.buffer:
            request = json.loads(line)
            self.turn_to(request.get("lane", 0))
            self.reply({"jsonrpc": "2.0", "id": request["id"], **self.answer(request["method"], request["params"])})
            if request["method"] == "shutdown":
                self.leave()
                return

    def turn_to(self, lane):
        """Have one agent, whatever the lane."""

    def answer(self, method, params):
        try:
            answer = self.driver.perform(method, params)
            return {"result": self.driver.observe() if answer is None else answer}
        except RpcFailure as failure:
            return {"error": {"code": failure.code, "message": str(failure)}}

    def reply(self, response):
        sys.stdout.buffer.write(json.dumps(response).encode() + b"\n")
        sys.stdout.buffer.flush()

    def leave(self):
        """Say goodbye."""


class Laned(Server):
    """Have an agent for each lane, and say so."""

    def __init__(self):
        super().__init__()
        self.drivers = {0: self.driver}

    def turn_to(self, lane):
        self.driver = self.drivers.setdefault(lane, Driver())

    def answer(self, method, params):
        answer = super().answer(method, params)
        if method == "initialize":
            answer["result"]["capabilities"] |= {"lanes": True}
        return answer


class SharesAnAgent(Laned):
    """Let all lanes speak to one agent."""

    def turn_to(self, lane):
        pass


class ExitsBadly(Server):
    """End with another status than 0."""

    def leave(self):
        sys.exit(4)


class WritesOn(Server):
    """Write behind the last answer."""

    def leave(self):
        sys.stdout.write("bye\n")


class StaysForEver(Server):
    """Don't end."""

    def leave(self):
        signal.pause()


class ShutsDownWithAWord(Server):
    """Answer shutdown with more than an empty object."""

    def answer(self, method, params):
        return {"result": {"bye": True}} if method == "shutdown" else super().answer(method, params)


class PrintsWhatItReads(Server):
    """Print text that isn't plain, behind the answer."""

    def reply(self, response):
        super().reply(response)
        for event in response.get("result", {}).get("events", ()):
            if not str(event.get("id", "")).isprintable():
                sys.stdout.write("odd\n")


if __name__ == "__main__":
    globals()[sys.argv[1]]().serve()

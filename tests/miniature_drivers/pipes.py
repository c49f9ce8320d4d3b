"""
Be a driver with one defect at its pipes: ``python -SE pipes.py DEFECT [ARGUMENT]``.

The agent behind it is a picture of an empty one. Each function of ``DEFECTS`` is called with every line before it is
answered; it may answer itself (and return true), say something, or do worse. Standard library only, so that it starts
in no time.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

PROFILE = {
    "protocol": 1,
    "implementation": {"name": "pipes", "version": "1", "language": "python", "runtime": "any"},
    "contract": "window",
    "capabilities": {},
    "gates": ["prompt-submit", "model", "tool", "turn-stopping"],
    "tools": {"par": "parallel", "exc": "exclusive"},
}
EMPTY = {"events": [], "gates": [], "status": "idle", "acceptsNextStep": None, "inbox": None, "whenIdle": None}


def write(data):
    data = data if isinstance(data, bytes) else data.encode()
    while data:
        data = data[os.write(1, data) :]


def say(data):
    os.write(2, data.encode())


def respond(request, **parts):
    write(json.dumps({"jsonrpc": "2.0", "id": request["id"], **parts}) + "\n")


def wait_for_ever():
    while True:
        signal.pause()


# Defects: called as f(request), for `inspect` unless named otherwise.
def hangs(request):
    say("thinking")
    wait_for_ever()


def never_starts(request):
    wait_for_ever()


def dies(request):
    say("last words")
    os._exit(3)


def is_killed(request):
    os.kill(os.getpid(), signal.SIGKILL)


def answers_garbage(request):
    write("well, let me see\n")
    return True


def answers_no_text(request):
    write(b"\xff\xfe\n")
    return True


def answers_half_a_character(request):
    respond(request, result="\ud800")
    return True


def answers_nan(request):
    respond(request, result=float("nan"))
    return True


def answers_a_deep_hole(request):
    write("[" * 200_000 + "\n")
    return True


def answers_nothing(request):
    write("\n")
    return True


def floods_stdout(request):
    while True:
        write("x" * 65536)


def floods_stderr(request):
    while True:
        say("x" * 65536)


def floods_after_shutdown(request):
    respond(request, result={})
    while True:
        write("x" * 65536)


def chats_on_stderr(request):
    say("noise " * 30_000 + "the end")


def writes_half_a_line(request):
    write('{"jsonrpc":"2.0","id":')
    wait_for_ever()


def dies_in_a_line(request):
    write('{"jsonrpc":"2.0","id":')
    os._exit(0)


def answers_another_request(request):
    respond(request | {"id": request["id"] + 1}, result=EMPTY)
    return True


def quotes_the_id(request):
    respond(request | {"id": str(request["id"])}, result=EMPTY)
    return True


def forgets_the_version(request):
    write(json.dumps({"id": request["id"], "result": EMPTY}) + "\n")
    return True


def answers_both(request):
    respond(request, result=EMPTY, error={"code": -1, "message": "no"})
    return True


def answers_a_list(request):
    write("[]\n")
    return True


def answers_a_shapeless_error(request):
    respond(request, error="no")
    return True


def answers_an_error(request):
    respond(request, error={"code": -32000, "message": "not in the mood"})
    return True


def forgets_the_status(request):
    respond(request, result={key: value for key, value in EMPTY.items() if key != "status"})
    return True


def has_no_name(request):
    respond(request, result=PROFILE | {"implementation": {}})
    return True


def speaks_another_version(request):
    respond(request, result=PROFILE | {"protocol": 2})
    return True


def prints(request):
    write("performing inspect\n")


def answers_twice(request):
    respond(request, result=EMPTY)


def closes_its_output(request):
    os.close(1)
    wait_for_ever()


def closes_its_input(request):
    os.close(0)
    wait_for_ever()


def stops_reading(request):
    respond(request, result=EMPTY)
    wait_for_ever()


def ignores_termination(request):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    wait_for_ever()


def interrupts_its_parent(request):
    os.kill(os.getppid(), signal.SIGINT)
    wait_for_ever()


def has_a_child(request):
    """Start a process in the same group that holds the named pipe open and ignores termination."""
    code = """
import signal, sys
signal.signal(signal.SIGTERM, signal.SIG_IGN)
lifeline = open(sys.argv[1], "w")
print("up", file=lifeline, flush=True)
signal.pause()
"""
    subprocess.Popen([sys.executable, "-SEc", code, ARGUMENT], stdin=subprocess.DEVNULL, stdout=2)


def is_outlived(request):
    """End, with a process of the same group holding the output open."""
    subprocess.Popen([sys.executable, "-SEc", "import signal; signal.pause()"], stdin=subprocess.DEVNULL)
    os._exit(5)


def has_a_child_and_dies(request):
    has_a_child(request)
    os.read(os.open(ARGUMENT, os.O_RDONLY), 10)
    os._exit(0)


def exits_badly(request):
    respond(request, result={})
    os._exit(4)


def stays(request):
    respond(request, result={})
    wait_for_ever()


def closes_its_output_and_stays(request):
    respond(request, result={})
    os.close(1)
    wait_for_ever()


def writes_on(request):
    respond(request, result={})
    write("bye\n")
    os._exit(0)


def shuts_down_with_a_word(request):
    respond(request, result={"bye": True})
    return True


def sound(request):
    return False


AT = {
    **dict.fromkeys((never_starts, has_no_name, speaks_another_version), "initialize"),
    **dict.fromkeys((exits_badly, stays, closes_its_output_and_stays, writes_on, floods_after_shutdown), "shutdown"),
    shuts_down_with_a_word: "shutdown",
}
"""Where a defect shows, if not at ``inspect``."""


def read_lines():
    """Read lines; a long one is remarked upon piece by piece, so that a writer that doesn't read would block."""
    rest = b""
    while chunk := os.read(0, 4096):
        rest += chunk
        if DEFECT is reads_aloud:
            say("x" * 4096)
        *lines, rest = rest.split(b"\n")
        yield from lines


def reads_aloud(request):
    return False


def main():
    for line in read_lines():
        request = json.loads(line)
        method = request["method"]
        if method == AT.get(DEFECT, "inspect") and DEFECT(request):
            continue
        results = {"initialize": PROFILE, "shutdown": {}}
        respond(request, result=results.get(method, EMPTY))
        if method == "shutdown":
            return


DEFECT = globals()[sys.argv[1]]
ARGUMENT = sys.argv[2] if len(sys.argv) > 2 else ""
main()

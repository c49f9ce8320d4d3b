"""Pass a driver's conversation on, with one more fault: a turn that a parent canceled ends as if a user had."""

from __future__ import annotations

import json
import subprocess
import sys

child = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
for line in sys.stdin:
    child.stdin.write(line)
    child.stdin.flush()
    answer = json.loads(child.stdout.readline())
    for event in (answer.get("result") or {}).get("events", []):
        if event["type"] == "turn/end" and event.get("cause") == "parent":
            event["cause"] = "user"
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()
sys.exit(child.wait())

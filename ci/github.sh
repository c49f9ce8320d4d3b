#!/usr/bin/env bash
# One step of the GitHub action: run, write all reports, tell the status. Inputs come as variables, never as text in a
# command, so that what a pull request names can't run anything but itself.
set -uo pipefail

options=(--commands "$COMMANDS" --seed "$SEED")
[[ -n "$CONTRACT" ]] && options+=(--contract "$CONTRACT")
[[ -n "$EXPECT" ]] && options+=(--expect "$EXPECT")
mkdir -p "$OUTPUT"
options+=(--capsules "$OUTPUT/capsules" --json "$OUTPUT/run.json" --html "$OUTPUT/report.html")
options+=(--junit "$OUTPUT/junit.xml" --sarif "$OUTPUT/turnproof.sarif" --badge "$OUTPUT/badge.svg")
options+=(--markdown "$GITHUB_STEP_SUMMARY")

command=()
if [[ -n "$COMMAND" ]]; then
  mapfile -d '' -t command < <(python -c 'import shlex, sys; [print(w, end="\0") for w in shlex.split(sys.argv[1])]' "$COMMAND")
  command=(-- "${command[@]}")
fi

turnproof run "${options[@]}" "$AGENT" "${command[@]}"
status=$?
echo "status=$status" >> "$GITHUB_OUTPUT"
exit $status

#!/usr/bin/env bash
# Checks histories, and writes a report of the first violated one with a summary for a comment: what the action runs, and what any
# other forge can run. Environment: HISTORIES, LEVEL, ARGUMENTS. Writes isoscope-report/, and `code=N` to GITHUB_OUTPUT if that is set.
set -uo pipefail
out=isoscope-report
mkdir -p "$out"
code=0
# The arguments are words for the program, as they would be typed.
# shellcheck disable=SC2086
isoscope check "$HISTORIES" --level "$LEVEL" --junit "$out/levels.xml" --sarif "$out/anomalies.sarif" ${ARGUMENTS:-} >"$out/check.txt" 2>&1 || code=$?
cat "$out/check.txt"
if [ "$code" = 1 ]; then
    # The first history that violates the level.
    while IFS= read -r history; do
        isoscope check "$history" --level "$LEVEL" --verdicts-only >/dev/null 2>&1
        [ $? = 1 ] || continue
        isoscope export "$history" -o "$out/picture.svg" >/dev/null
        isoscope export "$history" -o "$out/picture.png" >/dev/null
        {
            echo "### Isolation is broken: $LEVEL does not hold"
            isoscope explain "$history"
            echo
            echo "Open it: \`isoscope $history\`. The picture and the report are in the artifact *isoscope*."
        } >"$out/summary.md"
        break
    done < <(if [ -d "$HISTORIES" ]; then find "$HISTORIES" -type f | sort; else echo "$HISTORIES"; fi)
fi
[ -z "${GITHUB_OUTPUT:-}" ] || echo "code=$code" >>"$GITHUB_OUTPUT"
[ -n "${GITHUB_OUTPUT:-}" ] || exit "$code"

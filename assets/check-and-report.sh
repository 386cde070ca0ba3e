#!/usr/bin/env bash
# Checks histories. Where a level is violated, writes a report of the first such history, and a summary for a comment. The action runs it;
# any other forge can, too. Environment: HISTORIES, LEVEL, ARGUMENTS. Writes isoscope-report/; GITHUB_OUTPUT, if set, gets `code=N`.
set -uo pipefail
out=isoscope-report
mkdir -p "$out"
# Words for the program, as they would be typed.
read -ra arguments <<<"${ARGUMENTS:-}"
code=0
isoscope check "$HISTORIES" --level "$LEVEL" "${arguments[@]}" --junit "$out/levels.xml" --sarif "$out/anomalies.sarif" \
    >"$out/check.txt" 2>&1 || code=$?
cat "$out/check.txt"
if [ "$code" = 1 ]; then
    history=$(sed -n 's/.*<testsuite name="\([^"]*\)".* failures="[1-9].*/\1/p' "$out/levels.xml" | head -n 1)
    of=("$history" --level "$LEVEL" "${arguments[@]}")
    isoscope report "${of[@]}" --force -o "$out/report"
    # Forges draw Mermaid in comments, which cannot show a picture from an artifact. A comment has 65,536 characters at most.
    cat >"$out/summary.md" <<SUMMARY
### $LEVEL does not hold in \`$history\`

\`\`\`mermaid
$(cat "$out/report/picture.mmd")
\`\`\`

<details><summary>Why</summary>

$(isoscope explain "${of[@]}" | head -c 40000)

</details>

To open it: \`isoscope $history\`. The report is in the artifact *isoscope*.
SUMMARY
    [ -z "${GITHUB_STEP_SUMMARY:-}" ] || cat "$out/summary.md" >>"$GITHUB_STEP_SUMMARY"
fi
[ -n "${GITHUB_OUTPUT:-}" ] || exit "$code"
# Steps that keep and comment come next; the last one fails.
echo "code=$code" >>"$GITHUB_OUTPUT"

#!/bin/sh
# Runs a part of the checks and appends its duration to the file PARTS: part.sh NAME COMMAND...
# Without arguments it prints the table of the parts so far. Parts may run side by side.
set -u
if [ $# -eq 0 ]; then
  [ ! -s "$PARTS" ] || awk -F'\t' '{ printf "%6d s  %s%s\n", $1, $2, $3 == 124 ? "  (out of time)" : $3 ? "  (failed)" : ""
      if (NR == 1 || $4 < began) began = $4; if ($4 + $1 > ended) ended = $4 + $1 }
    END { printf "%6d s  in all\n", ended - began }' "$PARTS"
  exit
fi
name=$1
shift
began=$(date +%s)
"$@"
code=$?
mkdir -p "$(dirname "$PARTS")"
printf '%d\t%s\t%d\t%d\n' $(($(date +%s) - began)) "$name" "$code" "$began" >>"$PARTS"
exit "$code"

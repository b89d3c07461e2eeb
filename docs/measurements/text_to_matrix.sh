#!/usr/bin/env bash
# From text to the matrix in fresh processes, against `wc -l` of the same file, in turns: medians and
# ranges of 2^20 nodes with 16 links each, uniform and R-MAT, without weights and with five decimals.
#
#   text_to_matrix.sh FOLDER_OF_THE_PROGRAMS FOLDER_OF_THE_FILES [ROUNDS]
#
# Files that are not there yet are made (1.2 GB).
set -euo pipefail
programs=$1 files=$2 rounds=${3:-11}
mkdir -p "$files"
times=$(mktemp)
trap 'rm -f "$times"' EXIT

for kind in uniform rmat; do
  plain=$files/$kind.mtx weighted=$files/$kind-w.mtx
  [ -e "$plain" ] || "$programs/pagerank-bench" --write "$plain" "$kind:20x16"
  [ -e "$weighted" ] || awk 'NR == 1 {sub("pattern", "real"); print; next} NR <= 3 {print; next}
    {printf "%s %.5f\n", $0, rand() * 10}' "$plain" > "$weighted"
  for file in "$plain" "$weighted"; do  # written in large pieces, all of them
    cp "$file" "$file.copy" && mv "$file.copy" "$file"
  done
done

seconds_of() {  # COMMAND...
  local begin=$EPOCHREALTIME
  "$@" > /dev/null
  awk -v begin="$begin" -v end="$EPOCHREALTIME" 'BEGIN {print end - begin}'
}

for round in $(seq "$rounds"); do
  for name in uniform rmat uniform-w rmat-w; do
    file=$files/$name.mtx
    first=$(seconds_of wc -l "$file")
    second=$(seconds_of wc -l "$file")
    # The engine's making is no part of the matrix, but counted in "build".
    # One iteration does not reach the tolerance, which is an exit status of its own.
    { "$programs/pagerank" "$file" --engine cpu --max-iterations 1 --top 0 --verbose 2>&1 || true; } |
      awk -v name="$name" -v wc="$first $second" '
        /the engine was made in/ {made = $(NF - 1)}
        /seconds: read/ {for (i = 1; i < NF; ++i) {if ($i == "read") read = $(i + 1) + 0; if ($i == "build") build = $(i + 1) + 0}}
        END {split(wc, w, " "); wc = (w[1] + w[2]) / 2; build -= made
             print name, wc, read, build, (read + build) / wc}' >> "$times"
  done
done

median() {  # NAME COLUMN
  awk -v name="$1" -v column="$2" '$1 == name {print $column}' "$times" | sort -g |
    awk '{v[NR] = $1} END {print (v[int((NR + 1) / 2)] + v[int((NR + 2) / 2)]) / 2, v[1], v[NR]}'
}
echo "| file | \`wc -l\` | read | build | ratio (range) |"
echo "|---|---|---|---|---|"
for name in uniform rmat uniform-w rmat-w; do
  read -r wc _ < <(median "$name" 2)
  read -r read _ < <(median "$name" 3)
  read -r build _ < <(median "$name" 4)
  read -r ratio least most < <(median "$name" 5)
  printf '| %s | %.3f | %.3f | %.3f | %.1f (%.1f to %.1f) |\n' "$name" "$wc" "$read" "$build" "$ratio" "$least" "$most"
done

#!/usr/bin/env bash
# How far `--kernel auto` is behind the best kernel, over graphs of eleven kinds.
#
#   auto_tables.sh FOLDER_OF_THE_PROGRAMS RESULTS [PART]...
#
# PART: one (a solve to 1e-6, every kernel that can win), slow (alpha 0.99), hundred (a hundred solves
# by each engine), default (what the program does where nothing is asked for: mixed, to 1e-8); all of
# them without. RESULTS is a folder for what was measured.
set -euo pipefail
programs=$1 results=$2
shift 2
mkdir -p "$results"

small=(rmat:18x8 rmat:18x16 hub:20 blog citation:18x16 traps:18x16:scramble citation:19x16:scramble
  preferential:19x16 traps:19x32 web:21x8 uniform:16x256 uniform:15x512)
middle=(citation:20x16 citation:21x8 preferential:21x16 small-world:20x16:scramble communities:21x12:scramble
  communities:20x16 traps:21x16:scramble web:20x16:scramble uniform:20x16 power-law:20x16 rmat:20x16:scramble web:20x16:weighted)
large=(citation:22x16:scramble preferential:22x8:scramble small-world:22x8:scramble traps:20x32:scramble web:22x16:scramble
  uniform:17x200 uniform:22x16 uniform:23x8 power-law:22x16 rmat:22x16:scramble
  web:22x16:weighted rmat:22x16:scramble:weighted)
ours=(--kernel auto --kernel balanced --kernel blocked)

measure() {  # PART ARGUMENT...: graphs of each size to a file of their own
  local part=$1 size
  local -A seconds=([small]=0.1 [middle]=0.2 [large]=0.4)  # at least five engines of each
  shift
  for size in small middle large; do
    local -n graphs=$size
    # diagonal:20 takes what the first engine of a process has to wait for.
    "$programs/pagerank-bench" solve diagonal:20 "${graphs[@]}" "${ours[@]}" "$@" \
      --seconds "${seconds[$size]}" --csv "$results/$part-$size.csv" >/dev/null
  done
}

measure_one() {
  measure one --kernel subwarp --kernel hybrid --kernel cusparse --kernel cusparse-alg1 --precision float --tolerance 1e-6
}
measure_slow() {
  measure slow --precision mixed --alpha 0.99 --tolerance 1e-6
}
measure_hundred() {
  measure hundred --kernel cusparse-alg1 --precision float --solves 100 --tolerance 1e-6
}
measure_default() {
  measure default --precision mixed --tolerance 1e-8
}

[ $# -gt 0 ] || set -- one slow hundred default
for part; do
  "measure_$part"
  awk 'FNR > 1 || NR == 1' "$results/$part"-{small,middle,large}.csv >"$results/$part.csv"
  rm "$results/$part"-{small,middle,large}.csv
  echo "$part: graph, what auto came to, its whole in ms, the same kernel's by name, the best one's, per cent behind that"
  # (solve_seconds are those of one of so many solves.)
  awk -F, -v solves="$([[ $part == hundred ]] && echo 100 || echo 1)" '
    FNR == 1 {for (i = 1; i <= NF; ++i) column[$i] = i; next}
    $column["graph"] ~ /^diagonal/ || $column["median_seconds"] == "" {next}
    {
      g = $column["graph"]; kernel = $column["kernel"]
      whole = ($column["prepare_seconds"] + solves * $column["solve_seconds"]) * 1e3
      if (!(g in seen)) {seen[g] = 1; order[++graphs] = g}
      if (kernel ~ /^auto/) {auto[g] = whole; chosen[g] = substr(kernel, 6); next}
      by_name[g, kernel] = whole
      if (!(g in best) || whole < best[g]) {best[g] = whole; name[g] = kernel}
    }
    END {
      for (i = 1; i <= graphs; ++i) {
        g = order[i]
        printf "%-36s %-9s %8.2f %8.2f %8.2f (%s) %.1f\n", g, chosen[g], auto[g], by_name[g, chosen[g]], best[g], name[g], (auto[g] / best[g] - 1) * 100
      }
    }' "$results/$part.csv"
done

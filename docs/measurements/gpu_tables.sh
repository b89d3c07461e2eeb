#!/usr/bin/env bash
# The tables of docs/performance.md that need a GPU, in one go, and the columns they are made of.
#
#   gpu_tables.sh FOLDER_OF_THE_PROGRAMS RESULTS solve            iterations and whole solves, four minutes
#   gpu_tables.sh FOLDER_OF_THE_PROGRAMS RESULTS text [FILES]     from text to ranks; FILES: 7 GB are made there
#
# RESULTS is a folder for what was measured, FILES one whose files stay in the page cache (/dev/shm).
set -euo pipefail
programs=$1 results=$2 part=$3 files=${4:-/dev/shm}
mkdir -p "$results" "$files"
float=(--precision float --tolerance 1e-6)
five=(rmat:22x16:scramble web:22x16 uniform:24x32 rmat:24x16:scramble)
library=(--kernel cusparse --kernel cusparse-alg1)
# For awk -F, of the benchmark's files: fields by their column's name.
by_name='FNR == 1 {for (i = 1; i <= NF; ++i) column[$i] = i} function value(name) {return $column[name]} '

measure_solves() {
  # diagonal:22 takes what the first engine of a process has to wait for. A process of its own for
  # rmat:26x16, which fills the host's memory.
  "$programs/pagerank-bench" solve diagonal:22 "${five[@]}" "${float[@]}" --seconds 0.2 \
    --kernel auto --kernel blocked --kernel balanced "${library[@]}" --csv "$results/solve.csv"
  "$programs/pagerank-bench" solve diagonal:22 rmat:26x16:scramble "${float[@]}" --seconds 0.01 \
    --kernel auto --kernel blocked "${library[@]}" --csv "$results/solve26.csv"
  "$programs/pagerank-bench" spmv diagonal:22 "${five[@]}" --seconds 0.05 --kernel blocked "${library[@]}" --csv "$results/spmv.csv"
}

print_solves() {  # of each graph: iteration, its ratios, and the whole of every kernel
  local copy  # bytes a second
  copy=$(awk -F, "$by_name"'
    value("benchmark") == "spmv" && value("share_of_ceiling") > 0 {print value("bytes_per_second") / value("share_of_ceiling"); exit}' "$results/spmv.csv")
  echo "A copy moves $(awk -v c="$copy" 'BEGIN {printf "%.2f", c / 1e12}') TB/s."
  echo "| graph | iteration, ms | library's SpMV, ms | times | share of the floor | auto | cusparse | cusparse-alg1 | over cusparse, over the faster |"
  echo "|---|---|---|---|---|---|---|---|---|"
  awk -F, -v copy="$copy" "$by_name"'
    {g = value("graph"); kernel = value("kernel"); seconds = value("median_seconds")}
    g ~ /^diagonal/ || seconds == "" {next}
    value("benchmark") == "spmv" && kernel ~ /^cusparse/ && value("values") == "true" && (!(g in spmv) || seconds < spmv[g]) {spmv[g] = seconds}
    value("benchmark") != "solve" {next}
    !(g in links) {order[++graphs] = g; links[g] = value("links"); nodes[g] = value("nodes")}
    {
      name = kernel
      sub(/:.*/, "", name)
      iteration[g, name] = seconds
      make[g, name] = value("prepare_seconds")
      solve[g, name] = value("solve_seconds")
      iterations[g, name] = value("iterations")
      chosen[g, name] = kernel
    }
    function whole(graph, name) {return (make[graph, name] + solve[graph, name]) * 1e3}
    function text(graph, name) {return sprintf("%.1f + %.1f = %.1f", make[graph, name] * 1e3, solve[graph, name] * 1e3, whole(graph, name))}
    END {
      for (i = 1; i <= graphs; ++i) {
        g = order[i]
        # Of rmat:26x16 the iteration of the library, of which the update is 1 to 2 %.
        s = (g in spmv) ? spmv[g] : (iteration[g, "cusparse"] < iteration[g, "cusparse-alg1"] ? iteration[g, "cusparse"] : iteration[g, "cusparse-alg1"])
        a = whole(g, "cusparse"); b = whole(g, "cusparse-alg1")
        printf "| %s | %.4f | %.4f | %.1f | %.2f | %s (%s) | %s | %s | %.2f, %.2f |\n", g, iteration[g, "blocked"] * 1e3, s * 1e3, s / iteration[g, "blocked"],
          (4 * links[g] + 12 * nodes[g]) / copy / iteration[g, "blocked"], text(g, "auto"), chosen[g, "auto"], text(g, "cusparse"), text(g, "cusparse-alg1"),
          a / whole(g, "auto"), (a < b ? a : b) / whole(g, "auto")
      }
      # What cusparse-alg1 takes to be made is the upload, but for half a millisecond.
      print "\nOf blocked, ms:\n| graph | upload | preparation | iterations | certificate, scores |\n|---|---|---|---|---|"
      for (i = 1; i <= graphs; ++i) {
        g = order[i]
        upload = make[g, "cusparse-alg1"] * 1e3
        all = iterations[g, "blocked"] * iteration[g, "blocked"] * 1e3
        printf "| %s | %.1f | %.1f | %d: %.1f | %.1f |\n", g, upload, make[g, "blocked"] * 1e3 - upload, iterations[g, "blocked"], all,
          solve[g, "blocked"] * 1e3 - all
      }
    }' "$results/spmv.csv" "$results/solve.csv" "$results/solve26.csv"
}

measure_text() {
  local name empty one_way all
  printf '#include <cuda_runtime.h>\nint main() { return cudaFree(0) == cudaSuccess ? 0 : 1; }\n' > "$results/empty.cu"
  nvcc -O2 "$results/empty.cu" -o "$results/empty"
  declare -A graphs=([rmat22]=rmat:22x16:scramble [rmat24]=rmat:24x16:scramble [w22]=rmat:22x16:seed=2:scramble:weighted)
  for name in rmat22 w22 rmat24; do
    [ -e "$files/$name.mtx" ] || "$programs/pagerank-bench" --write "$files/$name.mtx" "${graphs[$name]}"
  done
  milliseconds_of() {  # COMMAND...
    local begin=$EPOCHREALTIME
    "$@" > /dev/null 2>&1 || return
    awk -v begin="$begin" -v end="$EPOCHREALTIME" 'BEGIN {printf "%.1f", (end - begin) * 1e3}'
  }
  : > "$results/text-to-ranks.txt"
  for round in 1 2 3 4 5 6 7; do
    for name in rmat22 w22 rmat24; do
      rm -f "$results/report.json"
      # (Each a command of its own, so that one that fails ends this.)
      empty=$(milliseconds_of "$results/empty")
      one_way=$(CUDA_DEVICE_MAX_CONNECTIONS=1 milliseconds_of "$results/empty")
      all=$(milliseconds_of "$programs/pagerank" "$files/$name.mtx" --tolerance 1e-6 --report "$results/report.json")
      echo "$name $empty $one_way $all $(
        awk '/"seconds"/ {inside = 1; next} inside && /}/ {exit} inside {gsub(/[",:]/, ""); printf "%s %.1f ", $1, $2 * 1e3}' "$results/report.json")" >> "$results/text-to-ranks.txt"
    done
  done
  for name in rmat22 w22 rmat24; do  # in a process each, whose first load has the context beside it
    "$programs/pagerank-bench" load "$files/$name.mtx" --reader device --seconds 1 --csv "$results/load-$name.csv"
  done
  rm -f "$results/empty" "$results/empty.cu" "$results/report.json"
}

median() {  # FILE NAME KEY: of the values behind KEY, or of a column
  awk -v name="$2" -v key="$3" '$1 == name {if (key + 0 > 0) print $key; else for (i = 5; i < NF; ++i) if ($i == key) print $(i + 1)}' "$1" | sort -g |
    awk '{v[NR] = $1} END {print (v[int((NR + 1) / 2)] + v[int((NR + 2) / 2)]) / 2, v[1], v[NR]}'
}

print_text() {
  local name empty one_way all stream phase least most
  echo "| file | empty program, ms | one way to the device | pagerank (range) | over empty | context | stream (range) | build | upload | solve | rank |"
  echo "|---|---|---|---|---|---|---|---|---|---|---|"
  for name in rmat22 w22 rmat24; do
    read -r empty _ < <(median "$results/text-to-ranks.txt" "$name" 2)
    read -r one_way _ < <(median "$results/text-to-ranks.txt" "$name" 3)
    read -r all least most < <(median "$results/text-to-ranks.txt" "$name" 4)
    printf '| %s | %.0f | %.0f | %.0f (%.0f to %.0f) | %s |' "$name" "$empty" "$one_way" "$all" "$least" "$most" "$(awk -v a="$all" -v e="$empty" -v o="$one_way" 'BEGIN {printf "%.2f, %.2f", a / e, a / o}')"
    for phase in context stream build upload solve rank; do
      read -r stream least most < <(median "$results/text-to-ranks.txt" "$name" "$phase")
      if [ "$phase" = stream ]; then printf ' %.1f (%.1f to %.1f) |' "$stream" "$least" "$most"; else printf ' %.1f |' "$stream"; fi
    done
    echo
  done
  echo "| reader alone | bus, GB/s | in blocks of 1 MiB | first load, of the bus | later | host reader, ms | device reader, ms |"
  echo "|---|---|---|---|---|---|---|"
  sed -e 's/"[^"]*, first"/first/' -e 's/"bus,[^"]*"/blocks/' -e 's/"[^"]*"/device/g' "$results"/load-*.csv | awk -F, "$by_name"'
    value("benchmark") != "load" {next}
    {f = value("graph"); row = value("kernel")}
    !(f in seen) {seen[f] = 1; order[++files] = f}
    {rate[f, row] = value("bytes_per_second"); ms[f, row] = value("median_seconds") * 1e3; stream[f, row] = value("stream_bytes_per_second")}
    END {for (i = 1; i <= files; ++i) {f = order[i]; printf "| %s | %.1f | %.1f | %.2f | %.2f | %.0f | %.1f |\n", f, rate[f, "bus"] / 1e9, rate[f, "blocks"] / 1e9,
      stream[f, "first"] / rate[f, "bus"], stream[f, "load device"] / rate[f, "bus"], ms[f, "load"], ms[f, "load device"]}}'
}

case $part in
  solve) measure_solves; print_solves ;;
  text) measure_text; print_text ;;
  *) echo "what is '$part'? solve or text" >&2; exit 2 ;;
esac

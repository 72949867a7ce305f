#!/usr/bin/env bash
# Measures steps, solves, transposes and transforms on GPUs of this host.
#   scripts/measure_gpus.sh N [FOLDER]
# N GPUs, one rank each; for comparison one, two, four, ... of them. FOLDER, by default `gpus`, gets a file of JSON and a
# log for each measurement, named after it. A measurement that is there already is not repeated, so an interrupted
# script goes on where it was. The steps take ten minutes on four H100s. Needs Open MPI. `sluice-post bench
# FOLDER/fft*.json` shows transforms. Compare the GPUs, each measured alone on 384 planes, before all else: one that is
# slower than the others under load slows every run in which it takes part.
#
# SLUICE         program to measure, by default the `sluice` on the PATH
# PRECISIONS     those to measure, by default "double single"
# PARTS          some of "steps solvers transposes transforms"; by default all
# EXCHANGES      methods of exchange, by default "peer nccl"
# REPEATS        steps that count, by default 40
# LIMIT          seconds after which a measurement is ended, by default 300
#
# CUDA_VISIBLE_DEVICES, if it is set, names the GPUs; the first N of it are used.
set -uo pipefail
ranks=${1:?usage: scripts/measure_gpus.sh N [FOLDER]}
folder=${2:-gpus}
parts=${PARTS:-steps solvers transposes transforms}
exchanges=${EXCHANGES:-peer nccl}
repeats=${REPEATS:-40}
program=${SLUICE:-sluice}
precisions=${PRECISIONS:-double single}
mkdir -p "$folder"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
IFS=, read -ra gpus <<<"${CUDA_VISIBLE_DEVICES:-$(seq -s, 0 $((ranks - 1)))}"
if ((${#gpus[@]} < ranks)); then
  echo "CUDA_VISIBLE_DEVICES has ${#gpus[@]} GPUs, not $ranks" >&2
  exit 1
fi
failed=0
running=()
next_gpu=0

finish() {  # waits for what runs
  for job in "${running[@]}"; do wait "$job" || failed=$((failed + 1)); done
  running=()
  next_gpu=0
}

stop() {  # an interrupt does not reach what runs in the background
  trap - EXIT
  for job in "${running[@]}"; do pkill -TERM -P "$job"; done
  wait
  exit "$1"
}
trap 'stop 130' INT
trap 'stop 143' TERM
trap 'stop $?' EXIT

# start NAME GPUS PRECISION BENCHMARK [OPTION]...: on the next GPUs that are free, after what runs if those do not suffice
start() {
  local name=$1 count=$2 precision=$3
  shift 3
  if [[ " $precisions " != *" $precision "* || -s $folder/$name.json ]]; then return; fi
  if ((next_gpu + count > ranks)); then finish; fi
  local first=$next_gpu
  next_gpu=$((next_gpu + count))
  echo "$(date +%T) $name"
  CUDA_VISIBLE_DEVICES=$(IFS=,; echo "${gpus[*]:first:count}") \
    timeout -k 20 "${LIMIT:-300}" mpirun --bind-to none --oversubscribe -n "$count" "$program" bench "$@" --precision "$precision" --json "$folder/$name.part" \
    >"$folder/$name.log" 2>&1 && mv "$folder/$name.part" "$folder/$name.json" || { echo "failed: $name, see $folder/$name.log"; false; } &
  running+=($!)
}

counts=(1)
while ((2 * counts[-1] < ranks)); do counts+=($((2 * counts[-1]))); done
if ((ranks > 1)); then counts+=("$ranks"); fi

# grids COUNT: process grids py,pz
grids() {
  echo "1,$1"
  if (($1 > 1 && $1 % 2 == 0)); then echo "2,$(($1 / 2))"; fi
}

# step NAME COUNT PRECISION GRID PROCESS_GRID EXCHANGE FLOW [OPTION]...
step() {
  local name=$1 count=$2 precision=$3 grid=$4 processes=$5 exchange=$6 flow=$7
  shift 7
  local options=(--order 4 --diffusion implicit_z)
  if [[ $flow == explicit2 ]]; then options=(--order 2 --diffusion explicit); fi
  start "step_${name}_${flow}_${precision}_${processes/,/x}_$exchange" "$count" "$precision" step --grid "$grid" \
    --process-grid "$processes" --exchange "$exchange" "${options[@]}" --repeats "$repeats" "$@"
}

# Weak scaling: thick slabs and thin ones on each GPU, and each GPU alone. Strong scaling: a large grid, and a small one.
steps() {
  local precision flow count processes exchange gpu planes
  for precision in double single; do
    for flow in explicit2 implicit4; do
      for planes in 384 32; do
        for ((gpu = 0; gpu < ranks; ++gpu)); do step "${planes}_gpu$gpu" 1 $precision 1024,768,$planes 1,1 peer $flow; done
        for count in "${counts[@]:1}"; do
          for processes in $(grids "$count"); do
            if [[ $planes == 32 && $processes != 1,* ]]; then continue; fi
            for exchange in $exchanges; do
              step $planes "$count" $precision 1024,768,$((planes * count)) "$processes" $exchange $flow
            done
          done
        done
      done
      for count in "${counts[@]}"; do
        for processes in $(grids "$count"); do
          for exchange in $exchanges; do
            if ((count > 1)) || [[ $exchange == "${exchanges%% *}" ]]; then
              step small "$count" $precision 256,192,144 "$processes" "$exchange" $flow
            fi
          done
        done
        for exchange in $exchanges; do
          if ((count > 1)) || [[ $exchange == "${exchanges%% *}" ]]; then
            step large "$count" $precision 1024,1024,768 "1,$count" "$exchange" $flow
          fi
        done
      done
    done
  done
  finish
}

# Tridiagonal systems along a split z: P-TDMA, and transposes to whole lines. The solves of a substep by these and by the
# full-transpose method from z pencils.
solvers() {
  local method processes exchange
  if ((ranks == 1)); then return; fi
  for processes in $(grids "$ranks"); do
    for exchange in $exchanges; do
      start "solve_${processes/,/x}_$exchange" "$ranks" double solve --grid 1024,1024,768 --process-grid "$processes" \
        --exchange $exchange --repeats "$repeats"
      for method in ptdma transpose; do
        local common=(--process-grid "$processes" --exchange $exchange --tridiagonal $method --repeats "$repeats")
        local name=${method}_${processes/,/x}_$exchange
        start "tridiagonal_$name" "$ranks" double tridiagonal --grid 1024,1024,768 "${common[@]}"
        start "poisson_$name" "$ranks" double poisson --grid 1024,1024,768 "${common[@]}"
        if [[ $exchange == peer ]]; then
          start "step_solver_$name" "$ranks" double step --grid 1024,1024,768 --diffusion implicit_z --order 4 "${common[@]}"
        fi
      done
    done
  done
  finish
}

# Between pencils: `xz` directly, or over y as `xy` and `yz`.
transposes() {
  local precision
  if ((ranks == 1)); then return; fi
  for precision in double single; do
    for exchange in $exchanges; do
      start "transpose1024_${precision}_$exchange" "$ranks" $precision transpose --grid 1024,1024,1024 --all --exchange $exchange --repeats 10
    done
  done
  start transpose512_double "$ranks" double transpose --grid 512,512,512 --all --repeats 10 --time-limit .25
  start links "$ranks" double links --bytes 268435456
  start links_1k "$ranks" double links --bytes 1024
  finish
}

# All decompositions and layouts, beside the library's own transform: 512^3 with every method, larger ones with those
# that do not pass through the host, 1024^3 also with three that do, and 2048^3 on four GPUs or more.
transforms() {
  local precision exchange count
  for precision in double single; do
    for count in "${counts[@]}"; do
      for exchange in $exchanges; do
        if [[ $count == 1 && $exchange != "${exchanges%% *}" ]]; then continue; fi
        start "fft_${precision}_${count}_$exchange" "$count" $precision fft --grid 256,256,256 --grid 512,512,512 \
          --grid 1024,1024,1024 --all --exchange $exchange --repeats 10 --time-limit 1
      done
    done
  done
  finish
  for precision in single double; do
    if ((ranks < 4)); then break; fi
    for exchange in $exchanges; do
      start "fft2048_${precision}_$exchange" "$ranks" $precision fft --grid 2048,2048,2048 --all --exchange $exchange \
        --repeats 5 --warm-up 2 --time-limit 2
    done
  done
  for precision in double single; do
    if ((ranks == 1)); then break; fi
    start "fft512_${precision}_all" "$ranks" $precision fft --grid 512,512,512 --all --repeats 10 --time-limit .25
    for exchange in mpi_p2p mpi_streams mpi_pipelined; do
      start "fft1024_${precision}_$exchange" "$ranks" $precision fft --grid 1024,1024,1024 --kind slab_2d_1d \
        --layout contiguous --exchange $exchange --repeats 5 --time-limit 4
    done
  done
  finish
}

for part in $parts; do
  case $part in
    steps | solvers | transposes | transforms) "$part" ;;
    *) echo "PARTS: $part is none of steps, solvers, transposes, transforms" >&2; exit 1 ;;
  esac
done
echo "$(date +%T) done, $failed failed"
((failed == 0))

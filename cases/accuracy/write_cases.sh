#!/usr/bin/env bash
# Writes case.yaml into FOLDER for both orders on four grids, as FOLDER/order4_128x96x144.yaml and so on. Each run
# writes into a folder of the same name beside its case. VELOCITY, 0.6 by default, is that of the grid.
#   cases/accuracy/write_cases.sh FOLDER [VELOCITY]
set -euo pipefail
case_file=$(dirname "${BASH_SOURCE[0]}")/case.yaml
folder=${1:?usage: write_cases.sh FOLDER [VELOCITY]}
velocity=${2:-0.6}
mkdir -p "$folder"
for cells in "384 256 144" "256 192 144" "192 128 144" "128 96 144"; do
  for order in 2 4; do
    name=order${order}_${cells// /x}
    sed -e "s/^  cells: .*/  cells: [${cells// /, }]/" -e "s/^  order: .*/  order: $order/" \
        -e "s/^  velocity: .*/  velocity: $velocity/" -e "s/^  directory: .*/  directory: $name/" \
        "$case_file" >"$folder/$name.yaml"
    echo "$folder/$name.yaml"
  done
done

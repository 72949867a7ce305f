#!/usr/bin/env bash
# From a fresh Debian 12 or Ubuntu 24.04 machine to a turbulent channel and its report: installs what is missing, builds, runs
# cases/quickstart on the available cores, and writes the report. About 5 minutes on two cores, besides downloads and the build.
#   scripts/quickstart.sh [KEY=VALUE]...      KEY=VALUE: changes to the case, as of sluice run --set
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

"$root/scripts/install_packages.sh"
echo "Building Sluice"
configure_and_build "$root/build" -DSLUICE_TESTS=OFF -DSLUICE_PRECISIONS=double
python_environment "$root/build/python"

settings=()
for setting in "$@"; do settings+=(--set "$setting"); done
output=${SLUICE_OUTPUT:-$root/out/quickstart}
ranks=$cores
((ranks <= 6)) || ranks=6  # the case has 6 z blocks
mpirun -n "$ranks" --bind-to none "$root/build/sluice" run "$root/cases/quickstart/case.yaml" --output "$output" --overwrite "${settings[@]}"
"$root/build/python/bin/sluice-post" report "$output"
echo "Open $output/report.html"

#!/usr/bin/env bash
# Installs what is missing, builds, and runs the CPU tests: the tests alone take 35 minutes on two cores (547e0cb).
#   scripts/test.sh [--quick] [CTEST OPTION]...        for example -L unit, or -R poisson
# --quick: only the tests with the label `quick`, and the checks of .ci/lint that take seconds: two minutes on two cores.
# SLUICE_TEST_PACKAGES names further Python packages to install: the tests with ParaView's reader need vtk, which is large.
# SLUICE_TEST_OPTIONS: further options for cmake.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

quick=false
options=()
for option in "$@"; do
  if [[ $option == --quick ]]; then quick=true; else options+=("$option"); fi
done
if $quick; then
  options+=(-L '^quick$')
  target=quick_tests
fi

"$root/scripts/install_packages.sh"
python_environment "$root/build-test/python" "${test_packages[@]}" ${SLUICE_TEST_PACKAGES:-}
python_package "$root/build-test/python"
echo "Building Sluice and its tests"
configure_and_build "$root/build-test" -DSLUICE_TESTS=ON -DSLUICE_PRECISIONS=double -DCMAKE_EXPORT_COMPILE_COMMANDS=ON "${python_package[@]}" \
  ${SLUICE_TEST_OPTIONS:-}
export PATH="$root/build-test/python/bin:$PATH"

if $quick; then "$root/.ci/lint" --quick; fi
ctest --test-dir "$root/build-test" --output-on-failure -j $((3 * cores)) -LE "gpu|long" "${options[@]}"

#!/usr/bin/env bash
# Builds the Debian packages sluice-dns and libsluice-dev into build-package/. Built on Debian 12, they install there and on Ubuntu
# 24.04. Then test them: scripts/test_packages.sh.
# Environment: SLUICE_MARCH   processors of the code; x86-64-v3 unless given, those with AVX2
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

"$root/scripts/install_packages.sh" dpkg-dev
configure_and_build "$root/build-package" -DSLUICE_NATIVE=OFF -DSLUICE_TESTS=OFF "-DCMAKE_CXX_FLAGS=-march=${SLUICE_MARCH:-x86-64-v3}"
rm -f "$root"/build-package/*.deb
(cd "$root/build-package" && cpack) >>"$root/build-package.log" 2>&1 || { tail -n 30 "$root/build-package.log" >&2; exit 1; }
ls -l "$root"/build-package/*.deb

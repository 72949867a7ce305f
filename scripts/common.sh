# Sourced by the other scripts: where things are, and how to build and to start processes.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cores=$(lscpu -p=CORE,SOCKET 2>/dev/null | grep -v '^#' | sort -u | wc -l)  # not hardware threads: mpirun counts cores
((cores >= 1 && cores <= $(nproc))) || cores=$(nproc)
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1  # containers often run as root

target=all
# configure_and_build FOLDER [CMAKE OPTION...]: builds everything, or what the variable `target` names
configure_and_build() {
  local folder=$1
  shift
  cmake -S "$root" -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=Release "$@" >"$folder.log" 2>&1 || { cat "$folder.log" >&2; return 1; }
  cmake --build "$folder" -j "$cores" --target "$target" >>"$folder.log" 2>&1 || { tail -n 50 "$folder.log" >&2; return 1; }
}

# What the tests need besides sluice_post. Tests with ParaView's reader also need vtk, which is large.
test_packages=(pytest hypothesis array-api-strict bokeh zarr playwright nbclient nbformat ipykernel jsonschema pyyaml gymnasium pettingzoo)

# python_package FOLDER: sets the array python_package to the CMake options that build the package sluice for the Python
# environment in FOLDER; to none if pip cannot get what that needs.
python_package() {
  local python=$1/bin/python
  python_package=()
  if "$python" -m pip install --quiet --disable-pip-version-check nanobind mpi4py; then
    python_package=(-DSLUICE_PYTHON=ON "-DPython_EXECUTABLE=$python")
  else
    echo "Without the Python package sluice: pip cannot install nanobind and mpi4py" >&2
  fi
}

# Python environment with sluice_post and what sluice_post.open needs, kept in FOLDER:
# python_environment FOLDER [EXTRA PIP PACKAGE...]
python_environment() {
  local folder=$1
  shift
  [[ -x $folder/bin/python ]] || python3 -m venv "$folder"
  "$folder/bin/python" -m pip install --quiet --disable-pip-version-check "$root/postprocess[xarray]" "$@"
}

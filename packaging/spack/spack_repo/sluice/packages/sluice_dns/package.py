from spack_repo.builtin.build_systems.cmake import CMakePackage, generator
from spack_repo.builtin.build_systems.cuda import CudaPackage
from spack_repo.builtin.build_systems.python import PythonExtension

from spack.package import *


class SluiceDns(CMakePackage, CudaPackage, PythonExtension):
    """Direct numerical simulation of incompressible turbulent channel flow on CPUs and GPUs: the program sluice, its
    libraries for other codes and, with +python, the Python package sluice."""

    # scripts/release.sh fills in what stands between @ signs.
    homepage = "@REPOSITORY@"
    url = "@REPOSITORY@/releases/download/v@VERSION@/sluice-@VERSION@.tar.gz"

    license("BSD-3-Clause")

    version("@VERSION@", sha256="@SHA256@")

    variant(
        "precision",
        default="double,single",
        values=("double", "single"),
        multi=True,
        description="Precisions of fields and transforms that a case can choose",
    )
    variant("python", default=False, description="Python package sluice")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.22:", type="build")
    generator("ninja")

    depends_on("mpi")
    depends_on("hdf5@1.10:+mpi")
    depends_on("fmt@9.1:")
    depends_on("yaml-cpp@0.7:")
    depends_on("cli11@2.1.2:", type="build")
    depends_on("nlohmann-json@3.11.2:", type="build")
    depends_on("fftw@3.3: precision=double", when="~cuda precision=double")
    depends_on("fftw@3.3: precision=float", when="~cuda precision=single")
    depends_on("cuda@12:", when="+cuda")
    depends_on("nccl+cuda", when="+cuda")
    for arch in CudaPackage.cuda_arch_values:
        depends_on(f"nccl cuda_arch={arch}", when=f"+cuda cuda_arch={arch}")
    conflicts("cuda_arch=none", when="+cuda", msg="Name the compute capability of the GPUs, such as cuda_arch=90")
    conflicts("%gcc@:11", msg="Sluice needs all of C++20: g++ 12 or later")

    with when("+python"):
        extends("python@3.10:", type=("build", "link", "run"))
        depends_on("py-nanobind@2.9:", type="build")
        depends_on("py-numpy@1.24:", type=("build", "run"))
        depends_on("py-mpi4py@3.1:", type=("build", "run"))

    def cmake_args(self):
        args = [
            self.define("SLUICE_NATIVE", False),  # Spack's compiler wrappers name the processor
            self.define("SLUICE_TESTS", self.run_tests),
            self.define("SLUICE_PRECISIONS", [p for p in ("double", "single") if f"precision={p}" in self.spec]),
            self.define_from_variant("SLUICE_CUDA", "cuda"),
            self.define_from_variant("SLUICE_PYTHON", "python"),
        ]
        if "+cuda" in self.spec:
            args.append(self.define("CMAKE_CUDA_ARCHITECTURES", self.spec.variants["cuda_arch"].value))
        if "+python" in self.spec:
            args.append(self.define("Python_EXECUTABLE", python.path))
        return args

    @run_after("install", when="+python")
    def install_python(self):
        cmake("--install", self.builder.build_directory, "--component", "python", "--prefix", python_platlib)
        install_tree("python/sluice", join_path(python_platlib, "sluice"))

    def test_case(self):
        """run two steps of a small channel flow"""
        sluice = which(self.prefix.bin.sluice)
        with open("case.yaml", "w") as case:
            case.write(sluice("init", "quickstart", output=str))
        out = sluice("run", "case.yaml", "--steps", "2", "--set", "grid.cells=[16,18,24]", output=str)
        assert "2 steps" in out

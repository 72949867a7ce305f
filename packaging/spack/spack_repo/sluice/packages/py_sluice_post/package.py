from spack_repo.builtin.build_systems.python import PythonPackage

from spack.package import *


class PySluicePost(PythonPackage):
    """Statistics, figures and reports of channel flows that Sluice has computed: the command sluice-post."""

    # scripts/release.sh fills in what stands between @ signs.
    homepage = "@REPOSITORY@"
    url = "@REPOSITORY@/releases/download/v@VERSION@/sluice-@VERSION@.tar.gz"

    license("BSD-3-Clause")

    version("@VERSION@", sha256="@SHA256@")

    variant("watch", default=False, description="Live page of a running case: sluice-post watch")

    build_directory = "postprocess"

    depends_on("python@3.10:", type=("build", "run"))
    depends_on("py-setuptools@61:", type="build")
    with default_args(type=("build", "run")):
        depends_on("py-numpy@1.22:")
        depends_on("py-scipy@1.8:")
        depends_on("py-h5py@3.6:")
        depends_on("py-pandas@1.5:")
        depends_on("py-matplotlib@3.6:")
        depends_on("py-pillow@9:")
        depends_on("py-jinja2@3:")
        depends_on("py-pyyaml@6:")
        depends_on("py-xarray@2023.1:")
        depends_on("py-h5netcdf@1.1:")
        depends_on("py-bokeh@3.5:", when="+watch")

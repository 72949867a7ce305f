"""Tables as CSV."""

import numpy as np
import xarray as xr

from sluice_post.export import csv_text


def test_columns_and_datasets_as_csv() -> None:
    assert csv_text({"z": np.array([0.1, 1 / 3]), "n": np.array([1, 2]), "of": ["a", "b"]}) == (
        "z,n,of\n0.1,1,a\n0.3333333333,2,b\n"
    )
    found = xr.Dataset({"u": (("z", "t"), [[1.0, 2.0], [np.nan, 4.0]]), "c": ("t", [5, 6])}, {"z": [0.0, 1.0]})
    assert csv_text(found) == "z,u,c\n0,1,5\n0,2,6\n1,nan,5\n1,4,6\n"

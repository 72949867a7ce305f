"""The work of buoyancy in the budgets of Reynolds stresses, from the profiles of the scalar that makes fluid light.

The force is F = -g beta (c - c_0) e_g. Each stress changes at the rate <u_i' F_j'> + <u_j' F_i'>. The scheme's own
fluxes give uu, vv and ww exactly (docs/equations.md, Budgets), uw to second order in the cell sizes.
"""

from __future__ import annotations

import numpy as np

from sluice_post.arrays import Array
from sluice_post.parameters import Buoyancy
from sluice_post.statistics import Means
from sluice_post.wall_view import WallView


def buoyancy_terms(means: Means, view: WallView, buoyancy: Buoyancy) -> dict[str, Array]:
    """Rates of change of uu and vv at the centres, of ww on the faces and of uw on the inner ones, seen as in `view`.

    Only of the stresses that gravity in this direction acts on; none at all if the profiles of the scalar are missing.
    `means`: the stored ones, over the whole height, that `view` is a view of.
    """
    name = buoyancy.scalar.name
    if f"{name}_w" not in means.scalars:
        return {}
    x, y, z = (-buoyancy.coefficient * component for component in buoyancy.gravity)
    c, wc = means.scalars[name] - buoyancy.reference, means.scalars[f"{name}_w"]

    def product(component: str, frame: float) -> Array:
        """<u (c - c_0)> or <v (c - c_0)> in the frame of the view."""
        of_c = means.scalars[f"{name}_{component}"] - frame * means.scalars[name]
        return np.asarray(of_c - buoyancy.reference * (means.centre[component] - frame))

    def seen(values: Array, directions: str) -> Array:
        """A profile in which these directions occur, averaged over the images of the flow."""
        images = [
            (-1) ** sum(direction in image for direction in directions) * values[:: -1 if "z" in image else 1]
            for image in view.images
        ]
        return np.asarray(np.mean(images, axis=0))

    u, v = view.means.centre["u"], view.means.centre["v"]
    uc, vc = product("u", view.frame[0]), product("v", view.frame[1])
    terms = {}
    if x != 0:
        terms["uu"] = 2 * (seen(x * uc, "") - u * seen(x * c, "x"))
    if y != 0:
        terms["vv"] = 2 * (seen(y * vc, "") - v * seen(y * c, "y"))
    if z != 0:
        terms["ww"] = 2 * seen(z * wc, "")
    if x != 0 or z != 0:
        at_centres = seen(z * uc, "xz") - u * seen(z * c, "z")
        terms["uw"] = (at_centres[1:] + at_centres[:-1]) / 2 + seen(x * wc, "xz")[1:-1]
    return terms

"""Pictures of 3-D Gaussians, differentiable in everything that the scene is made of.

    camera = mg.splat.Camera(width=64, height=64, focal=(70.0, 70.0))
    image = mg.splat.render(positions, scales, rotations, opacities, colours, camera=camera)

Each Gaussian is projected to an ellipse on the screen, and the ellipses are blended from front to back (Kerbl, Kopanas,
Leimkühler and Drettakis, "3D Gaussian splatting for real-time radiance field rendering", 2023; the projection is
that of Zwicker, Pfister, van Baar and Gross, "EWA splatting", 2002). Gradients are those of the picture that was drawn,
and none is cut off; which of two is in front, and what is too faint to draw, has none.
"""

from __future__ import annotations

from math import pi, sqrt
from typing import Any, NamedTuple

from . import ops
from .ops.splat import blend, gaussian_alpha
from .readings import vocabulary
from .tensor import Tensor
from .variable import Variable

__all__ = ["Camera", "blend", "gaussian_alpha", "render", "spherical_harmonics"]

np = vocabulary.device("cpu").library

BLUR = 0.3
"""Added to the variance of every ellipse, in pixels²: none falls between pixels."""


class Camera(NamedTuple):
    """A pinhole. A point p of the world is at `rotation @ p + translation` before it: x to the right, y down, z on."""

    width: int
    height: int
    focal: tuple[float, float]
    """In pixels, across and down."""
    centre: tuple[float, float] | None = None
    """Where the axis meets the screen, in pixels; by default the middle."""
    rotation: Any = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    translation: Any = (0.0, 0.0, 0.0)


def render(
    positions: Any,
    scales: Any,
    rotations: Any,
    opacities: Any,
    colours: Any = None,
    *,
    camera: Camera,
    harmonics: Any = None,
    background: Any = (0.0, 0.0, 0.0),
    near: float = 0.01,
    cutoff: float = 1 / 255,
    stop: float = 1e-4,
) -> Any:
    """The picture, (height, width, 3), of G Gaussians.

    `positions` (G, 3); `scales` (G, 3), the standard deviation along each of its own axes; `rotations` (G, 4),
    quaternions (w, x, y, z) of any length; `opacities` (G,), from 0 to 1. Either `colours` (G, 3), or `harmonics`
    (G, K, 3), the coefficients of 1, 4, 9 or 16 spherical harmonics: a colour that depends on where one stands. What is
    nearer than `near` is not drawn.
    """
    if (colours is None) == (harmonics is None):
        raise ValueError("splat.render: give either colours (G, 3) or harmonics (G, K, 3)")
    positions, scales, rotations, opacities = (_tensor(x) for x in (positions, scales, rotations, opacities))
    _refuse_other_shapes(positions, scales=scales, rotations=rotations, opacities=opacities)
    turned, moved = _constant(camera.rotation, positions), _constant(camera.translation, positions)
    before = positions @ turned.T + moved
    if harmonics is not None:
        colours = _seen_from(positions, -(moved @ turned), _tensor(harmonics))
    order = _front_to_back(before, near)
    before = ops.take(before, order, axis=0)
    centres = _projected(before, camera)
    spread = _spread(ops.take(scales, order, axis=0), ops.take(rotations, order, axis=0), turned)
    alpha = gaussian_alpha(
        _constant(np.arange(camera.width), positions) + 0.5 - centres[:, :1],
        _constant(np.arange(camera.height), positions) + 0.5 - centres[:, 1:],
        _conic(before, spread, camera),
        ops.take(opacities, order, axis=0),
        cutoff=cutoff,
    )
    flat = ops.reshape(alpha, shape=(-1, camera.height * camera.width))
    picture = blend(flat, ops.take(_tensor(colours), order, axis=0), _constant(background, positions), stop=stop)
    return ops.reshape(picture, shape=(camera.height, camera.width, -1))


def _front_to_back(before: Any, near: float) -> Any:
    """The numbers of the Gaussians that are ahead, the nearest first."""
    depth = before._data[:, 2]
    order = vocabulary.device_of(depth).words.argsort(depth)
    return order[depth[order] > near]


def _projected(before: Any, camera: Camera) -> Any:
    """The centres on the screen, (G, 2), in pixels."""
    middle = camera.centre or (camera.width / 2, camera.height / 2)
    return before[:, :2] / before[:, 2:] * _constant(camera.focal, before) + _constant(middle, before)


def _spread(scales: Any, rotations: Any, turned: Any) -> Any:
    """The axes of the ellipsoids before the camera, as the columns of (G, 3, 3), each as long as its deviation."""
    unit = rotations / ops.norm(rotations, axis=1, keepdims=True)
    w, x, y, z = ops.unstack(unit, axis=1)
    rows = [
        1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y),
        2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
        2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y),
    ]  # fmt: skip
    return turned @ (ops.reshape(ops.stack(rows, axis=1), shape=(-1, 3, 3)) * scales[:, None, :])


def _conic(before: Any, spread: Any, camera: Camera) -> Any:
    """a, b, c of the inverse covariance [[a, b], [b, c]] of each ellipse: (G, 3)."""
    x, y, z = before[:, 0:1], before[:, 1:2], before[:, 2:3]
    across = camera.focal[0] / z * (spread[:, 0] - x / z * spread[:, 2])
    down = camera.focal[1] / z * (spread[:, 1] - y / z * spread[:, 2])
    wide, tilt, high = ops.sum(across * across, axis=1), ops.sum(across * down, axis=1), ops.sum(down * down, axis=1)
    wide, high = wide + BLUR, high + BLUR
    return ops.stack([high, -tilt, wide], axis=1) / (wide * high - tilt * tilt)[:, None]


def _seen_from(positions: Any, eye: Any, harmonics: Any) -> Any:
    """The colours that coefficients (G, K, 3) mean as seen from a place; none is darker than black."""
    ahead = positions - eye
    basis = spherical_harmonics(ahead / ops.norm(ahead, axis=1, keepdims=True), harmonics.shape[1])
    return ops.relu(ops.sum(harmonics * basis[:, :, None], axis=1) + 0.5)


def spherical_harmonics(directions: Any, count: int) -> Any:
    """The first 1, 4, 9 or 16 real spherical harmonics in directions of length 1: (G, 3) to (G, count)."""
    if count not in (1, 4, 9, 16):
        raise ValueError(f"spherical harmonics come in 1, 4, 9 or 16, got {count}")
    x, y, z = ops.unstack(_tensor(directions), axis=1)
    xx, yy, zz = x * x, y * y, z * z
    values = [
        0.5 * sqrt(1 / pi) + 0 * x,
        -sqrt(3 / (4 * pi)) * y, sqrt(3 / (4 * pi)) * z, -sqrt(3 / (4 * pi)) * x,
        0.5 * sqrt(15 / pi) * x * y, -0.5 * sqrt(15 / pi) * y * z, 0.25 * sqrt(5 / pi) * (2 * zz - xx - yy),
        -0.5 * sqrt(15 / pi) * x * z, 0.25 * sqrt(15 / pi) * (xx - yy),
        -0.25 * sqrt(35 / (2 * pi)) * y * (3 * xx - yy), 0.5 * sqrt(105 / pi) * x * y * z,
        -0.25 * sqrt(21 / (2 * pi)) * y * (4 * zz - xx - yy), 0.25 * sqrt(7 / pi) * z * (2 * zz - 3 * xx - 3 * yy),
        -0.25 * sqrt(21 / (2 * pi)) * x * (4 * zz - xx - yy), 0.25 * sqrt(105 / pi) * z * (xx - yy),
        -0.25 * sqrt(35 / (2 * pi)) * x * (xx - 3 * yy),
    ]  # fmt: skip
    return ops.stack(values[:count], axis=1)


def _tensor(value: Any) -> Any:
    return value if isinstance(value, Variable) else Tensor.constant(value, "splat.render")


def _constant(value: Any, beside: Any) -> Any:
    """Numbers of the camera as a tensor that is of the scene's dtype, and where the scene is."""
    return ops.astype(_tensor(value), dtype=beside.dtype).to(beside.device)


def _refuse_other_shapes(positions: Any, **given: Any) -> None:
    """An error where the parts of a scene do not fit one another."""
    count = positions.shape[0] if positions.ndim else 0
    wanted = {"positions": (count, 3), "scales": (count, 3), "rotations": (count, 4), "opacities": (count,)}
    for name, value in {"positions": positions, **given}.items():
        if value.shape != wanted[name]:
            raise ValueError(f"splat.render: {name} has shape {value.shape}; of {count} Gaussians it is {wanted[name]}")

"""Differentiable rendering of 3-D Gaussians (Gaussian splatting).

    camera = mg.splat.Camera(width=64, height=64, focal=(70.0, 70.0))
    image = mg.splat.render(positions, scales, rotations, opacities, colours, camera=camera)

Each Gaussian is projected to an ellipse on the screen, and the ellipses are blended from front to back (Kerbl, Kopanas,
Leimkühler and Drettakis, "3D Gaussian splatting for real-time radiance field rendering", 2023; the projection follows
Zwicker, Pfister, van Baar and Gross, "EWA splatting", 2002). Gradients are exact for the rendered image; the order of
the Gaussians and those too faint to draw have none.
"""

from __future__ import annotations

from math import pi, sqrt
from typing import Any, NamedTuple

from ... import ops
from ...backends import devices
from ...core.variable import Variable
from ...tensor import Tensor
from .blending import blend, gaussian_alpha

__all__ = ["Camera", "blend", "gaussian_alpha", "render", "spherical_harmonics"]

np = devices.device("cpu").library

BLUR = 0.3
"""Added to the variance of every ellipse, in pixels²: none falls between pixels."""


class Camera(NamedTuple):
    """Pinhole camera: image size, focal lengths and pose.

    A point p of the world is at q = rotation @ p + translation before it: x to the right, y down, z on. It is seen at
    the pixel (focal[0] * x / z + centre[0], focal[1] * y / z + centre[1]).

    Args:
        width, height: of the picture, in pixels.
        focal: the focal lengths across and down, in pixels.
        centre: where the axis meets the screen, (across, down) in pixels; default None, the middle.
        rotation: a matrix (3, 3); default the identity.
        translation: a vector (3,); default 0.
    Raises: TypeError if width, height or focal is missing.
    Example:
        >>> mg.splat.Camera(width=64, height=48, focal=(70.0, 70.0)).translation
        (0.0, 0.0, 0.0)

    See: Hartley and Zisserman, "Multiple view geometry in computer vision", 2004, on finite cameras.
    """

    width: int
    height: int
    focal: tuple[float, float]
    centre: tuple[float, float] | None = None
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
    """Render a scene of 3-D Gaussians (Gaussian splatting).

    Each Gaussian is projected to an ellipse on the screen, and the ellipses are blended from front to back. Gradients
    are exact for the rendered image; the order of the Gaussians has none.

    Shapes: positions (G, 3), scales (G, 3), rotations (G, 4), opacities (G,), and colours (G, 3) or harmonics (G, K, 3)
        -> (height, width, 3).
    Args:
        positions: the centres.
        scales: standard deviations along the axes of each Gaussian.
        rotations: how these axes are turned: quaternions (w, x, y, z) of any length but 0.
        opacities: how much the middle covers, from 0 to 1.
        colours: red, green and blue; or leave them out and give harmonics.
        camera: a `Camera`.
        harmonics: coefficients of 1, 4, 9 or 16 spherical harmonics: a colour that depends on the direction of view.
            What they add up to is moved by ½, and is never darker than black.
        background: the colour behind all; default black.
        near: Gaussians nearer to the camera than this are not drawn; default 0.01.
        cutoff: what covers less of a pixel counts as nothing; default 1 / 255.
        stop: where less light is left, the rest is not drawn; default 1e-4.
    Returns: a tensor of the dtype of positions, where they are: the rows of the picture from the top.
    Raises: ValueError if both or neither of colours and harmonics are given, where shapes do not fit one another, or
        the harmonics are not 1, 4, 9 or 16, or if there are more or fewer colours than Gaussians. TypeError if
        something is not made of numbers.
    Example:
        >>> camera = mg.splat.Camera(width=3, height=1, focal=(3.0, 3.0))
        >>> scene = [[0.0, 0.0, 3.0]], [[0.5, 0.5, 0.5]], [[1.0, 0.0, 0.0, 0.0]], [0.8], [[1.0, 0.0, 0.5]]
        >>> mg.splat.render(*scene, camera=camera).round(2).tolist()
        [[[0.32, 0.0, 0.16], [0.8, 0.0, 0.4], [0.32, 0.0, 0.16]]]

    See: Kerbl, Kopanas, Leimkühler and Drettakis, "3D Gaussian splatting for real-time radiance field rendering", 2023;
        Zwicker, Pfister, van Baar and Gross, "EWA splatting", 2002, for the projection.
    """
    if (colours is None) == (harmonics is None):
        raise ValueError("splat.render: give either colours (G, 3) or harmonics (G, K, 3)")
    positions, scales, rotations, opacities = (_tensor(x) for x in (positions, scales, rotations, opacities))
    _refuse_other_shapes(positions, scales=scales, rotations=rotations, opacities=opacities)
    turned, moved = _constant(camera.rotation, positions), _constant(camera.translation, positions)
    before = positions @ turned.T + moved
    colours = _tensor(colours) if harmonics is None else None
    if colours is None:
        colours = _colours_from(positions, -(moved @ turned), _tensor(harmonics))
    if colours.ndim != 2 or len(colours) != len(before):
        raise ValueError(f"splat.render: colours has shape {colours.shape}; of {len(before)} Gaussians each has a row")
    order = _front_to_back(before, near)
    before = ops.take(before, order, axis=0)
    centres = _project(before, camera)
    spread = _spread(ops.take(scales, order, axis=0), ops.take(rotations, order, axis=0), turned)
    alpha = gaussian_alpha(
        _constant(np.arange(camera.width), positions) + 0.5 - centres[:, :1],
        _constant(np.arange(camera.height), positions) + 0.5 - centres[:, 1:],
        _conic(before, spread, camera),
        ops.take(opacities, order, axis=0),
        cutoff=cutoff,
    )
    flat = ops.reshape(alpha, shape=(-1, camera.height * camera.width))
    picture = blend(flat, ops.take(colours, order, axis=0), _constant(background, positions), stop=stop)
    return ops.reshape(picture, shape=(camera.height, camera.width, -1))


def _front_to_back(before: Any, near: float) -> Any:
    """Return the indices of the Gaussians in front of the camera, nearest first."""
    depth = before._data[:, 2]
    order = devices.device_of(depth).namespace.argsort(depth)
    return order[depth[order] > near]


def _project(before: Any, camera: Camera) -> Any:
    """Return the centres on the screen, (G, 2), in pixels."""
    middle = camera.centre or (camera.width / 2, camera.height / 2)
    return before[:, :2] / before[:, 2:] * _constant(camera.focal, before) + _constant(middle, before)


def _spread(scales: Any, rotations: Any, turned: Any) -> Any:
    """Return the axes of the ellipsoids in camera coordinates, the columns of (G, 3, 3), scaled by their deviations."""
    unit = rotations / ops.norm(rotations, axis=1, keepdims=True)
    w, x, y, z = ops.unstack(unit, axis=1)
    rows = [
        1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y),
        2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
        2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y),
    ]  # fmt: skip
    return turned @ (ops.reshape(ops.stack(rows, axis=1), shape=(-1, 3, 3)) * scales[:, None, :])


def _conic(before: Any, spread: Any, camera: Camera) -> Any:
    """Return a, b, c of the inverse covariance [[a, b], [b, c]] of each ellipse: (G, 3)."""
    x, y, z = before[:, 0:1], before[:, 1:2], before[:, 2:3]
    across = camera.focal[0] / z * (spread[:, 0] - x / z * spread[:, 2])
    down = camera.focal[1] / z * (spread[:, 1] - y / z * spread[:, 2])
    wide, tilt, high = ops.sum(across * across, axis=1), ops.sum(across * down, axis=1), ops.sum(down * down, axis=1)
    wide, high = wide + BLUR, high + BLUR
    return ops.stack([high, -tilt, wide], axis=1) / (wide * high - tilt * tilt)[:, None]


def _colours_from(positions: Any, eye: Any, harmonics: Any) -> Any:
    """Return the colours of harmonic coefficients (G, K, 3) as seen from a position, at least 0."""
    ahead = positions - eye
    basis = spherical_harmonics(ahead / ops.norm(ahead, axis=1, keepdims=True), harmonics.shape[1])
    return ops.relu(ops.sum(harmonics * basis[:, :, None], axis=1) + 0.5)


def spherical_harmonics(directions: Any, count: int) -> Any:
    """Compute the first 1, 4, 9 or 16 real spherical harmonics for unit directions.

    The first is √(1 / 4π); the next three are √(3 / 4π) times -y, z and -x; functions of second and third order are
    products of two and three coordinates. Signs and order are as in 3-D Gaussian splatting.

    Shapes: directions (G, 3) -> (G, count).
    Args:
        directions: unit vectors (x, y, z).
        count: 1, 4, 9 or 16.
    Returns: a tensor of the dtype of directions.
    Raises: ValueError for another count, or if directions does not have three columns.
    Example:
        >>> mg.splat.spherical_harmonics([[0.48, 0.6, 0.64]], count=4).round(4).tolist()
        [[0.2821, -0.2932, 0.3127, -0.2345]]

    See: scipy.special.sph_harm_y, the complex ones; Sloan, "Stupid spherical harmonics tricks", 2008.
    """
    if count not in (1, 4, 9, 16):
        raise ValueError(f"the number of spherical harmonics must be 1, 4, 9 or 16, got {count}")
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
    """Return numbers of the camera as a tensor with the scene's dtype and device."""
    return ops.astype(_tensor(value), dtype=beside.dtype).to(beside.device)


def _refuse_other_shapes(positions: Any, **given: Any) -> None:
    """Raise ValueError if the parts of a scene do not match."""
    count = positions.shape[0] if positions.ndim else 0
    wanted = {"positions": (count, 3), "scales": (count, 3), "rotations": (count, 4), "opacities": (count,)}
    for name, value in {"positions": positions, **given}.items():
        if value.shape != wanted[name]:
            raise ValueError(f"splat.render: {name} has shape {value.shape}; of {count} Gaussians it is {wanted[name]}")

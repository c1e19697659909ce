"""Gaussian splats: soft ellipses on a screen, blended from front to back. G of them, over H rows and W columns.

Kerbl, Kopanas, Leimkühler and Drettakis, "3D Gaussian splatting for real-time radiance field rendering", 2023.
"""

from ...core.define import op, real_only


@op(residuals=("bell",))
def gaussian_alpha(xp, across, down, conic, opacity, *, cutoff=1 / 255, ceiling=0.99):
    """Compute the opacity of each projected Gaussian at each pixel.

        alpha[g, i, j] = opacity * exp(-½ * (a * x² + c * y²) - b * x * y), with x = across[g, j] and y = down[g, i]

    What covers less than `cutoff` counts as nothing, and nothing covers more than `ceiling`; neither sends a gradient
    back.
    Shapes: across (G, W), down (G, H), conic (G, 3), opacity (G,) -> (G, H, W).
    Args:
        across: horizontal distances of the columns from the centre of each Gaussian, in pixels.
        down: vertical distances of the rows from it.
        conic: a, b and c of the inverse covariance [[a, b], [b, c]], in 1 / pixels².
        opacity: the opacity at the centre, from 0 to 1.
        cutoff: opacities below it count as 0; default 1 / 255, the smallest step of an 8-bit image.
        ceiling: the largest opacity; default 0.99, so that some light passes.
    Raises: TypeError if an input is complex; IndexError if conic has fewer than three columns; ValueError if the shapes
        do not broadcast.
    >>> mg.splat.gaussian_alpha([[-1.0, 0.0, 1.0]], [[0.0]], [[1.0, 0.0, 1.0]], [0.5]).round(3).tolist()
    [[[0.303, 0.5, 0.303]]]
    See: Kerbl, Kopanas, Leimkühler and Drettakis, "3D Gaussian splatting for real-time radiance field rendering", 2023.
    """
    x, y = across[:, None, :], down[:, :, None]
    a, b, c = conic[:, 0, None, None], conic[:, 1, None, None], conic[:, 2, None, None]
    bell = xp.exp(-0.5 * (a * x * x) - 0.5 * (c * y * y) - b * x * y)
    covered = opacity[:, None, None] * bell
    return xp.minimum(xp.where(covered < cutoff, 0.0, covered), ceiling), bell


@gaussian_alpha.rule("across", "down", "conic", "opacity")
def _(xp, upstream, across, down, conic, opacity, bell, cutoff, ceiling):
    """What arrives, weighted by the bell, is added up by column and by row: plain, and times the other distance."""
    covered = opacity[:, None, None] * bell
    arrived = upstream * bell * ((covered >= cutoff) & (covered < ceiling))
    moved = arrived * opacity[:, None, None]
    columns, rows = xp.sum(moved, axis=1), xp.sum(moved, axis=2)
    columns_down = xp.matmul(down[:, None, :], moved)[:, 0]
    rows_across = xp.matmul(moved, across[:, :, None])[:, :, 0]
    a, b, c = conic[:, 0:1], conic[:, 1:2], conic[:, 2:3]
    to_a = -0.5 * xp.sum(across * across * columns, axis=1)
    to_b = -xp.sum(across * columns_down, axis=1)
    to_c = -0.5 * xp.sum(down * down * rows, axis=1)
    to_across = -(a * across * columns + b * columns_down)
    to_down = -(c * down * rows + b * rows_across)
    return to_across, to_down, xp.stack([to_a, to_b, to_c], axis=1), xp.sum(arrived, axis=(1, 2))


@op(residuals=("weights", "light"))
@real_only
def blend(xp, alpha, colours, background, *, stop=1e-4):
    """Blend layers over one another, the first in front (alpha blending).

        light_g = Π_{h < g} (1 - alpha_h), light that passes the layers in front
        out = Σ_g alpha_g * light_g * colours_g + (1 - Σ_g alpha_g * light_g) * background

    If less light than `stop` is left, the rest is not drawn and receives no gradient.
    Shapes: alpha (G, P), colours (G, C), background (C,) -> (P, C), for G layers, P pixels and C colour channels.
    Args:
        alpha: opacity of each layer at each pixel, from 0 to 1.
        colours: one colour for each layer.
        background: the colour behind all layers.
        stop: the smallest amount of light that counts; default 1e-4.
    >>> mg.splat.blend([[0.5], [0.5]], [[1.0, 0.0], [0.0, 1.0]], background=[0.0, 0.0]).tolist()
    [[0.5, 0.25]]
    See: Porter and Duff, "Compositing digital images", 1984; Kerbl, Kopanas, Leimkühler and Drettakis, "3D Gaussian
        splatting for real-time radiance field rendering", 2023."""
    light = xp.cumprod(1 - alpha, axis=0, exclusive=True)
    weights = alpha * light * (light >= stop)
    left = 1 - xp.sum(weights, axis=0)
    return xp.matmul(xp.mT(weights), colours) + left[:, None] * background, weights, light


@blend.rule("alpha")
def _(xp, upstream, alpha, colours, background, light, stop):
    """A layer shows its own colour instead of what would be seen without it: that is carried along from the
    back. Nothing is divided, so a layer may let no light through."""
    drawn = alpha * (light >= stop)
    towards = xp.matmul(colours - background, xp.mT(upstream))
    seen = xp.recurrence(1 - drawn, drawn * towards, axis=0, reverse=True)
    return light * (towards - xp.shift_by_one(seen, axis=0, reverse=True)) * (light >= stop)


@blend.rule("colours")
def _(xp, upstream, weights):
    """A layer's colour is seen as much as the layer is."""
    return xp.matmul(weights, upstream)


@blend.rule("background")
def _(xp, upstream, weights):
    """The background is weighted by the light that is left."""
    return xp.matmul(1 - xp.sum(weights, axis=0), upstream)

"""Gaussian splats: soft ellipses on a screen, blended from front to back. G of them, over H rows and W columns.

Kerbl, Kopanas, Leimkühler and Drettakis, "3D Gaussian splatting for real-time radiance field rendering", 2023.
"""

from ..op import op, real_only


@op(keeps=("bell",))
def gaussian_alpha(xp, across, down, conic, opacity, *, cutoff=1 / 255, ceiling=0.99):
    """How much each Gaussian covers each pixel, (G, H, W). What covers less than `cutoff` counts as nothing, and
    nothing covers more than `ceiling`.

    `across` (G, W) and `down` (G, H) are the distances of columns and rows from the centre. `conic` (G, 3) holds a, b
    and c of the inverse covariance [[a, b], [b, c]], and `opacity` (G,) the height of the middle.
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


@op(keeps=("weights", "light"))
@real_only
def blend(xp, alpha, colours, background, *, stop=1e-4):
    """Layers over one another, the first in front: alpha (G, P) of P pixels, colours (G, C), background (C,) to (P, C).

    Each layer takes `alpha` of the light that those in front let through. Where less than `stop` is left, the rest is
    not drawn.
    """
    light = xp.cumprod(1 - alpha, axis=0, exclusive=True)
    weights = alpha * light * (light >= stop)
    left = 1 - xp.sum(weights, axis=0)
    return xp.matmul(xp.mT(weights), colours) + left[:, None] * background, weights, light


@blend.rule("alpha")
def _(xp, upstream, alpha, colours, background, light, stop):
    """A layer shows its own colour in the place of what would be seen without it: that is carried along from the
    back. Nothing is divided, so a layer may let no light through."""
    drawn = alpha * (light >= stop)
    towards = xp.matmul(colours - background, xp.mT(upstream))
    seen = xp.recurrence(1 - drawn, drawn * towards, axis=0, reverse=True)
    return light * (towards - xp.shift(seen, axis=0, reverse=True)) * (light >= stop)


@blend.rule("colours")
def _(xp, upstream, weights):
    """A layer's colour is seen as much as the layer is."""
    return xp.matmul(weights, upstream)


@blend.rule("background")
def _(xp, upstream, weights):
    """The background is seen by the light that is left."""
    return xp.matmul(1 - xp.sum(weights, axis=0), upstream)

"""Rendering of Gaussians: images, and gradients for every part of a scene."""

import numpy as np
import pytest

import micrograd_plus as mg

splat = mg.splat
TURNED = ((0.96, 0.0, -0.28), (0.0, 1.0, 0.0), (0.28, 0.0, 0.96))
CAMERA = splat.Camera(width=7, height=5, focal=(8.0, 9.0), rotation=TURNED, translation=(0.1, -0.2, 0.3))


def scene(count, seed=0, spread=0.8):
    """Return thin and round Gaussians in front of the camera."""
    rng = np.random.default_rng(seed)
    positions = rng.normal(size=(count, 3)) * spread + [0.0, 0.0, 3.5]
    scales = rng.uniform(0.1, 0.5, (count, 3))
    rotations = rng.normal(size=(count, 4)) * 2
    return positions, scales, rotations, rng.uniform(0.3, 0.9, count), rng.uniform(0, 1, (count, 3))


def by_hand(positions, scales, rotations, opacities, colours, camera, background):
    """Return the same picture, one pixel and one Gaussian at a time, directly from the papers."""
    turned, moved = np.array(camera.rotation), np.array(camera.translation)
    middle = camera.centre or (camera.width / 2, camera.height / 2)
    image = np.zeros((camera.height, camera.width, 3))
    before = positions @ turned.T + moved
    order = sorted(range(len(positions)), key=lambda g: before[g, 2])
    for row in range(camera.height):
        for column in range(camera.width):
            light = 1.0
            for g in order:
                x, y, z = before[g]
                fx, fy = camera.focal
                w, i, j, k = rotations[g] / np.linalg.norm(rotations[g])
                own = np.array([
                    [1 - 2 * (j * j + k * k), 2 * (i * j - w * k), 2 * (i * k + w * j)],
                    [2 * (i * j + w * k), 1 - 2 * (i * i + k * k), 2 * (j * k - w * i)],
                    [2 * (i * k - w * j), 2 * (j * k + w * i), 1 - 2 * (i * i + j * j)],
                ])  # fmt: skip
                world = own @ np.diag(scales[g] ** 2) @ own.T
                slope = np.array([[fx / z, 0, -fx * x / z**2], [0, fy / z, -fy * y / z**2]]) @ turned
                covariance = slope @ world @ slope.T + 0.3 * np.eye(2)
                offset = np.array([column + 0.5 - (fx * x / z + middle[0]), row + 0.5 - (fy * y / z + middle[1])])
                alpha = min(0.99, opacities[g] * np.exp(-0.5 * offset @ np.linalg.inv(covariance) @ offset))
                if z <= 0.01 or alpha < 1 / 255 or light < 1e-4:
                    continue
                image[row, column] += light * alpha * colours[g]
                light *= 1 - alpha
            image[row, column] += light * np.array(background)
    return image


def test_rendering_matches_the_formulas_of_the_papers():
    parts, background = scene(12), (0.1, 0.5, 0.2)
    image = splat.render(*parts, camera=CAMERA, background=background)
    assert image.shape == (5, 7, 3)
    assert np.allclose(image.numpy(), by_hand(*parts, CAMERA, background), rtol=1e-10, atol=1e-12)


def test_every_input_of_the_scene_has_its_true_gradient():
    positions, scales, rotations, opacities, colours = scene(6, seed=1)

    def render(*parts):
        return splat.render(*parts[:-1], camera=CAMERA, background=parts[-1])

    assert mg.gradcheck(render, (positions, scales, rotations, opacities, colours, np.array([0.2, 0.3, 0.4])))


@pytest.mark.parametrize("count", [1, 4, 9, 16])
def test_colours_by_spherical_harmonics_have_true_gradients(count):
    positions, scales, rotations, opacities, _ = scene(4, seed=2)
    harmonics = np.random.default_rng(3).normal(size=(4, count, 3)) * 0.3

    def render(positions, harmonics):
        return splat.render(positions, scales, rotations, opacities, harmonics=harmonics, camera=CAMERA)

    assert mg.gradcheck(render, (positions, harmonics))


def test_spherical_harmonics_are_orthonormal():
    rng = np.random.default_rng(0)
    steps, weights = np.polynomial.legendre.leggauss(12)
    turns = np.arange(24) * 2 * np.pi / 24 + rng.uniform()
    z, phi = np.meshgrid(steps, turns, indexing="ij")
    sideways = np.sqrt(1 - z * z)
    directions = np.stack([sideways * np.cos(phi), sideways * np.sin(phi), z], axis=-1).reshape(-1, 3)
    basis = splat.spherical_harmonics(directions, 16).numpy()
    area = np.repeat(weights * 2 * np.pi / 24, 24)
    assert np.allclose(basis.T @ (basis * area[:, None]), np.eye(16), atol=1e-12)


def test_nearer_gaussians_hide_those_behind():
    camera = splat.Camera(1, 1, (1.0, 1.0))
    flat = [[5.0, 5.0, 0.01]] * 2
    colours = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    for depths, seen in (((1.0, 2.0), [0.9, 0.09, 0.0]), ((2.0, 1.0), [0.09, 0.9, 0.0])):
        positions = [[0.0, 0.0, z] for z in depths]
        image = splat.render(positions, flat, [[1.0, 0, 0, 0]] * 2, [0.9, 0.9], colours, camera=camera)
        assert np.allclose(image.numpy()[0, 0], seen, atol=1e-12)


def test_gaussians_behind_the_camera_are_not_drawn():
    positions, scales, rotations, opacities, colours = scene(3)
    positions[1, 2] = -4.0
    leaf = mg.tensor(positions, requires_grad=True)
    image = splat.render(leaf, scales, rotations, opacities, colours, camera=splat.Camera(6, 6, (8.0, 8.0)))
    image.sum().backward()
    assert np.all(np.isfinite(image.numpy()))
    assert leaf.grad.numpy()[1].tolist() == [0, 0, 0]
    assert np.all(leaf.grad.numpy()[[0, 2]] != 0)


def test_an_empty_scene_is_the_background():
    nothing = [np.zeros((0, 3)), np.zeros((0, 3)), np.zeros((0, 4)), np.zeros(0), np.zeros((0, 3))]
    image = splat.render(*nothing, camera=CAMERA, background=(1.0, 0.5, 0.0))
    assert np.array_equal(image.numpy(), np.broadcast_to([1.0, 0.5, 0.0], (5, 7, 3)))


def test_nothing_is_drawn_behind_an_opaque_gaussian():
    alpha = np.full((6, 1), 0.95)
    colours = mg.tensor(np.arange(6.0)[:, None], requires_grad=True)
    picture = splat.blend(alpha, colours, [0.0], stop=1e-3)
    picture.sum().backward()
    assert np.allclose(colours.grad.numpy()[:, 0], [0.95, 0.95 * 0.05, 0.95 * 0.05**2, 0, 0, 0])


def test_rendering_keeps_float32():
    parts = [mg.tensor(part, dtype="float32", requires_grad=True) for part in scene(5)]
    image = splat.render(*parts, camera=CAMERA)
    image.sum().backward()
    assert image.dtype == np.float32
    assert {part.grad.dtype for part in parts} == {np.dtype("float32")}
    double = splat.render(*scene(5), camera=CAMERA)
    assert np.allclose(image.numpy(), double.numpy(), atol=1e-5)


def test_a_scene_can_be_learned_from_its_picture():
    positions, scales, rotations, opacities, colours = scene(8, seed=5)
    wanted = splat.render(positions, scales, rotations, opacities, colours, camera=CAMERA)
    rng = np.random.default_rng(6)
    learned = [mg.tensor(positions + rng.normal(size=positions.shape) * 0.1, requires_grad=True),
               mg.tensor(rng.uniform(size=colours.shape), requires_grad=True)]  # fmt: skip
    optimizer = mg.optim.Adam(learned, lr=0.02)

    def loss():
        image = splat.render(learned[0], scales, rotations, opacities, learned[1], camera=CAMERA)
        return ((image - wanted) ** 2).mean()

    before = loss().item()
    for _ in range(60):
        optimizer.zero_grad()
        loss().backward()
        optimizer.step()
    assert loss().item() < 0.02 * before


@pytest.mark.parametrize(("change", "sentence"), [
    (lambda p: {**p, "scales": np.ones((2, 3))}, r"scales has shape \(2, 3\); of 3 Gaussians it is \(3, 3\)"),
    (lambda p: {**p, "rotations": np.ones((3, 3))}, r"rotations has shape \(3, 3\); of 3 Gaussians it is \(3, 4\)"),
    (lambda p: {**p, "positions": np.ones(3)}, r"positions has shape \(3,\)"),
    (lambda p: {**p, "colours": None}, "give either colours"),
    (lambda p: {**p, "harmonics": np.ones((3, 4, 3))}, "give either colours"),
    (lambda p: {**p, "colours": None, "harmonics": np.ones((3, 5, 3))}, "must be 1, 4, 9 or 16, got 5"),
])  # fmt: skip
def test_a_scene_with_mismatched_shapes_is_rejected(change, sentence):
    names = ("positions", "scales", "rotations", "opacities", "colours")
    with pytest.raises(ValueError, match=sentence):
        splat.render(**change(dict(zip(names, scene(3), strict=True))), camera=CAMERA)

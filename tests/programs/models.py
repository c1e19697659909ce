"""Programs that run unchanged on both sides: `m` is torch or mg, and `F`, `nn` and `optim` belong to it.

Each is a function of a side and returns the numbers that a reader of its output would compare.
"""

import numpy as np

from .sides import normal_array

WORDS = ["emma", "olivia", "ava", "isabella", "sophia", "charlotte", "mia", "amelia", "harper", "evelyn"]
LETTERS = {letter: i for i, letter in enumerate([".", *sorted({*"".join(WORDS)})])}
SIZE = len(LETTERS)


def contexts(length):
    """Return every letter of every word, with the letters before it."""
    before, after = [], []
    for word in WORDS:
        window = [0] * length
        for letter in [*(LETTERS[each] for each in word), 0]:
            before.append(window)
            after.append(letter)
            window = [*window[1:], letter]
    return np.array(before), np.array(after)


def bigrams(side):
    """Train a table of logits for pairs of letters, then repeat the steps by hand."""
    m, (before, after) = side.m, contexts(1)
    shown = m.tensor(np.eye(SIZE)[before[:, 0]])
    table, losses = side.leaf(normal_array(0, SIZE, SIZE)), []
    for _ in range(20):
        counts = (shown @ table).exp()
        probabilities = counts / counts.sum(1, **side.keep)
        loss = -probabilities[m.arange(len(after)), after].log().mean() + 0.01 * (table**2).mean()
        table.grad = None
        loss.backward()
        table.data += -10 * table.grad.data
        losses.append(loss.item())
    return losses


def network_with_normalised_layers(side):
    """Train a network on three previous letters: embedding, batch normalisation by hand, and cross entropy."""
    m, F = side.m, side.F
    before, after = (m.tensor(each) for each in contexts(3))
    table, hidden = side.leaf(normal_array(1, SIZE, 4)), side.leaf(normal_array(2, 12, 30, scale=0.3))
    gain, shift = side.leaf(np.ones((1, 30))), side.leaf(np.zeros((1, 30)))
    out, bias = side.leaf(normal_array(3, 30, SIZE, scale=0.1)), side.leaf(np.zeros(SIZE))
    parameters, losses = [table, hidden, gain, shift, out, bias], []
    running = m.zeros(30, dtype=m.float64)
    for step in range(30):
        batch = np.random.default_rng(step).integers(0, len(after), 16)
        x = table[before[batch]].reshape(16, 12) @ hidden
        mean, var = x.mean(0), ((x - x.mean(0)) ** 2).mean(0)
        x = gain * (x - mean) / (var + 1e-5) ** 0.5 + shift
        with m.no_grad():
            running *= 0.9
            running += 0.1 * mean
        loss = F.cross_entropy(m.tanh(x) @ out + bias, after[batch])
        for each in parameters:
            each.grad = None
        loss.backward()
        with m.no_grad():
            for each in parameters:
                each -= 0.1 * each.grad
        losses.append(loss.item())
    return [*losses, *running.tolist()]


def character_transformer(side):
    """Train one block of causal attention over eight letters, with AdamW and a schedule."""
    m, F = side.m, side.F
    before, after = contexts(8)
    before, after = m.tensor(before), m.tensor(after)
    width, heads = 16, 2
    shapes = {
        "letters": (SIZE, width), "places": (8, width), "qkv": (width, 3 * width), "join": (width, width),
        "up": (width, 4 * width), "down": (4 * width, width), "out": (width, SIZE),
    }  # fmt: skip
    p = {name: side.leaf(normal_array(i, *shape, scale=0.2)) for i, (name, shape) in enumerate(shapes.items())}
    norms = [side.leaf(np.ones(width)) for _ in range(2)]
    optimiser = side.optim.AdamW([*p.values(), *norms], lr=3e-3, weight_decay=0.01)
    schedule = side.optim.lr_scheduler.CosineAnnealingLR(optimiser, T_max=12)
    losses = []
    for step in range(12):
        batch = np.random.default_rng(step).integers(0, len(after), 8)
        x = p["letters"][before[batch]] + p["places"]
        y = F.layer_norm(x, (width,), norms[0])
        parts = (y @ p["qkv"]).reshape(8, 8, 3, heads, width // heads)
        q, k, v = (parts[:, :, i].swapaxes(1, 2) for i in range(3))
        scores = q @ k.swapaxes(-1, -2) / (width // heads) ** 0.5
        future = m.tensor(np.triu(np.ones((8, 8), bool), 1))
        weights = F.softmax(m.where(future, -float("inf"), scores), dim=-1)
        x = x + (weights @ v).swapaxes(1, 2).reshape(8, 8, width) @ p["join"]
        x = x + F.gelu(F.layer_norm(x, (width,), norms[1]) @ p["up"]) @ p["down"]
        loss = F.cross_entropy(x[:, -1] @ p["out"], after[batch])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
        losses.append(loss.item())
    return losses


def long_short_term_memory(side):
    """Train an LSTM cell, written gate by gate, on a sum of sines, with gradient clipping."""
    m = side.m
    width, inputs = 12, m.tensor(np.sin(np.arange(40) * 0.3) + np.sin(np.arange(40) * 0.11))
    w, b = side.leaf(normal_array(0, width + 1, 4 * width, scale=0.3)), side.leaf(np.zeros(4 * width))
    out = side.leaf(normal_array(1, width, 1, scale=0.3))
    optimiser, losses = side.optim.Adam([w, b, out], lr=1e-2), []
    for _ in range(8):
        h, c = m.zeros(1, width, dtype=m.float64), m.zeros(1, width, dtype=m.float64)
        loss = m.tensor(0.0, dtype=m.float64)
        for t in range(len(inputs) - 1):
            gates = m.concatenate([inputs[t].reshape(1, 1), h], 1) @ w + b
            i, f, o = (m.sigmoid(gates[:, k * width : (k + 1) * width]) for k in range(3))
            c = f * c + i * m.tanh(gates[:, 3 * width :])
            h = o * m.tanh(c)
            loss += ((h @ out)[0, 0] - inputs[t + 1]) ** 2
        optimiser.zero_grad()
        loss.backward()
        norm = side.nn.utils.clip_grad_norm_([w, b, out], 1.0)
        optimiser.step()
        losses += [loss.item(), float(norm)]
    return losses


def variational_autoencoder(side):
    """Train a variational autoencoder with two latent numbers on blobs."""
    m, F = side.m, side.F
    images = m.tensor((normal_array(0, 64, 20) > 0.3) * 1.0)
    shapes = [(20, 16), (16,), (16, 2), (2,), (16, 2), (2,), (2, 16), (16,), (16, 20), (20,)]
    p = [side.leaf(normal_array(i, *shape, scale=0.3)) for i, shape in enumerate(shapes)]
    optimiser, losses = side.optim.Adam(p, lr=1e-2), []
    for step in range(15):
        h = F.relu(images @ p[0] + p[1])
        mean, log_variance = h @ p[2] + p[3], h @ p[4] + p[5]
        code = mean + (0.5 * log_variance).exp() * m.tensor(normal_array(100 + step, 64, 2))
        logits = F.relu(code @ p[6] + p[7]) @ p[8] + p[9]
        loss = F.binary_cross_entropy_with_logits(logits, images, reduction="sum")
        loss += -0.5 * (1 + log_variance - mean**2 - log_variance.exp()).sum()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    return losses


def generative_adversarial_net(side):
    """Train a GAN on points of a ring; the discriminator's loss must not reach the generator."""
    m, nn = side.m, side.nn
    made = side.network([nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 2)], 0)
    judge = side.network([nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1)], 1)
    steps = [side.optim.Adam(net.parameters(), lr=1e-2, betas=(0.5, 0.999)) for net in (made, judge)]
    criterion, numbers = nn.BCEWithLogitsLoss(), []
    for step in range(15):
        angle = np.random.default_rng(step).uniform(0, 2 * np.pi, 32)
        real = m.tensor(np.stack([np.cos(angle), np.sin(angle)], 1))
        fake = made(m.tensor(normal_array(100 + step, 32, 2)))
        steps[1].zero_grad()
        ones, zeros = m.ones(32, 1, dtype=m.float64), m.zeros(32, 1, dtype=m.float64)
        loss = criterion(judge(real), ones) + criterion(judge(fake.detach()), zeros)
        loss.backward()
        steps[1].step()
        steps[0].zero_grad()
        fooled = criterion(judge(fake), ones)
        fooled.backward()
        steps[0].step()
        numbers += [loss.item(), fooled.item()]
    return numbers


def convolutional_network(side):
    """Classify the direction of stripes by two convolutions; SGD with momentum."""
    m, F = side.m, side.F
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 32)
    images = rng.standard_normal((32, 1, 8, 8)) * 0.3
    images[labels == 0, :, ::2] += 1
    images[labels == 1, :, :, ::2] += 1
    x, y = m.tensor(images), m.tensor(labels)
    shapes = [(4, 1, 3, 3), (4,), (8, 4, 3, 3), (8,), (2, 32), (2,)]
    p = [side.leaf(normal_array(i, *shape, scale=0.3)) for i, shape in enumerate(shapes)]
    optimiser, losses = side.optim.SGD(p, lr=0.05, momentum=0.9, weight_decay=1e-3), []
    for _ in range(12):
        h = F.max_pool2d(F.relu(F.conv2d(x, p[0], p[1], padding=1)), 2)
        h = F.max_pool2d(F.relu(F.conv2d(h, p[2], p[3], padding=1)), 2)
        logits = F.linear(h.reshape(32, -1), p[4], p[5])
        loss = F.cross_entropy(logits, y, label_smoothing=0.1)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses += [loss.item(), (logits.argmax(1) == y).sum().item()]
    return losses


def learning_to_learn(side):
    """Train MAML on sines: the inner step is differentiated, which needs second derivatives."""
    m = side.m
    p = [side.leaf(normal_array(i, *shape, scale=0.5)) for i, shape in enumerate([(1, 10), (10,), (10, 1), (1,)])]
    optimiser, losses = side.optim.Adam(p, lr=1e-2), []

    def error(parameters, x, y):
        w1, b1, w2, b2 = parameters
        return ((m.tanh(x @ w1 + b1) @ w2 + b2 - y) ** 2).mean()

    for step in range(6):
        total = m.tensor(0.0, dtype=m.float64)
        for task in range(3):
            rng = np.random.default_rng(10 * step + task)
            height, phase, x = rng.uniform(0.5, 2), rng.uniform(0, 3), rng.uniform(-3, 3, (10, 1))
            x, y = m.tensor(x), m.tensor(height * np.sin(x + phase))
            slopes = side.gradients(lambda q, x=x, y=y: error(q, x[:5], y[:5]), p)
            total += error([each - 0.1 * slope for each, slope in zip(p, slopes, strict=True)], x[5:], y[5:])
        optimiser.zero_grad()
        total.backward()
        optimiser.step()
        losses.append(total.item())
    return losses


def neural_differential_equation(side):
    """Fit a spiral by a neural differential equation with Runge-Kutta steps."""
    m = side.m
    w1, w2 = side.leaf(normal_array(0, 2, 16, scale=0.3)), side.leaf(normal_array(1, 16, 2, scale=0.3))
    times = np.linspace(0, 2, 9)
    wanted = m.tensor(np.stack([np.exp(-0.2 * times) * np.cos(times), np.exp(-0.2 * times) * np.sin(times)], 1))

    def slope(y):
        return m.tanh(y**3 @ w1) @ w2

    losses = []
    for _ in range(6):
        y, path, h = wanted[0:1], m.zeros(9, 2, dtype=m.float64), 0.25
        path[0] = y[0]
        for i in range(1, 9):
            k1 = slope(y)
            k2 = slope(y + h / 2 * k1)
            k3 = slope(y + h / 2 * k2)
            y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + slope(y + h * k3))
            path[i] = y[0]
        loss = ((path - wanted) ** 2).mean()
        w1.grad = w2.grad = None
        loss.backward()
        with m.no_grad():
            w1 -= 0.5 * w1.grad
            w2 -= 0.5 * w2.grad
        losses.append(loss.item())
    return losses


def hamiltonian_monte_carlo(side):
    """Sample a banana-shaped density by leapfrog steps with acceptance."""
    rng, x, chain = np.random.default_rng(0), np.zeros(2), []

    def potential(q):
        return 0.5 * q[0] ** 2 + 2.0 * (q[1] - q[0] ** 2) ** 2

    for _ in range(25):
        p = rng.standard_normal(2)
        q, energy = x, side.value_and_slope(potential, x)[0] + 0.5 * p @ p
        for _ in range(8):
            p = p - 0.05 * side.value_and_slope(potential, q)[1]
            q = q + 0.1 * p
            p = p - 0.05 * side.value_and_slope(potential, q)[1]
        after = side.value_and_slope(potential, q)[0] + 0.5 * p @ p
        x = q if rng.uniform() < np.exp(energy - after) else x
        chain += [*x]
    return chain


def quasi_newton(side):
    """Fit logistic regression by SciPy's L-BFGS, which calls for the value and the gradient."""
    from scipy.optimize import minimize

    m = side.m
    inputs = normal_array(0, 60, 4)
    signs = np.sign(inputs @ [1.0, -2.0, 0.5, 0.0] + 0.3 * normal_array(1, 60))
    a, b = m.tensor(inputs), m.tensor(signs)

    def loss(w):
        return m.log1p(m.exp(-b * (a @ w))).mean() + 0.01 * (w**2).sum()

    found = minimize(lambda w: side.value_and_slope(loss, w), np.zeros(4), jac=True, method="L-BFGS-B", tol=1e-12)
    return [*found.x, found.fun, found.nit]


def gaussian_process(side):
    """Maximise the marginal likelihood of a Gaussian process: a Cholesky factor and its solves."""
    m = side.m
    x = np.linspace(0, 3, 12)
    apart, y = m.tensor((x[:, None] - x) ** 2), m.tensor(np.sin(2 * x) + 0.1 * normal_array(0, 12))
    logs, values = side.leaf(np.array([0.0, 0.0, -2.0])), []
    for _ in range(15):
        scale, length, noise = logs.exp()
        k = scale * (-0.5 * apart / length**2).exp() + noise * m.eye(12, dtype=m.float64)
        factor = m.linalg.cholesky(k)
        fit = m.linalg.solve(k, y)
        loss = 0.5 * y @ fit + m.log(m.diagonal(factor)).sum()
        logs.grad = None
        loss.backward()
        with m.no_grad():
            logs -= 0.05 * logs.grad
        values += [loss.item(), *logs.tolist()]
    return values


def hidden_markov_model(side):
    """Maximise the likelihood of a sequence by the forward recursion, in logarithms."""
    m, F = side.m, side.F
    seen = np.random.default_rng(0).integers(0, 4, 30)
    start, move, show = (side.leaf(normal_array(i, *shape)) for i, shape in enumerate([(3,), (3, 3), (3, 4)]))
    values = []
    for _ in range(10):
        moves, shows = F.log_softmax(move, dim=1), F.log_softmax(show, dim=1)
        alpha = F.log_softmax(start, dim=0) + shows[:, seen[0]]
        for symbol in seen[1:]:
            alpha = m.logsumexp(alpha[:, None] + moves, 0) + shows[:, symbol]
        loss = -m.logsumexp(alpha, 0)
        for each in (start, move, show):
            each.grad = None
        loss.backward()
        with m.no_grad():
            for each in (start, move, show):
                each -= 0.2 * each.grad
        values.append(loss.item())
    return values


def wasserstein_critic(side):
    """Train a critic with a gradient penalty: the gradient of a gradient."""
    m = side.m
    w1, w2 = side.leaf(normal_array(0, 2, 16, scale=0.5)), side.leaf(normal_array(1, 16, 1, scale=0.5))
    losses = []
    for step in range(8):
        real, fake = m.tensor(normal_array(10 + step, 16, 2) + 1), m.tensor(normal_array(50 + step, 16, 2))
        share = m.tensor(np.random.default_rng(step).uniform(size=(16, 1)))
        between = share * real + (1 - share) * fake
        (slope,) = side.gradients(lambda q, w1=w1, w2=w2: (m.tanh(q[0] @ w1) @ w2).sum(), [between])
        penalty = (((slope**2).sum(1) + 1e-12) ** 0.5 - 1) ** 2
        loss = (m.tanh(fake @ w1) @ w2).mean() - (m.tanh(real @ w1) @ w2).mean() + 10 * penalty.mean()
        w1.grad = w2.grad = None
        loss.backward()
        with m.no_grad():
            w1 -= 0.02 * w1.grad
            w2 -= 0.02 * w2.grad
        losses.append(loss.item())
    return losses


def policy_gradient(side):
    """Train REINFORCE on a bandit with three arms; the baseline follows the rewards."""
    m, F = side.m, side.F
    rng, logits, baseline, found = np.random.default_rng(0), side.leaf(np.zeros(3)), 0.0, []
    for _ in range(40):
        chances = F.softmax(logits, dim=0)
        arm = rng.choice(3, p=chances.detach().numpy())
        reward = [0.2, 0.5, 0.9][arm] + 0.1 * rng.standard_normal()
        loss = -m.log(chances[arm]) * (reward - baseline)
        baseline = 0.9 * baseline + 0.1 * reward
        logits.grad = None
        loss.backward()
        logits.data -= 0.3 * logits.grad.data
        found.append(loss.item())
    return [*found, *logits.tolist()]


def correlations_in_a_loop(side):
    """Learn a kernel from a convolution that two loops write into a buffer."""
    m = side.m
    image, kernel = m.tensor(normal_array(0, 7, 7)), side.leaf(normal_array(1, 3, 3))
    edges, losses = m.tensor(normal_array(2, 5, 5)), []
    for _ in range(5):
        out = m.zeros(5, 5, dtype=m.float64)
        for i in range(5):
            for j in range(5):
                out[i, j] = (image[i : i + 3, j : j + 3] * kernel).sum()
        loss = ((out - edges) ** 2).sum()
        kernel.grad = None
        loss.backward()
        kernel.data -= 0.01 * kernel.grad.data
        losses.append(loss.item())
    return losses


def solution_of_an_equation(side):
    """Train a network to solve u'' = -u by its first and second derivatives."""
    m = side.m
    p = [side.leaf(normal_array(i, *shape, scale=0.5)) for i, shape in enumerate([(1, 12), (12,), (12, 1)])]
    optimiser, times, losses = side.optim.Adam(p, lr=1e-2), m.tensor(np.linspace(0, 2, 9).reshape(-1, 1)), []

    def network(t):
        return m.tanh(t @ p[0] + p[1]) @ p[2]

    for _ in range(10):
        slope, bend = side.slopes(network, times)
        start = m.stack([network(times[:1])[0, 0] - 1, slope[0, 0]])
        loss = ((bend + network(times)) ** 2).mean() + (start**2).sum()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    return losses


def mixture_of_experts(side):
    """Send each row to the two experts with the largest logits; each adds to its rows of a buffer."""
    m, F = side.m, side.F
    x, y = m.tensor(normal_array(0, 12, 4)), m.tensor(normal_array(1, 12, 2))
    gate, experts = side.leaf(normal_array(2, 4, 3)), [side.leaf(normal_array(3 + i, 4, 2)) for i in range(3)]
    optimiser, losses = side.optim.Adam([gate, *experts], lr=0.05), []
    for _ in range(12):
        logits = x @ gate
        scores, chosen = m.topk(logits, 2)
        weights, out = F.softmax(scores, dim=-1), m.zeros(12, 2, dtype=m.float64)
        for i, expert in enumerate(experts):
            rows, places = np.nonzero((chosen == i).numpy())
            out[rows] += weights[rows, places][:, None] * m.tanh(x[rows] @ expert)
        share = F.softmax(logits, dim=-1).mean(0)
        loss = F.mse_loss(out, y) + 0.1 * (share * share).sum()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    return losses


def denoising_diffusion(side):
    """Train a denoiser to predict the added noise; sample with averaged weights."""
    m, F, steps = side.m, side.F, 20
    betas = m.tensor(np.linspace(1e-4, 0.2, steps))
    kept = m.cumprod(1 - betas, 0)
    net = side.network([side.nn.Linear(3, 16), side.nn.SiLU(), side.nn.Linear(16, 2)], 0)
    average = [p.detach().clone() for p in net.parameters()]
    optimiser, losses = side.optim.AdamW(net.parameters(), lr=1e-2), []
    for step in range(10):
        clean, noise = m.tensor(normal_array(step, 16, 2)), m.tensor(normal_array(50 + step, 16, 2))
        when = np.random.default_rng(step).integers(0, steps, 16)
        share = kept[when][:, None]
        noisy = share.sqrt() * clean + (1 - share).sqrt() * noise
        loss = F.mse_loss(net(m.concatenate([noisy, m.tensor(when[:, None] / steps)], 1)), noise)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        with m.no_grad():
            for mean, p in zip(average, net.parameters(), strict=True):
                mean *= 0.9
                mean += 0.1 * p
        losses.append(loss.item())
    with m.no_grad():
        x = m.tensor(normal_array(99, 4, 2))
        for step in reversed(range(steps)):
            when = m.full((4, 1), step / steps, dtype=m.float64)
            hidden = F.silu(m.concatenate([x, when], 1) @ average[0].T + average[1])
            guess = hidden @ average[2].T + average[3]
            x = (x - betas[step] / (1 - kept[step]).sqrt() * guess) / (1 - betas[step]).sqrt()
            if step:
                x += betas[step].sqrt() * m.tensor(normal_array(200 + step, 4, 2))
    return [*losses, *x.reshape(-1).tolist()]


def alignments_of_a_sequence(side):
    """Sum the likelihood of a word over all alignments: CTC's forward recursion, in logarithms."""
    m, F, frames = side.m, side.F, 9
    logits, word, losses = side.leaf(normal_array(0, frames, 5)), [1, 3, 3], []
    labels = [0, *(label for letter in word for label in (letter, 0))]
    for _ in range(10):
        logs = F.log_softmax(logits, dim=-1)
        alpha = m.full((len(labels),), -1e30, dtype=m.float64)
        alpha[0], alpha[1] = logs[0, 0], logs[0, labels[1]]
        for frame in range(1, frames):
            paths = [[alpha[place]] for place in range(len(labels))]
            for place in range(1, len(labels)):
                paths[place].append(alpha[place - 1])
                if labels[place] and place > 1 and labels[place] != labels[place - 2]:
                    paths[place].append(alpha[place - 2])
            alpha = m.stack([m.logsumexp(m.stack(each), 0) for each in paths]) + logs[frame, labels]
        loss = -m.logaddexp(alpha[-1], alpha[-2])
        logits.grad = None
        loss.backward()
        with m.no_grad():
            logits -= 0.5 * logits.grad
        losses.append(loss.item())
    return losses


SECOND_ORDER = (learning_to_learn, wasserstein_critic, solution_of_an_equation)
"""Programs that differentiate a gradient."""

PROGRAMS = [
    bigrams, network_with_normalised_layers, character_transformer, long_short_term_memory, variational_autoencoder,
    generative_adversarial_net, convolutional_network, learning_to_learn, neural_differential_equation,
    hamiltonian_monte_carlo, quasi_newton, gaussian_process, hidden_markov_model, wasserstein_critic, policy_gradient,
    correlations_in_a_loop, solution_of_an_equation, mixture_of_experts, denoising_diffusion,
    alignments_of_a_sequence,
]  # fmt: skip

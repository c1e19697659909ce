"""Common lines of PyTorch and NumPy programs, with the result of each here.

A line is run on both sides with the same numbers: `m` is torch or mg, `F` their functional, `nn` their layers. What it
leaves in `out` must be equal, and so must the gradients of its sum (with weights) by `x`, `y`, `v` and `s`.
"""

SAME = """
x.chunk(2)[1]
x.chunk(3, 1)[1]
x.topk(2)[0]
x.topk(2, 0, largest=False)[1]
v.outer(v)
x[None].bmm(y.T[None])
p.clone().zero_()
p.clone().fill_(1.5)
p.clone().copy_(y.detach())
p.clone().add_(y.detach(), alpha=2)
p.clone().sub_(y.detach(), alpha=2)
p.clone().mul_(2)
p.clone().div_(2)
p.clone().clamp_(0.5, 1)
(x * 1).add_(y, alpha=3)
(x * 1).mul_(y)
(x * 1).zero_()
(x * 1).clamp_(0.5, 1)
(x * 1).copy_(y)
m.autograd.grad((x * y).sum(), x)[0]
m.autograd.grad((x ** 3).sum(), x, create_graph=True)[0]
m.autograd.grad([(x * y).sum(), x * 2], [x, y], [m.tensor(2.0, dtype=m.float64), m.ones(3, 4, dtype=m.float64)])[0]
m.autograd.grad(x.sum(), [x, y], allow_unused=True)[1] is None
x.view(2, -1)
x.expand(2, -1, -1)
x.gather(1, idx[:, None])
x.gather(0, m.tensor([[0, 2, 1]]))
x[None].transpose(1, 2)
x[None].transpose(-2, -1)
x.size(-1)
x.detach().flip(0, 1)
p.t().contiguous().view(-1)
v.t()
mask.long().sum()
x.detach().double().type_as(idx)
x.view(4, 3)
x.view(-1)
x.permute(1, 0)
x.unsqueeze(0)
x.size()
x.size(0)
x.dim()
x.numel()
x.t()
x.transpose(1, 0)
x.expand(2, 3, 4)
x.expand_as(y)
x.contiguous()
x.float()
x.double()
x.long()
x.int()
x.half()
x.bool()
x.cpu()
x.type_as(y)
x.add(y)
x.sub(y)
x.mul(y)
x.div(y)
x.pow(2)
x.neg()
x.mm(y.T)
x.mv(v)
x.eq(y)
x.gt(y)
x.lt(y)
x.ge(y)
x.le(y)
x.ne(y)
x.clamp(0, 1)
x.clamp(min=0)
x.masked_fill(mask, 0.0)
x.softmax(1)
x.log_softmax(1)
x.logsumexp(1)
x.cumprod(0)
x.amax(1)
x.amin(1)
x.floor()
x.ceil()
x.rsqrt()
x.reciprocal()
x.log1p()
x.expm1()
x.erf()
x.isnan()
x.tril()
x.triu()
x.flip(0)
x.sum(dim=1)
x.sum(1, keepdim=True) if False else x.sum(axis=1, keepdim=True)
x.mean(dim=0)
x.argmax(dim=1)
x.cumsum(dim=0)
m.sum(x, dim=1)
m.softmax(x, dim=1)
m.log_softmax(x, dim=1)
m.logsumexp(x, dim=1)
m.argmax(x, dim=1)
m.stack([x, y], dim=0)
m.concatenate([x, y], dim=0)
m.norm(x, dim=1)
m.argsort(x, dim=1)
m.cumsum(x, dim=1)
m.flip(x, dims=(0,))
m.roll(x, 1, dims=0)
m.squeeze(x[None], dim=0)
m.mean(x, dim=0, keepdim=True)
m.any(mask, dim=1)
F.cosine_similarity(x, y, axis=1)
m.cat([x, y])
m.cat([x, y], dim=1)
m.cuda.is_available()
x + y
x - y
x * y
x / y
x ** 2
x ** 3
x ** 0.5
2 ** x
2.0 * x
x * 2
1 - x
1 / x
x / 2
-x
+x
abs(x)
x @ y.T
x @ v
v @ v
x * v
x + 1.0
x % 2
x.T
s.mT
x.sum()
x.sum(1)
x.sum(0)
x.sum(-1)
x.sum((0, 1))
x.sum(axis=1)
x.sum(axis=0, keepdims=True)
x.mean()
x.mean(0)
x.mean(1)
x.mean(axis=1, keepdims=True)
x.prod()
x.max()
x.min()
x.argmax()
x.argmin()
x.argmax(1)
x.argmin(0)
x.cumsum(0)
x.cumsum(1)
x.cumsum(axis=1)
x.abs()
x.exp()
x.log()
x.sqrt()
x.sin()
x.cos()
x.tanh()
x.relu()
x.sigmoid()
x.square()
x.round()
x.clip(0.5, 1.5)
x.clip(0.5)
x.conj()
x.real
v.dot(v)
x.matmul(y.T)
x.flatten()
x.ravel()
x.reshape(4, 3)
x.reshape(2, 6)
x.reshape(-1)
x.reshape((2, -1))
x.reshape(3, 2, 2)
x.swapaxes(0, 1)
x[:, None].squeeze(1)
x[None].squeeze()
x[None].squeeze(0)
x.clone()
x.clone() * 2
x.detach() * y
x.requires_grad
x.is_leaf
(x * 2).requires_grad
(x * 2).is_leaf
x.ndim
x.shape[0]
len(x)
x.dtype.itemsize
x.sum().item()
x.tolist()
x.detach().numpy()
x.detach().clone()
x.grad is None
float(x.sum())
int(x.detach().sum())
bool(x.sum() > 0)
f"{x.sum():.3f}"
f"{x.sum().item():.3f}"
"%.3f" % x.sum()
x[0]
x[-1]
x[1, 2]
x[:, 1]
x[:, -1]
x[0:2]
x[:2, 1:]
x[..., 0]
x[..., -1]
x[:, None]
x[None]
x[::2]
x[:, ::2]
x[[1, 0]]
x[[0, 0, 2]]
x[:, [3, 1]]
x[[0, 1], [2, 3]]
x[idx]
x[range(3), idx]
x[m.arange(3), idx]
x[mask]
x[x > 1]
x[x.argmax(1)]
x[~mask]
x[mask & (x > 0.5)]
x[0][1]
list(x)[1]
[row.sum() for row in x][2]
sum(row.sum() for row in x)
sum([x[0], x[1]])
a, b, c = x; out = a * b + c
max(x[0, 0], x[1, 1])
sorted([x[0, 0].item(), x[1, 1].item()])
m.softmax(x[:, :0], 1)
m.log_softmax(x[:0], 0)
F.softmax(x[:, :0], dim=-1)
F.softmin(x[:0], dim=0)
m.logsumexp(x[:, :0], 1)
x[:, :0].sum(1)
x[:0].prod(0)
m.cumsum(x[:, :0], 1)
F.layer_norm(x[:0], (4,))
F.cross_entropy(x[:0], idx[:0], reduction="sum")
F.scaled_dot_product_attention(x, y[:0], y[:0])
x > 1
x >= 1
x < y
x <= y
x == x
x != y
(x > 1).sum()
(x > y).any()
(x > 0).all()
mask & mask
mask.clone()
~idx
idx & 1
idx | 4
idx ^ 3
idx << 2
idx >> 1
m.bitwise_and(idx, 2)
m.bitwise_not(idx)
m.divide(x, y, rounding_mode="trunc")
m.divide(x, -y, rounding_mode="floor")
m.scatter_reduce(x, 1, m.tensor([[0, 1], [3, 3], [0, 0]]), y[:, :2], "prod")
mask | mask
~mask
1 - mask.astype(float) if m is not torch else 1 - mask.double()
x == None
x in [None] if False else 0
m.add(x, y)
m.subtract(x, y)
m.multiply(x, y)
m.divide(x, y)
m.true_divide(x, y)
m.negative(x)
m.positive(x)
m.abs(x)
m.absolute(x)
m.square(x)
m.sqrt(x)
m.rsqrt(x)
m.reciprocal(x)
m.exp(x)
m.exp2(x)
m.expm1(x)
m.log(x)
m.log1p(x)
m.log2(x)
m.log10(x)
m.sin(x)
m.cos(x)
m.tan(x)
m.arcsin(x / 4)
m.arccos(x / 4)
m.arctan(x)
m.arctan2(x, y)
m.sinh(x)
m.cosh(x)
m.tanh(x)
m.arcsinh(x)
m.arccosh(x + 1)
m.arctanh(x / 4)
m.sigmoid(x)
m.relu(x)
m.erf(x)
m.erfc(x)
m.floor(x)
m.ceil(x)
m.trunc(x)
m.round(x)
m.sign(x)
m.clip(x, 0.5, 1.5)
m.maximum(x, y)
m.minimum(x, y)
m.fmax(x, y)
m.fmin(x, y)
m.hypot(x, y)
m.logaddexp(x, y)
m.copysign(x, -y)
m.fmod(x, y)
m.remainder(x, y)
m.power(x, 2) if m is not torch else m.pow(x, 2)
m.lerp(x, y, 0.3)
m.where(x > 1, x, y)
m.where(x > 1, x, 0.0)
m.isnan(x)
m.isinf(x)
m.isfinite(x)
m.isclose(x, x)
m.sinc(x)
m.deg2rad(x)
m.rad2deg(x)
m.nan_to_num(x)
m.equal(x, x) if m is torch else m.array_equal(x, x)
m.logical_and(mask, mask)
m.logical_or(mask, mask)
m.logical_xor(mask, mask)
m.logical_not(mask)
m.greater(x, y)
m.less(x, y)
m.not_equal(x, y)
m.sum(x)
m.sum(x, 1)
m.sum(x, axis=1)
m.mean(x)
m.mean(x, 0)
m.prod(x)
m.max(x)
m.min(x)
m.amax(x, 1)
m.amin(x, 1)
m.argmax(x, 1)
m.argmin(x, 1)
m.argsort(x, 1)
m.any(x > 2)
m.all(x > 0)
m.count_nonzero(x > 1)
m.cumsum(x, 1)
m.cumprod(x, 1)
m.cumsum(x, axis=0)
m.logsumexp(x, 1)
m.softmax(x, 1)
m.softmax(x, -1)
m.log_softmax(x, 1)
m.norm(x)
m.median(x.detach()[:, :3].flatten())
m.quantile(x, 0.3)
m.quantile(x, 0.5, 1)
m.diff(v)
m.trace(s)
m.topk(x, 2)[0]
m.topk(x, 2)[1]
m.matmul(x, y.T)
m.dot(v, v)
m.inner(v, v)
m.outer(v, v)
m.kron(s, s)
m.tensordot(x, y.T, 1)
m.einsum("ij,kj->ik", x, y)
m.einsum("ij,ij->i", x, y)
m.einsum("ij->ji", x)
m.einsum("ii->i", s)
m.stack([x, y])
m.stack([x, y], 1)
m.stack([x, y], axis=-1)
m.concatenate([x, y])
m.concatenate([x, y], 1)
m.concatenate([x, y], axis=1)
m.concatenate((x, y), 0)
m.vstack([x, y])
m.hstack([x, y])
m.dstack([x, y])
m.column_stack([v, v])
m.vstack([v, v])
m.hstack([v, v])
m.atleast_1d(x.sum())
m.atleast_2d(v)
m.atleast_3d(x)
m.array_split(x, 2)[0] if m is not torch else m.tensor_split(x, 2)[0]
m.reshape(x, (4, 3))
m.ravel(x)
m.flatten(x)
m.flatten(x[None], 1)
9.0 in p
p[0, 0].item() in p
v[2] in v
m.flatten(x[None], start_dim=0, end_dim=1)
x.flatten(1)
x[None].flatten(0, 1)
x[0, 0].flatten()
m.squeeze(x[None])
m.squeeze(x[None], 0)
m.swapaxes(x, 0, 1)
m.moveaxis(x, 0, 1)
m.broadcast_to(v, (3, 4))
m.tile(x, (2, 1))
m.tile(v, (2,))
m.roll(x, 1)
m.roll(x, 1, 0)
m.roll(x, (1, 2), (0, 1))
m.flip(x, (0,))
m.flip(x, (0, 1))
m.flipud(x)
m.fliplr(x)
m.rot90(s)
m.rot90(s, 2)
m.tril(s)
m.triu(s)
m.tril(s, -1)
m.triu(s, 1)
m.diag(v)
m.diag(s)
m.diagonal(s)
m.diag(v, 1)
m.take(x, idx) if m is not torch else m.take(x, idx)
m.take_along_axis(x, m.argsort(x, 1), 1) if m is not torch else m.take_along_dim(x, m.argsort(x, 1), 1)
m.searchsorted(m.linspace(0, 3, 7), v.detach())
m.bincount(idx) if m is torch else np.bincount(idx.numpy())
m.real(z)
m.imag(z)
m.abs(z)
m.angle(z)
m.conj(z).real
(z * z).real
m.exp(z).real
m.linalg.inv(s)
m.linalg.det(s)
m.linalg.slogdet(s)[1]
m.linalg.solve(s, v[:3])
m.linalg.norm(v)
m.linalg.norm(x)
m.linalg.matrix_power(s, 3)
m.linalg.pinv(x)
m.linalg.svdvals(x)
m.linalg.eigvalsh(s + s.T)
m.linalg.cholesky(s @ s.T + 3 * m.eye(3, dtype=m.float64))
m.linalg.qr(s)[1].abs()
m.fft.fft(v).real
m.fft.rfft(v).real
m.fft.irfft(m.fft.rfft(v))
m.fft.fft2(x).real
m.fft.ifft(m.fft.fft(v)).real
m.zeros(2, 3)
m.ones(2, 3)
m.zeros((2, 3))
m.full((2, 2), 3.0)
m.arange(5)
m.arange(1.0, 2.0, 0.25)
m.linspace(0, 1, 5)
m.eye(3)
m.zeros_like(x)
m.ones_like(x)
m.full_like(x, 2.0)
m.tensor([1.0, 2.0])
m.tensor([[1, 2], [3, 4]])
m.tensor(3.5)
m.asarray([1.0, 2.0])
m.from_numpy(np.ones(3))
m.pi
m.inf
m.tensor([1.0], dtype=m.float64)
m.tensor([1, 2]).shape[0]
m.is_grad_enabled()
"""
"""Expressions that mean the same."""

STATEMENTS = """
total = m.tensor(0.0, dtype=m.float64)\\nfor i in range(3): total += x[i].sum() ** 2\\nout = total + x.sum()
total = 0\\nfor i in range(3): total = total + x[i].sum() ** 2\\nout = total
total = 0.0\\nfor row in x: total += (row * row).sum()\\nout = total
a = m.ones(3, 4, dtype=m.float64)\\na *= x\\nout = a * y
a = m.ones(3, 4, dtype=m.float64)\\na -= x\\nout = a * y
a = m.ones(3, 4, dtype=m.float64)\\na /= x\\nout = a * y
a = p * 1\\na += x\\nout = a
a = x * 2\\na += y\\nout = a * a
a = x * 2\\nb = a\\na += 1\\nout = b * x
a = m.zeros(3, dtype=m.float64)\\nfor i in range(3): a[i] = x[i].sum()\\nout = a * a
a = m.zeros(3, 4, dtype=m.float64)\\na[1] = x[1]\\nout = a * y
a = m.zeros(3, 4, dtype=m.float64)\\na[:, 1:3] = x[:, 1:3] * 2\\nout = a * y
a = m.zeros(3, 4, dtype=m.float64)\\na[mask] = x[mask]\\nout = a * y
a = m.zeros(3, 4, dtype=m.float64)\\na[0] += x[0]\\na[0] += x[1]\\nout = a * a
a = m.zeros(3, 4, dtype=m.float64)\\na[range(3), idx] = x[:, 0]\\nout = a * y
a = x * 2\\na[0] = 0\\nout = a * y
a = x * 2\\na[mask] = -1e3\\nout = a * y
a = x.clone()\\na[0, 0] = 5.0\\nout = a * y
a = m.zeros(5, 6, dtype=m.float64)\\na[1:4, 1:5] = x\\nout = a * a
a = m.zeros(2, 3, dtype=m.float64)\\nfor i in range(2):\\n    for j in range(3): a[i, j] = (x[i:i + 2, j:j + 2] * s[:2, :2]).sum()\\nout = a
with m.no_grad(): x -= 0.1\\nout = x * y
with m.no_grad(): x[0] = 1.0\\nout = x * y
with m.no_grad(): x *= 2\\nout = x * x
with m.no_grad(): a = x * 2\\nout = a * y
x.data -= 0.1\\nout = x * y
x.data = x.data * 0.5\\nout = x * y
x.data[0] = 1.0\\nout = x * y
x.data[...] = 1.0\\nout = x * y
(x * y).sum().backward()\\nout = x.grad * x
(x * y).sum().backward()\\nx.grad = None\\nout = x * y
for _ in range(2): (x * y).sum().backward()\\nout = x.grad * x
(x * x).backward(m.ones_like(x))\\nout = x.grad * y
(x * x).sum().backward()\\nwith m.no_grad(): x -= 0.1 * x.grad\\nx.grad = None\\nout = x * y
(x * x).sum().backward()\\nx.data -= 0.1 * x.grad.data\\nout = x * y
h = x * 2\\nh.retain_grad()\\n(h * h).sum().backward()\\nout = h.grad * y
seen = []\\nh = x * 2\\nh.register_hook(lambda g: seen.append(g))\\n(h * h).sum().backward()\\nout = seen[0] * y
h = x * 2\\nh.register_hook(lambda g: g * 3)\\nout = h * h
x.register_hook(lambda g: g * 0.5)\\nout = x * x
a = x.detach()\\nout = a * x
a = m.tensor([1.0, 2.0, 3.0, 4.0], dtype=m.float64, requires_grad=True)\\nout = a * x
a = m.tensor(2.0, dtype=m.float64)\\na.requires_grad_(True)\\nout = a * x
a = {x: 1, y: 2}\\nout = x * a[x] + y * a[y]
a = [x[i] * i for i in range(3)]\\nout = m.stack(a)
out = m.stack([x[i] * y[i] for i in range(3)], 0)
for i, row in enumerate(x): y = y + row * i\\nout = y
a = (x > 1).sum()\\nout = x * a
a = x.argmax(1)\\nout = x[range(3), a]
mean = x.mean(0)\\nout = x - mean
mean = x.mean(axis=0, keepdims=True)\\nvar = ((x - mean) ** 2).mean(axis=0, keepdims=True)\\nout = (x - mean) / (var + 1e-5) ** 0.5
e = (x - x.max()).exp()\\nout = e / e.sum(axis=1, keepdims=True)
out = -(F.log_softmax(x, 1)[range(3), idx]).mean()
out = F.cross_entropy(x, idx)
a, b = x[:, :2], x[:, 2:]\\nout = a @ b.T
out = x\\nfor _ in range(3): out = m.tanh(out @ m.ones(4, 4, dtype=m.float64) / 4)
out = (x if x.sum() > 0 else -x) * 2
a = x\\nwhile a.sum() < 100: a = a * 2\\nout = a
out = m.zeros(3, 4, dtype=m.float64) + x
with m.no_grad():\\n    with m.enable_grad(): out = x * y
with m.set_grad_enabled(False): a = x * 2\\nout = a * y
with m.set_grad_enabled(True): out = x * y
q = p.double(); q[0] = 9.0; out = p
q = p.type_as(p); q[0] += 1.0; out = p
q = p.float(); q[0] = 9.0; out = p
a = x * 2; a.retain_grad(); h = a.register_hook(lambda g: g * 3); (a * a).sum().backward(); out = a.grad
"""
"""Statements with the same meaning; the test compares `out`."""

LAYERS = """
F.relu(x)
F.leaky_relu(x, 0.1)
F.elu(x)
F.selu(x)
F.celu(x)
F.gelu(x)
F.gelu(x, approximate="tanh")
F.silu(x)
F.mish(x)
F.softplus(x)
F.softsign(x)
F.sigmoid(x)
F.tanh(x)
F.hardtanh(x)
F.hardsigmoid(x)
F.hardswish(x)
F.relu6(x)
F.logsigmoid(x)
F.hardshrink(x)
F.softshrink(x)
F.tanhshrink(x)
F.threshold(x, 1.0, 0.0)
F.glu(x)
F.softmax(x, dim=1)
F.softmax(x, 1)
F.log_softmax(x, dim=-1)
F.softmin(x, dim=1)
F.normalize(x)
F.normalize(x, dim=0)
F.cosine_similarity(x, y)
F.layer_norm(x, (4,))
F.linear(x, y)
F.linear(x, y, v[:3])
F.mse_loss(x, y)
F.mse_loss(x, y, reduction="sum")
F.mse_loss(x, y, reduction="none")
F.l1_loss(x, y)
F.smooth_l1_loss(x, y)
F.huber_loss(x, y)
F.cross_entropy(x, idx)
F.cross_entropy(x, idx, label_smoothing=0.1)
F.cross_entropy(x, idx, reduction="none")
F.cross_entropy(x, F.softmax(y, 1))
F.cross_entropy(x, idx, weight=v.detach())
F.cross_entropy(x, idx, ignore_index=1)
F.nll_loss(F.log_softmax(x, 1), idx)
F.binary_cross_entropy(F.sigmoid(x), F.sigmoid(y))
F.binary_cross_entropy_with_logits(x, F.sigmoid(y))
F.kl_div(F.log_softmax(x, 1), F.softmax(y, 1), reduction="batchmean")
F.dropout(x, 0.5, training=False)
F.dropout(x, 0.0)
F.embedding(idx, y)
F.pad(x, (1, 1))
F.pad(x, (1, 1, 2, 0))
F.one_hot(idx, 4)
F.conv1d(x[None], y[None])
F.conv2d(x[None, None], s[None, None])
F.conv2d(x[None, None], s[None, None], padding=1)
F.conv2d(x[None, None], s[None, None], stride=2, padding=1)
F.conv_transpose2d(x[None, None], s[None, None])
F.max_pool2d(x[None, None], 2)
F.avg_pool2d(x[None, None], 2)
F.max_pool1d(x[None], 2)
F.avg_pool1d(x[None], 2)
F.adaptive_avg_pool2d(x[None, None], 1)
F.interpolate(x[None, None], scale_factor=2)
F.interpolate(x[None, None], size=(6, 8), mode="bilinear")
F.unfold(x[None, None], 2)
F.scaled_dot_product_attention(x[None], y[None], y[None])
F.scaled_dot_product_attention(x[None], y[None], y[None], is_causal=True)
F.group_norm(x[None], 3)
F.instance_norm(x[None])
F.batch_norm(x, None, None, training=True)
F.rms_norm(x, (4,))
F.pixel_shuffle(x[None, :, :, None][..., [0]].reshape(1, 4, 3, 1), 2)
nn.ReLU()(x)
nn.GELU()(x)
nn.Softmax(dim=1)(x)
nn.LogSoftmax(dim=1)(x)
nn.Sigmoid()(x)
nn.Tanh()(x)
nn.LeakyReLU(0.2)(x)
nn.Softplus()(x)
nn.SiLU()(x)
nn.ELU()(x)
nn.Identity()(x)
nn.Flatten()(x[None])
nn.Dropout(0.5).eval()(x)
nn.LayerNorm(4, dtype=m.float64)(x) if m is torch else nn.LayerNorm(4)(x)
nn.BatchNorm1d(4).double()(x) if m is torch else nn.BatchNorm1d(4)(x)
nn.MaxPool2d(2)(x[None, None])
nn.AvgPool2d(2)(x[None, None])
nn.AdaptiveAvgPool2d(1)(x[None, None])
nn.MSELoss()(x, y)
nn.L1Loss()(x, y)
nn.CrossEntropyLoss()(x, idx)
nn.NLLLoss()(F.log_softmax(x, 1), idx)
nn.BCEWithLogitsLoss()(x, F.sigmoid(y))
nn.SmoothL1Loss()(x, y)
nn.HuberLoss()(x, y)
nn.KLDivLoss(reduction="sum")(F.log_softmax(x, 1), F.softmax(y, 1))
nn.Sequential(nn.ReLU(), nn.Tanh())(x)
len(nn.Sequential(nn.Linear(2, 3), nn.ReLU()))
len(list(nn.Linear(2, 3).parameters()))
sorted(nn.Linear(2, 3).state_dict())
[name for name, _ in nn.Sequential(nn.Linear(2, 3), nn.ReLU()).named_parameters()]
sum(q.numel() if m is torch else q.size for q in nn.Linear(2, 3).parameters())
nn.Linear(2, 3).weight.shape[0]
nn.Linear(2, 3, bias=False).bias is None
isinstance(nn.Linear(2, 3).weight, nn.Parameter)
nn.Upsample(scale_factor=2)(x[None, None])
nn.PixelShuffle(2)(x.reshape(1, 4, 3, 1))
nn.utils.clip_grad_norm_([x], 1.0) if x.grad is not None else 0
"""
"""Layers and functions of networks, with PyTorch's names and arguments."""

SAID = """
x.transpose(0, 1)
x.repeat(2, 1)
x.cuda()
x.type(torch.float32)
x.clamp_min(0)
x.masked_select(mask)
x.scatter(1, idx[:, None], 1.0)
x.index_select(0, idx)
x.unbind(0)
x.narrow(0, 0, 1)
x.norm()
x.norm(2, dim=1)
x.sort(1)
x.argsort(1)
x.median()
x.asin()
x.sinh()
x.nonzero()
x.unique()
x.diagonal()
x.roll(1)
x.tile(2)
x.split(1)
x.where(mask, y)
x.inverse()
x.det()
x.svd()
x.cholesky()
x.normal_()
x.uniform_()
x.relu_()
x.masked_fill_(mask, 0)
x.new_zeros(3)
x.new_ones(3)
x.new_tensor([1.0])
x.is_cuda
x.grad_fn
x.element_size()
x.data_ptr()
x.storage()
x.stride()
x.apply_(abs)
x.std(dim=0)
x.var(unbiased=False)
x.std(unbiased=True)
x.max(dim=1)
x.min(dim=1)
x.max(1).values
x.max(1).indices
x.max(1, keepdim=True)
m.sort(x, dim=1)
m.std(x, unbiased=False)
m.max(x, dim=1)
m.median(x, dim=1)
m.mm(x, y.T)
m.bmm(x[None], y.T[None])
m.mv(x, v)
m.pow(x, 2)
m.mul(x, y)
m.div(x, y)
m.sub(x, y)
m.neg(x)
m.clamp(x, 0, 1)
m.clamp(x, min=0)
m.gather(x, 1, idx[:, None])
m.index_select(x, 0, idx)
m.masked_select(x, mask)
m.masked_fill(x, mask, 0.0)
m.unsqueeze(x, 0)
m.permute(x, (1, 0))
m.t(x)
m.unbind(x)
m.chunk(x, 2)
m.eq(x, y)
m.gt(x, y)
m.le(x, y)
m.asin(x)
m.acos(x)
m.atan(x)
m.atan2(x, y)
m.frac(x)
m.bernoulli(x)
m.numel(x)
m.is_tensor(x)
m.is_floating_point(x)
m.nansum(x)
m.addmm(s, x, y.T)
m.baddbmm(x, x, x)
m.inverse(s)
m.logdet(s)
m.svd(x)
m.qr(x)
m.autograd.Function
m.autograd.functional.jacobian(abs, x)
m.func.grad(abs)
m.vmap(abs)
m.jit.script(abs)
m.heaviside(x, y)
m.set_default_dtype(float)
m.set_num_threads(1)
m.inference_mode()
m.manual_seed(0) if False else m.utils.data.DataLoader
m.distributions.Normal(0, 1)
m.FloatTensor([1.0])
m.LongTensor([1])
m.view_as_real(x)
m.meshgrid(v, v) if False else m.cartesian_prod(v, v)
v, i = x[:2].max(1)
x.max(1)[1]
m.max(x, 1)[0]
x.min(1)[0]
m.cummax(x, 1)[0]
m.cummin(x, 1)[0]
m.sort(x, 1)[0]
m.median(x, 1)[0]
m.unique(x)
nn.DataParallel(nn.Linear(2, 2))
nn.TransformerDecoderLayer(4, 2)
nn.Linear(2, 2).register_full_backward_hook(print)
nn.utils.parameters_to_vector([x])
nn.utils.weight_norm(nn.Linear(2, 2))
nn.utils.rnn.pad_sequence([x])
optim.LBFGS([x])
optim.Adadelta([x])
optim.NAdam([x])
m.vmap
m.func
"""
"""Lines of PyTorch that are answered by a sentence that says what to write."""

LISTED = """
out = m.median(x)
out = m.sort(x)[0]
out = m.norm(x, 1)
out = m.nonzero(x > 1)[0]
out = m.equal(x, x)
out = m.gradient(v)[0]
out = m.split(x, [1, 2])[1]
out = m.split(x[:, :4], 2)[0]
out = x.std()
out = x.var(0)
out = m.std(x)
out = m.std_mean(x)[0]
out = m.var_mean(x)[0]
out = x.sum(0).repeat(2)
out = m.cross(s, s.T)
out = m.split(x, 1)[1]
out = m.linalg.solve(m.stack([s, s, s]), s)
out = x.squeeze(1)
x.grad = None; (x * y).sum().backward(); out = x.grad; (x * y).sum().backward()
row = p[0]; p[0] = 9.0; out = row
p[0], p[1] = p[1], p[0]; out = p
row = x.detach()[0]; row += 1; out = x
flat = x.detach().reshape(-1); flat[0] = 9.0; out = x
a = m.tensor([1.0, 2.0]); out = a.dtype.itemsize
out = (m.ones(2, dtype=m.float32) * m.tensor(1.0, dtype=m.float64)).dtype.itemsize
out = (m.ones(2, dtype=m.float32) * m.ones(2, dtype=m.int64)).dtype.itemsize
out = (m.ones(2, dtype=m.float32) * np.float64(2)).dtype.itemsize
np.random.seed(0); m.manual_seed(0) if m is torch else m.random.seed(0); out = m.rand(3)
"""
"""Lines that NumPy and PyTorch read otherwise, where NumPy's reading is this engine's by decision."""

NUMPYS = """
np.sum(a)
np.sum(a, axis=1)
np.mean(a, axis=0, keepdims=True)
np.std(a)
np.std(a, axis=1, ddof=1)
np.var(a, axis=0)
np.max(a, axis=1)
np.min(a)
np.prod(a, axis=1)
np.cumsum(a)
np.cumsum(a, axis=1)
np.cumprod(a, axis=0)
np.sort(a)
np.sort(a, axis=0)
np.sort(a, axis=1)[0]
np.argsort(a, axis=1)
np.argmax(a)
np.argmax(a, axis=0)
np.median(a)
np.median(a, axis=1)
np.quantile(a, 0.25)
np.split(a, 2, axis=1)[0]
np.split(a, [1, 2])[1]
np.array_split(a, 2)[1]
np.transpose(a)
np.transpose(a, (0, 1))
np.transpose(a, (1, 0))
np.swapaxes(a, 0, 1)
np.moveaxis(a, 0, -1)
np.reshape(a, (4, 3))
np.reshape(a, -1)
np.ravel(a)
np.repeat(a, 2)
np.repeat(a, 2, axis=1)
np.repeat(a, 2, 1)
np.tile(a, 2)
np.tile(a, (2, 1))
np.roll(a, 1, axis=1)
np.flip(a)
np.flip(a, 0)
np.rot90(a)
np.expand_dims(a, 0)
np.squeeze(a[None])
np.broadcast_to(c, (3, 4))
np.concatenate([a, b])
np.concatenate([a, b], axis=1)
np.concatenate((a, b), axis=None)
np.stack([a, b])
np.stack([a, b], axis=-1)
np.vstack([a, b])
np.hstack([a, b])
np.dstack([a, b])
np.column_stack([c, c])
np.append(a, b)
np.append(a, b, axis=0)
np.atleast_2d(c)
np.pad(a, 1)
np.pad(a, ((1, 0), (0, 2)))
np.where(a > 1, a, b)
np.clip(a, 0.5, 1.5)
np.maximum(a, b)
np.minimum(a, 1.0)
np.fmax(a, b)
np.abs(a)
np.exp(a)
np.log(a)
np.sqrt(a)
np.square(a)
np.sin(a)
np.cos(a)
np.tan(a)
np.arctan2(a, b)
np.sinh(a)
np.tanh(a)
np.hypot(a, b)
np.logaddexp(a, b)
np.log1p(a)
np.expm1(a)
np.cbrt(a)
np.power(a, 3)
np.mod(a, 0.7)
np.remainder(a, 0.7)
np.fmod(a, 0.7)
np.floor_divide(a, 0.7)
np.true_divide(a, b)
np.sinc(a)
np.deg2rad(a)
np.degrees(a)
np.radians(a)
np.nan_to_num(a)
np.diff(a)
np.diff(a, axis=0)
np.gradient(c)
np.dot(a, b.T)
np.dot(c, c)
np.matmul(a, b.T)
np.inner(a, b)
np.outer(c, c)
np.kron(a, b)
np.cross(d, d.T)
np.tensordot(a, b, 2)
np.tensordot(a, b.T, 1)
np.einsum("ij,kj->ik", a, b)
np.einsum("ij->j", a)
np.trace(d)
np.diag(d)
np.diag(c)
np.diagonal(d)
np.tril(d)
np.triu(d, 1)
np.take(a, [0, 2], axis=1)
np.take_along_axis(a, np.argsort(a, axis=1), axis=1)
np.linalg.inv(d)
np.linalg.det(d)
np.linalg.slogdet(d)[1]
np.linalg.solve(d, c[:3])
np.linalg.norm(a)
np.linalg.norm(c, 1)
np.linalg.norm(a, axis=1)
np.linalg.pinv(a)
np.linalg.matrix_power(d, 2)
np.linalg.cholesky(d @ d.T + np.eye(3))
np.linalg.eigvalsh(d + d.T)
np.linalg.svd(a, compute_uv=False)
np.fft.fft(c).real
np.fft.ifft(c).real
np.fft.rfft(c).imag
np.fft.fft2(a).real
np.amax(a, 0)
np.amin(a, 1)
np.any(a > 2)
np.all(a > 0, axis=1)
np.count_nonzero(a > 1)
np.isnan(a)
np.isclose(a, b)
np.sign(a)
np.floor(a)
np.ceil(a)
np.trunc(a)
np.round(a)
np.real(a)
np.conj(a)
np.zeros((2, 3))
np.ones(3)
np.full((2, 2), 1.5)
np.arange(2, 9, 3)
np.linspace(0, 1, 4)
np.eye(2)
np.zeros_like(a)
np.ones_like(a)
np.identity(3)
np.array([1.0, 2.0])
np.searchsorted(np.array([0.5, 1.0, 2.0]), c)
a.sum(axis=0)
a.mean(1)
a.std()
a.var(axis=1)
a.max(axis=0)
a.transpose()
a.transpose((0, 1))
a.reshape(4, 3)
a.repeat(2)
a.T @ a
a.cumsum()
a.argmax()
a.prod()
a.round()
a.clip(0.5, 1.0)
a.dot(b.T)
a.squeeze()
a.swapaxes(0, 1)
a.flatten()
a.ravel()
a.take([0, 1])
a.astype("float32")
a.any()
a[::-1]
a[:, ::-1]
a[1:, [0, 2]]
a[a > 1]
a[..., None]
a // 0.5
a % 0.7
a ** 2
2 ** a
-a
abs(a)
a @ b.T
a > b
(a > 1) & (b > 1)
(a > 1) | (b > 1)
(a > 1) ^ (b > 1)
~(a > 1)
"""
"""Expressions of NumPy's: `np` is NumPy with arrays, or mg with tensors."""

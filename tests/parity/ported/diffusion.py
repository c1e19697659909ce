import torch
import torch.nn as nn
import torch.nn.functional as F


def linear_beta_schedule(timesteps):
    beta_start = 0.0001
    beta_end = 0.02
    return torch.linspace(beta_start, beta_end, timesteps)


T = 20
betas = linear_beta_schedule(timesteps=T)
alphas = 1.0 - betas
alphas_cumprod = torch.cumprod(alphas, axis=0)
alphas_cumprod_prev = F.pad(alphas_cumprod[:-1], (1, 0), value=1.0)
sqrt_recip_alphas = torch.sqrt(1.0 / alphas)
sqrt_alphas_cumprod = torch.sqrt(alphas_cumprod)
sqrt_one_minus_alphas_cumprod = torch.sqrt(1.0 - alphas_cumprod)
posterior_variance = betas * (1.0 - alphas_cumprod_prev) / (1.0 - alphas_cumprod)


def get_index_from_list(vals, t, x_shape):
    batch_size = t.shape[0]
    out = vals.gather(-1, t.cpu())
    return out.reshape(batch_size, *((1,) * (len(x_shape) - 1))).to(t.device)


class SinusoidalPositionEmbeddings(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, time):
        device = time.device
        half_dim = self.dim // 2
        embeddings = torch.log(torch.tensor(10000.0)) / (half_dim - 1)
        embeddings = torch.exp(torch.arange(half_dim, device=device) * -embeddings)
        embeddings = time[:, None] * embeddings[None, :]
        embeddings = torch.cat((embeddings.sin(), embeddings.cos()), dim=-1)
        return embeddings


class Unet(nn.Module):
    def __init__(self):
        super().__init__()
        self.time_mlp = nn.Sequential(SinusoidalPositionEmbeddings(8), nn.Linear(8, 8), nn.ReLU())
        self.conv0 = nn.Conv2d(1, 8, 3, padding=1)
        self.down = nn.Conv2d(8, 8, 4, 2, 1)
        self.up = nn.ConvTranspose2d(8, 8, 4, 2, 1)
        self.output = nn.Conv2d(16, 1, 1)
        self.bnorm = nn.BatchNorm2d(8)

    def forward(self, x, timestep):
        t = self.time_mlp(timestep)
        x = self.conv0(x)
        h = self.bnorm(F.relu(self.down(x)))
        h = h + t[(...,) + (None,) * 2]
        h = self.up(h)
        return self.output(torch.cat((h, x), dim=1))


def forward_diffusion_sample(x_0, t):
    noise = torch.randn_like(x_0)
    sqrt_alphas_cumprod_t = get_index_from_list(sqrt_alphas_cumprod, t, x_0.shape)
    sqrt_one_minus_alphas_cumprod_t = get_index_from_list(sqrt_one_minus_alphas_cumprod, t, x_0.shape)
    return sqrt_alphas_cumprod_t * x_0 + sqrt_one_minus_alphas_cumprod_t * noise, noise


@torch.no_grad()
def sample_timestep(x, t):
    betas_t = get_index_from_list(betas, t, x.shape)
    sqrt_one_minus_alphas_cumprod_t = get_index_from_list(sqrt_one_minus_alphas_cumprod, t, x.shape)
    sqrt_recip_alphas_t = get_index_from_list(sqrt_recip_alphas, t, x.shape)
    model_mean = sqrt_recip_alphas_t * (x - betas_t * model(x, t) / sqrt_one_minus_alphas_cumprod_t)
    posterior_variance_t = get_index_from_list(posterior_variance, t, x.shape)
    if t == 0:
        return model_mean
    else:
        noise = torch.randn_like(x)
        return model_mean + torch.sqrt(posterior_variance_t) * noise


device = "cuda" if torch.cuda.is_available() else "cpu"
model = Unet()
model.to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=0.001)
out = []
for step in range(3):
    batch = torch.rand(4, 1, 8, 8) * 2 - 1
    optimizer.zero_grad()
    t = torch.randint(0, T, (4,), device=device).long()
    x_noisy, noise = forward_diffusion_sample(batch, t)
    loss = F.l1_loss(noise, model(x_noisy, t))
    loss.backward()
    optimizer.step()
    out.append(loss.item())
img = torch.randn((1, 1, 8, 8), device=device)
for i in range(0, 3)[::-1]:
    t = torch.full((1,), i, device=device, dtype=torch.long)
    img = sample_timestep(img, t)
img = torch.clamp(img, -1.0, 1.0)
out += img.mean(dim=(0, 1, 2)).tolist()

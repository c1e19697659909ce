import math

import torch
import torch.nn as nn

ONEOVERSQRT2PI = 1.0 / math.sqrt(2 * math.pi)


class MDN(nn.Module):
    def __init__(self, in_features, out_features, num_gaussians):
        super(MDN, self).__init__()
        self.in_features = in_features
        self.out_features = out_features
        self.num_gaussians = num_gaussians
        self.pi = nn.Sequential(nn.Linear(in_features, num_gaussians), nn.Softmax(dim=1))
        self.sigma = nn.Linear(in_features, out_features * num_gaussians)
        self.mu = nn.Linear(in_features, out_features * num_gaussians)

    def forward(self, minibatch):
        pi = self.pi(minibatch)
        sigma = torch.exp(self.sigma(minibatch))
        sigma = sigma.view(-1, self.num_gaussians, self.out_features)
        mu = self.mu(minibatch)
        mu = mu.view(-1, self.num_gaussians, self.out_features)
        return pi, sigma, mu


def gaussian_probability(sigma, mu, target):
    target = target.unsqueeze(1).expand_as(sigma)
    ret = ONEOVERSQRT2PI * torch.exp(-0.5 * ((target - mu) / sigma) ** 2) / sigma
    return torch.prod(ret, 2)


def mdn_loss(pi, sigma, mu, target):
    prob = pi * gaussian_probability(sigma, mu, target)
    nll = -torch.log(torch.sum(prob, dim=1))
    return torch.mean(nll)


model = nn.Sequential(nn.Linear(1, 8), nn.Tanh(), MDN(8, 1, 3))
optimizer = torch.optim.Adam(model.parameters())
y_data = torch.linspace(-1, 1, 20).unsqueeze(1)
x_data = 0.7 * torch.sin(7 * y_data) + 0.5 * y_data + torch.randn(20, 1) * 0.05
out = []
for epoch in range(4):
    model.zero_grad()
    pi, sigma, mu = model(x_data)
    loss = mdn_loss(pi, sigma, mu, y_data)
    loss.backward()
    optimizer.step()
    out.append(loss.item())
pis = torch.multinomial(pi, 1).view(-1)
sample = torch.stack([mu[i, k, 0] for i, k in enumerate(pis)])
out.append(sample.mean().item())

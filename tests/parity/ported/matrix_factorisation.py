import numpy as np
import torch
from torch import nn
import torch.nn.functional as F

rng = np.random.default_rng(0)
num_users, num_items = 12, 9
users, items, ratings = rng.integers(0, num_users, 50), rng.integers(0, num_items, 50), rng.integers(1, 6, 50)


class MF(nn.Module):
    def __init__(self, num_users, num_items, emb_size=4):
        super(MF, self).__init__()
        self.user_emb = nn.Embedding(num_users, emb_size)
        self.user_bias = nn.Embedding(num_users, 1)
        self.item_emb = nn.Embedding(num_items, emb_size)
        self.item_bias = nn.Embedding(num_items, 1)
        self.user_emb.weight.data.uniform_(0, 0.05)
        self.item_emb.weight.data.uniform_(0, 0.05)
        self.user_bias.weight.data.uniform_(-0.01, 0.01)
        self.item_bias.weight.data.uniform_(-0.01, 0.01)

    def forward(self, u, v):
        U = self.user_emb(u)
        V = self.item_emb(v)
        b_u = self.user_bias(u).squeeze()
        b_v = self.item_bias(v).squeeze()
        return (U * V).sum(1) + b_u + b_v


def train_epocs(model, epochs=4, lr=0.01, wd=0.0):
    optimizer = torch.optim.Adam(model.parameters(), lr=lr, weight_decay=wd)
    model.train()
    for i in range(epochs):
        u = torch.LongTensor(users[:40])
        v = torch.LongTensor(items[:40])
        r = torch.FloatTensor(ratings[:40])
        y_hat = model(u, v)
        loss = F.mse_loss(y_hat, r)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        out.append(loss.item())
    test_loss(model)


def test_loss(model):
    model.eval()
    u = torch.LongTensor(users[40:])
    v = torch.LongTensor(items[40:])
    r = torch.FloatTensor(ratings[40:])
    y_hat = model(u, v)
    loss = F.mse_loss(y_hat, r)
    out.append(loss.item())


out = []
train_epocs(MF(num_users, num_items), epochs=4, lr=0.1, wd=1e-5)

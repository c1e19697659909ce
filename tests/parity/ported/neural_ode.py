import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim


class ODEFunc(nn.Module):
    def __init__(self):
        super(ODEFunc, self).__init__()
        self.net = nn.Sequential(nn.Linear(2, 10), nn.Tanh(), nn.Linear(10, 2))
        for m in self.net.modules():
            if isinstance(m, nn.Linear):
                nn.init.normal_(m.weight, mean=0, std=0.1)
                nn.init.constant_(m.bias, val=0)

    def forward(self, t, y):
        return self.net(y**3)


def rk4_step(func, t, dt, y):
    k1 = func(t, y)
    k2 = func(t + dt / 2, y + dt * k1 / 2)
    k3 = func(t + dt / 2, y + dt * k2 / 2)
    k4 = func(t + dt, y + dt * k3)
    return (k1 + 2 * k2 + 2 * k3 + k4) * dt / 6


def odeint(func, y0, t):
    solution = torch.empty(len(t), *y0.shape, dtype=y0.dtype, device=y0.device)
    solution[0] = y0
    y = y0
    for j, (t0, t1) in enumerate(zip(t[:-1], t[1:])):
        y = y + rk4_step(func, t0, t1 - t0, y)
        solution[j + 1] = y
    return solution


class Lambda(nn.Module):
    def forward(self, t, y):
        return torch.mm(y**3, true_A)


device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
true_y0 = torch.tensor([[2.0, 0.0]]).to(device)
t = torch.linspace(0.0, 2.0, 12).to(device)
true_A = torch.tensor([[-0.1, 2.0], [-2.0, -0.1]]).to(device)
with torch.no_grad():
    true_y = odeint(Lambda(), true_y0, t)
rng = np.random.default_rng(0)


def get_batch(batch_time=4, batch_size=3):
    s = torch.from_numpy(rng.choice(np.arange(12 - batch_time, dtype=np.int64), batch_size, replace=False))
    batch_y0 = true_y[s]
    batch_t = t[:batch_time]
    batch_y = torch.stack([true_y[s + i] for i in range(batch_time)], dim=0)
    return batch_y0.to(device), batch_t.to(device), batch_y.to(device)


func = ODEFunc().to(device)
optimizer = optim.RMSprop(func.parameters(), lr=1e-3)
out = []
for itr in range(4):
    optimizer.zero_grad()
    batch_y0, batch_t, batch_y = get_batch()
    pred_y = odeint(func, batch_y0, batch_t).to(device)
    loss = torch.mean(torch.abs(pred_y - batch_y))
    loss.backward()
    optimizer.step()
    out.append(loss.item())

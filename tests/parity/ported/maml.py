import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from collections import OrderedDict


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.vars = nn.ParameterList()
        for fan_in, fan_out in [(1, 8), (8, 8), (8, 1)]:
            w = nn.Parameter(torch.ones(fan_out, fan_in))
            torch.nn.init.kaiming_normal_(w)
            self.vars.append(w)
            self.vars.append(nn.Parameter(torch.zeros(fan_out)))

    def forward(self, x, vars=None):
        if vars is None:
            vars = self.vars
        for i in range(0, len(vars), 2):
            x = F.linear(x, vars[i], vars[i + 1])
            if i < len(vars) - 2:
                x = F.relu(x)
        return x


rng = np.random.default_rng(0)
net = Net()
meta_optim = torch.optim.Adam(net.parameters(), lr=1e-3)
update_lr, update_step, task_num, k_shot = 0.01, 2, 3, 5
out = []
for step in range(3):
    losses_q = [0 for _ in range(update_step + 1)]
    for i in range(task_num):
        amplitude, phase = rng.uniform(0.1, 5.0), rng.uniform(0, np.pi)
        x = torch.from_numpy(rng.uniform(-5, 5, (2 * k_shot, 1))).float()
        y = amplitude * torch.sin(x + phase)
        x_spt, y_spt, x_qry, y_qry = x[:k_shot], y[:k_shot], x[k_shot:], y[k_shot:]
        loss = F.mse_loss(net(x_spt), y_spt)
        grad = torch.autograd.grad(loss, net.parameters(), create_graph=True)
        fast_weights = list(map(lambda p: p[1] - update_lr * p[0], zip(grad, net.parameters())))
        with torch.no_grad():
            losses_q[0] += F.mse_loss(net(x_qry), y_qry)
        for k in range(1, update_step):
            loss = F.mse_loss(net(x_spt, fast_weights), y_spt)
            grad = torch.autograd.grad(loss, fast_weights, create_graph=True)
            fast_weights = list(map(lambda p: p[1] - update_lr * p[0], zip(grad, fast_weights)))
            losses_q[k + 1] += F.mse_loss(net(x_qry, fast_weights), y_qry)
    loss_q = losses_q[-1] / task_num
    meta_optim.zero_grad()
    loss_q.backward()
    meta_optim.step()
    out += [losses_q[0].item(), loss_q.item()]

import numpy as np
import torch
import torch.nn as nn


class Sequence(nn.Module):
    def __init__(self):
        super(Sequence, self).__init__()
        self.lstm1 = nn.LSTMCell(1, 8)
        self.lstm2 = nn.LSTMCell(8, 8)
        self.linear = nn.Linear(8, 1)

    def forward(self, input, future=0):
        outputs = []
        h_t = torch.zeros(input.size(0), 8, dtype=torch.double)
        c_t = torch.zeros(input.size(0), 8, dtype=torch.double)
        h_t2 = torch.zeros(input.size(0), 8, dtype=torch.double)
        c_t2 = torch.zeros(input.size(0), 8, dtype=torch.double)
        for input_t in input.split(1, dim=1):
            h_t, c_t = self.lstm1(input_t, (h_t, c_t))
            h_t2, c_t2 = self.lstm2(h_t, (h_t2, c_t2))
            output = self.linear(h_t2)
            outputs += [output]
        for i in range(future):
            h_t, c_t = self.lstm1(output, (h_t, c_t))
            h_t2, c_t2 = self.lstm2(h_t, (h_t2, c_t2))
            output = self.linear(h_t2)
            outputs += [output]
        outputs = torch.cat(outputs, dim=1)
        return outputs


np.random.seed(0)
torch.manual_seed(0)
data = np.sin(np.arange(12)[None, :] * 0.5 + np.arange(5)[:, None])
input = torch.from_numpy(data[3:, :-1])
target = torch.from_numpy(data[3:, 1:])
test_input = torch.from_numpy(data[:3, :-1])
seq = Sequence()
seq.double()
criterion = nn.MSELoss()
optimizer = torch.optim.Adam(seq.parameters(), lr=0.02)
losses = []
for i in range(4):
    optimizer.zero_grad()
    loss = criterion(seq(input), target)
    losses.append(loss.item())
    loss.backward()
    optimizer.step()
with torch.no_grad():
    pred = seq(test_input, future=5)
    y = pred.detach().numpy()
out = [*losses, *y[0]]

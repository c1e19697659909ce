import numpy as np
import torch
from torch import nn

rng = np.random.default_rng(0)
X = rng.standard_normal((50, 4))
y = (X @ [1.0, -2.0, 0.5, 0.0] > 0).astype(np.float64)
X = torch.from_numpy(X.astype(np.float64))
y = torch.from_numpy(y).view(-1, 1)


class LogisticRegression(nn.Module):
    def __init__(self, n_input_features):
        super(LogisticRegression, self).__init__()
        self.linear = nn.Linear(n_input_features, 1)

    def forward(self, x):
        return torch.sigmoid(self.linear(x))


n_samples, n_features = X.shape
model = LogisticRegression(n_features)
criterion = nn.BCELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
out = []
for epoch in range(20):
    y_pred = model(X)
    loss = criterion(y_pred, y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    out.append(loss.item())
with torch.no_grad():
    y_predicted_cls = model(X).round()
    acc = y_predicted_cls.eq(y).sum() / float(y.shape[0])
    out.append(acc.item())

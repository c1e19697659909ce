import numpy as np
import torch
import torch.nn as nn

x_train = np.array([[3.3], [4.4], [5.5], [6.71], [6.93], [4.168], [9.779], [6.182]], dtype=np.float32)
y_train = np.array([[1.7], [2.76], [2.09], [3.19], [1.694], [1.573], [3.366], [2.596]], dtype=np.float32)
model = nn.Linear(1, 1)
criterion = nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
losses = []
for epoch in range(20):
    inputs = torch.from_numpy(x_train).float()
    targets = torch.from_numpy(y_train).float()
    outputs = model(inputs)
    loss = criterion(outputs, targets)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if (epoch + 1) % 5 == 0:
        losses.append(loss.item())
predicted = model(torch.from_numpy(x_train).float()).detach().numpy()
out = [*losses, *predicted.ravel()]

import torch
from torch import nn
from torch.utils.data import DataLoader


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(36, 16), nn.ReLU(True), nn.Linear(16, 4))
        self.decoder = nn.Sequential(nn.Linear(4, 16), nn.ReLU(True), nn.Linear(16, 36), nn.Tanh())

    def forward(self, x):
        x = self.encoder(x)
        x = self.decoder(x)
        return x


num_epochs = 3
batch_size = 8
learning_rate = 1e-3
dataset = [(torch.rand(1, 6, 6), 0) for _ in range(24)]
dataloader = DataLoader(dataset, batch_size=batch_size, shuffle=False)
model = Autoencoder()
criterion = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate, weight_decay=1e-5)
out = []
for epoch in range(num_epochs):
    for data in dataloader:
        img, _ = data
        img = img.view(img.size(0), -1)
        output = model(img)
        loss = criterion(output, img)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    out.append(loss.item())

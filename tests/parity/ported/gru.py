import torch
import torch.nn as nn


class GRUNet(nn.Module):
    def __init__(self, input_dim, hidden_dim, output_dim, n_layers, drop_prob=0.2):
        super(GRUNet, self).__init__()
        self.hidden_dim = hidden_dim
        self.n_layers = n_layers
        self.gru = nn.GRU(input_dim, hidden_dim, n_layers, batch_first=True)
        self.fc = nn.Linear(hidden_dim, output_dim)
        self.relu = nn.ReLU()

    def forward(self, x, h):
        out, h = self.gru(x, h)
        out = self.fc(self.relu(out[:, -1]))
        return out, h

    def initHidden(self, batch_size):
        weight = next(self.parameters()).data
        hidden = weight.new(self.n_layers, batch_size, self.hidden_dim).zero_().to(device)
        return hidden


device = torch.device("cuda") if torch.cuda.is_available() else torch.device("cpu")
model = GRUNet(3, 8, 1, 2)
model.to(device)
criterion = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
batches = [(torch.randn(6, 5, 3), torch.randn(6, 1)) for _ in range(3)]
model.train()
out = []
for epoch in range(2):
    h = model.initHidden(6)
    avg_loss = 0.0
    for x, label in batches:
        h = h.data
        model.zero_grad()
        prediction, h = model(x.to(device).float(), h)
        loss = criterion(prediction, label.to(device).float())
        loss.backward()
        optimizer.step()
        avg_loss += loss.item()
    out.append(avg_loss / 3)
model.eval()
pred, h = model(batches[0][0], model.initHidden(6))
out += pred.view(-1).tolist()

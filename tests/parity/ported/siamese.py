import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import optim


class SiameseNetwork(nn.Module):
    def __init__(self):
        super(SiameseNetwork, self).__init__()
        self.cnn1 = nn.Sequential(
            nn.Conv2d(1, 4, kernel_size=3), nn.ReLU(inplace=True), nn.MaxPool2d(2, stride=2), nn.Conv2d(4, 6, kernel_size=2),
            nn.ReLU(inplace=True),
        )
        self.fc1 = nn.Sequential(nn.Linear(6 * 2 * 2, 8), nn.ReLU(inplace=True), nn.Linear(8, 2))

    def forward_once(self, x):
        output = self.cnn1(x)
        output = output.view(output.size()[0], -1)
        output = self.fc1(output)
        return output

    def forward(self, input1, input2):
        output1 = self.forward_once(input1)
        output2 = self.forward_once(input2)
        return output1, output2


class ContrastiveLoss(torch.nn.Module):
    def __init__(self, margin=2.0):
        super(ContrastiveLoss, self).__init__()
        self.margin = margin

    def forward(self, output1, output2, label):
        euclidean_distance = F.pairwise_distance(output1, output2, keepdim=True)
        loss_contrastive = torch.mean(
            (1 - label) * torch.pow(euclidean_distance, 2)
            + (label) * torch.pow(torch.clamp(self.margin - euclidean_distance, min=0.0), 2)
        )
        return loss_contrastive


net = SiameseNetwork()
criterion = ContrastiveLoss()
optimizer = optim.Adam(net.parameters(), lr=0.0005)
out = []
for epoch in range(3):
    img0, img1, label = torch.rand(4, 1, 8, 8), torch.rand(4, 1, 8, 8), torch.randint(0, 2, (4, 1)).float()
    optimizer.zero_grad()
    output1, output2 = net(img0, img1)
    loss_contrastive = criterion(output1, output2, label)
    loss_contrastive.backward()
    optimizer.step()
    out.append(loss_contrastive.item())

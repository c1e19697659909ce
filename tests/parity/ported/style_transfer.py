import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class ContentLoss(nn.Module):
    def __init__(self, target):
        super(ContentLoss, self).__init__()
        self.target = target.detach()

    def forward(self, input):
        self.loss = F.mse_loss(input, self.target)
        return input


def gram_matrix(input):
    a, b, c, d = input.size()
    features = input.view(a * b, c * d)
    G = torch.mm(features, features.t())
    return G.div(a * b * c * d)


class StyleLoss(nn.Module):
    def __init__(self, target_feature):
        super(StyleLoss, self).__init__()
        self.target = gram_matrix(target_feature).detach()

    def forward(self, input):
        G = gram_matrix(input)
        self.loss = F.mse_loss(G, self.target)
        return input


class Normalization(nn.Module):
    def __init__(self, mean, std):
        super(Normalization, self).__init__()
        self.mean = torch.tensor(mean).view(-1, 1, 1)
        self.std = torch.tensor(std).view(-1, 1, 1)

    def forward(self, img):
        return (img - self.mean) / self.std


cnn = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.ReLU(), nn.Conv2d(4, 4, 3, padding=1)).to(device).eval()
content_img, style_img = torch.rand(1, 3, 6, 6), torch.rand(1, 3, 6, 6)
model = nn.Sequential(Normalization([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]))
content_losses, style_losses = [], []
for i, layer in enumerate(cnn.children()):
    model.add_module("layer_{}".format(i), layer)
    if i == 2:
        content_loss = ContentLoss(model(content_img).detach())
        model.add_module("content_loss", content_loss)
        content_losses.append(content_loss)
    if isinstance(layer, nn.Conv2d):
        style_loss = StyleLoss(model(style_img).detach())
        model.add_module("style_loss_{}".format(i), style_loss)
        style_losses.append(style_loss)
input_img = content_img.clone()
input_img.requires_grad_(True)
model.eval()
model.requires_grad_(False)
optimizer = optim.Adam([input_img], lr=0.02)
out = []
for run in range(4):
    with torch.no_grad():
        input_img.clamp_(0, 1)
    optimizer.zero_grad()
    model(input_img)
    style_score = 0
    content_score = 0
    for sl in style_losses:
        style_score += sl.loss
    for cl in content_losses:
        content_score += cl.loss
    style_score *= 1000
    loss = style_score + content_score
    loss.backward()
    optimizer.step()
    out += [style_score.item(), content_score.item()]
with torch.no_grad():
    input_img.clamp_(0, 1)
out += input_img.mean(dim=[0, 2, 3]).tolist()

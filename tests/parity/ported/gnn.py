import torch
import torch.nn as nn
import torch.nn.functional as F

edges = [
    (0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3), (3, 4), (4, 5), (4, 6), (5, 6), (5, 7), (6, 7), (7, 8), (8, 9),
    (9, 10), (10, 11), (9, 11), (8, 10),
]
n = 12
A = torch.zeros(n, n)
for i, j in edges:
    A[i, j] = 1
    A[j, i] = 1
A_hat = A + torch.eye(n)
D = torch.diag(torch.sum(A_hat, dim=1) ** (-0.5))
A_norm = torch.mm(torch.mm(D, A_hat), D)


class GraphConvolution(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(in_features, out_features))
        self.bias = nn.Parameter(torch.empty(out_features))
        self.reset_parameters()

    def reset_parameters(self):
        stdv = 1.0 / (self.weight.size(1) ** 0.5)
        self.weight.data.uniform_(-stdv, stdv)
        self.bias.data.uniform_(-stdv, stdv)

    def forward(self, input, adj):
        support = torch.mm(input, self.weight)
        output = torch.spmm(adj, support)
        return output + self.bias


class GCN(nn.Module):
    def __init__(self, nfeat, nhid, nclass, dropout):
        super().__init__()
        self.gc1 = GraphConvolution(nfeat, nhid)
        self.gc2 = GraphConvolution(nhid, nclass)
        self.dropout = dropout

    def forward(self, x, adj):
        x = F.relu(self.gc1(x, adj))
        x = F.dropout(x, self.dropout, training=self.training)
        x = self.gc2(x, adj)
        return F.log_softmax(x, dim=1)


def accuracy(output, labels):
    preds = output.max(1)[1].type_as(labels)
    correct = preds.eq(labels).double()
    correct = correct.sum()
    return correct / len(labels)


features = torch.eye(n)
labels = torch.LongTensor([0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2])
idx_train = torch.LongTensor([0, 4, 8])
model = GCN(n, 6, 3, 0.5)
optimizer = torch.optim.Adam(model.parameters(), lr=0.05, weight_decay=5e-4)
out = []
for epoch in range(5):
    model.train()
    optimizer.zero_grad()
    output = model(features, A_norm)
    loss_train = F.nll_loss(output[idx_train], labels[idx_train])
    loss_train.backward()
    optimizer.step()
    model.eval()
    output = model(features, A_norm)
    out += [loss_train.item(), accuracy(output, labels).item()]

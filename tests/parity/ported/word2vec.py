import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim

test_sentence = """when forty winters shall besiege thy brow and dig deep trenches in thy beautys field
thy youths proud livery so gazed on now will be a totterd weed of small worth held""".split()
vocab = sorted(set(test_sentence))
word_to_ix = {word: i for i, word in enumerate(vocab)}
neg_rng_words = len(vocab)


class SkipGramNeg(nn.Module):
    def __init__(self, n_vocab, n_embed):
        super().__init__()
        self.n_vocab = n_vocab
        self.n_embed = n_embed
        self.in_embed = nn.Embedding(n_vocab, n_embed)
        self.out_embed = nn.Embedding(n_vocab, n_embed)
        self.in_embed.weight.data.uniform_(-1, 1)
        self.out_embed.weight.data.uniform_(-1, 1)

    def forward_noise(self, batch_size, n_samples):
        noise_dist = torch.ones(self.n_vocab)
        noise_words = torch.multinomial(noise_dist, batch_size * n_samples, replacement=True)
        noise_vectors = self.out_embed(noise_words).view(batch_size, n_samples, self.n_embed)
        return noise_vectors


class NegativeSamplingLoss(nn.Module):
    def forward(self, input_vectors, output_vectors, noise_vectors):
        batch_size, embed_size = input_vectors.shape
        input_vectors = input_vectors.view(batch_size, embed_size, 1)
        output_vectors = output_vectors.view(batch_size, 1, embed_size)
        out_loss = torch.bmm(output_vectors, input_vectors).sigmoid().log()
        out_loss = out_loss.squeeze()
        noise_loss = torch.bmm(noise_vectors.neg(), input_vectors).sigmoid().log()
        noise_loss = noise_loss.squeeze().sum(1)
        return -(out_loss + noise_loss).mean()


model = SkipGramNeg(len(vocab), 6)
criterion = NegativeSamplingLoss()
optimizer = optim.Adam(model.parameters(), lr=0.003)
out = []
for step in range(4):
    center = test_sentence[step : step + 8]
    context = test_sentence[step + 1 : step + 9]
    inputs = torch.LongTensor([word_to_ix[w] for w in center])
    targets = torch.LongTensor([word_to_ix[w] for w in context])
    input_vectors = model.in_embed(inputs)
    output_vectors = model.out_embed(targets)
    noise_vectors = model.forward_noise(inputs.shape[0], 3)
    loss = criterion(input_vectors, output_vectors, noise_vectors)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    out.append(loss.item())
embed_vectors = model.in_embed.weight
magnitudes = embed_vectors.pow(2).sum(dim=1).sqrt().unsqueeze(0)
similarities = torch.mm(embed_vectors[:2], embed_vectors.t()) / magnitudes
_, closest_idxs = similarities.topk(3)
out += closest_idxs.flatten().tolist()

"""The lines of each program that mean something else here, or have no meaning, and what replaces them."""

PREDICTED = ("_, predicted = torch.max(outputs.data, 1)", "predicted = outputs.argmax(1)")
GENERATOR = ("g = torch.Generator().manual_seed(2147483647)", "g = torch.random.default_rng(2147483647)")

CHANGES = {
    "autoencoder": [
        ("from torch.utils.data import DataLoader", ""),
        (
            "dataloader = DataLoader(dataset, batch_size=batch_size, shuffle=False)",
            "dataloader = [(torch.stack([x for x, _ in dataset[i : i + batch_size]]), 0) for i in range(0, 24, batch_size)]",
        ),
    ],
    "distillation": [PREDICTED],
    "dqn": [
        ("return policy_net(state).max(1).indices.view(1, 1)", "return policy_net(state).argmax(1).view(1, 1)"),
        (
            "next_state_values[non_final_mask] = target_net(non_final_next_states).max(1).values",
            "next_state_values[non_final_mask] = target_net(non_final_next_states).max(axis=1)",
        ),
    ],
    "fgsm": [
        ("perturbed_image = torch.clamp(perturbed_image, 0, 1)", "perturbed_image = torch.clip(perturbed_image, 0, 1)"),

        ("init_pred = output.max(1, keepdim=True)[1]", "init_pred = output.argmax(1, keepdim=True)"),
        ("data_grad = data.grad.data", "data_grad = data.grad"),
        ("final_pred = output.max(1, keepdim=True)[1]", "final_pred = output.argmax(1, keepdim=True)"),
    ],
    "gnn": [
        ("A_norm = torch.mm(torch.mm(D, A_hat), D)", "A_norm = D @ A_hat @ D"),
        ("self.weight.data.uniform_(-stdv, stdv)", "nn.init.uniform_(self.weight, -stdv, stdv)"),
        ("self.bias.data.uniform_(-stdv, stdv)", "nn.init.uniform_(self.bias, -stdv, stdv)"),
        ("support = torch.mm(input, self.weight)", "support = input @ self.weight"),
        ("output = torch.spmm(adj, support)", "output = adj @ support"),
        ("preds = output.max(1)[1].type_as(labels)", "preds = output.argmax(1).type_as(labels)"),
        (
            "labels = torch.LongTensor([0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2])",
            "labels = torch.tensor([0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2])",
        ),
        ("idx_train = torch.LongTensor([0, 4, 8])", "idx_train = torch.tensor([0, 4, 8])"),
    ],
    "gru": [
        (
            "hidden = weight.new(self.n_layers, batch_size, self.hidden_dim).zero_().to(device)",
            "hidden = torch.zeros(self.n_layers, batch_size, self.hidden_dim).to(device)",
        ),
    ],
    "lenet": [PREDICTED],
    "linear_regression_by_hand": [
        ("X = torch.normal(0, 1, (num_examples, len(w)))", "X = torch.random.normal(0, 1, (num_examples, len(w)))"),
        ("y += torch.normal(0, 0.01, y.shape)", "y += torch.random.normal(0, 0.01, y.shape)"),
        (
            "w = torch.normal(0, 0.01, size=(2, 1), requires_grad=True)",
            "w = torch.random.normal(0, 0.01, size=(2, 1)).requires_grad_()",
        ),
    ],
    "lstm": [("for input_t in input.split(1, dim=1):", "for input_t in torch.split(input, input.shape[1], 1):")],
    "makemore1": [GENERATOR],
    "makemore2": [GENERATOR],
    "makemore3": [
        ("xvar = x.var(0, keepdim=True)", "xvar = x.var(0, ddof=1, keepdims=True)"),
        (
            "out += [t.mean().item(), t.std().item(), (t.abs() > 0.97).float().mean().item(), layer.out.grad.std().item()]",
            "out += [t.mean().item(), t.std(ddof=1).item(), (t.abs() > 0.97).float().mean().item(), t.grad.std(ddof=1).item()]",
        ),
GENERATOR],
    "makemore4": [
        GENERATOR,
        ("logit_maxes = logits.max(1, keepdim=True).values", "logit_maxes = logits.max(axis=1, keepdims=True)"),
        (
            "dlogits += F.one_hot(logits.max(1).indices, num_classes=logits.shape[1]) * dlogit_maxes",
            "dlogits += F.one_hot(logits.argmax(1), num_classes=logits.shape[1]) * dlogit_maxes",
        ),
    ],
    "matrix_factorisation": [
        *(
            (f"self.{name}.weight.data.uniform_({low}, {high})", f"nn.init.uniform_(self.{name}.weight, {low}, {high})")
            for name, low, high in [
                ("user_emb", 0, 0.05), ("item_emb", 0, 0.05), ("user_bias", -0.01, 0.01), ("item_bias", -0.01, 0.01)
            ]
        ),
        *(
            (f"{name} = torch.LongTensor({values}[{cut}])", f"{name} = torch.tensor({values}[{cut}])")
            for cut in (":40", "40:") for name, values in (("u", "users"), ("v", "items"))
        ),
        *(
            (f"r = torch.FloatTensor(ratings[{cut}])", f"r = torch.tensor(ratings[{cut}], dtype=torch.float)")
            for cut in (":40", "40:")
        ),
    ],
    "nanogpt": [
        (
            "q, k, v = self.c_attn(x).split(self.n_embd, dim=2)",
            "q, k, v = torch.split(self.c_attn(x), 3, axis=2)",
        ),
    ],
    "neural_ode": [("return torch.mm(y**3, true_A)", "return y**3 @ true_A")],
    "normalising_flow": [
        ("log_det_J, z = x.new_zeros(x.shape[0]), x", "log_det_J, z = torch.zeros(x.shape[0]), x"),
    ],
    "policy_gradient": [
        (
            "returns = (returns - returns.mean()) / (returns.std() + eps)",
            "returns = (returns - returns.mean()) / (returns.std(ddof=1) + eps)",
        ),
    ],
    "resnet": [PREDICTED],
    "softmax_regression": [
        ("cmp = y_hat.type(y.dtype) == y", "cmp = y_hat.astype(y.dtype) == y"),
        ("return float(cmp.type(y.dtype).sum())", "return float(cmp.astype(y.dtype).sum())"),

        (
            "W = torch.normal(0, 0.01, size=(num_inputs, num_outputs), requires_grad=True)",
            "W = torch.random.normal(0, 0.01, size=(num_inputs, num_outputs)).requires_grad_()",
        ),
    ],
    "style_transfer": [
        ("out += input_img.mean(dim=[0, 2, 3]).tolist()", "out += input_img.mean(dim=(0, 2, 3)).tolist()"),
("G = torch.mm(features, features.t())", "G = features @ features.t()")],
    "translation_transformer": [
        (
            "nopeak_mask = (1 - torch.triu(torch.ones(1, seq_length, seq_length), diagonal=1)).bool()",
            "nopeak_mask = (1 - torch.triu(torch.ones(1, seq_length, seq_length), 1)).bool()",
        ),
    ],
    "siamese": [
        ("(1 - label) * torch.pow(euclidean_distance, 2)", "(1 - label) * euclidean_distance**2"),

        (
            "euclidean_distance = F.pairwise_distance(output1, output2, keepdim=True)",
            "euclidean_distance = torch.norm(output1 - output2 + 1e-6, axis=-1, keepdims=True)",
        ),
        (
            "+ (label) * torch.pow(torch.clamp(self.margin - euclidean_distance, min=0.0), 2)",
            "+ (label) * torch.clip(self.margin - euclidean_distance, min=0.0) ** 2",
        ),
    ],
    "word2vec": [
        ("inputs = torch.LongTensor([word_to_ix[w] for w in center])", "inputs = torch.tensor([word_to_ix[w] for w in center])"),
        (
            "targets = torch.LongTensor([word_to_ix[w] for w in context])",
            "targets = torch.tensor([word_to_ix[w] for w in context])",
        ),
        (
            "out_loss = torch.bmm(output_vectors, input_vectors).sigmoid().log()",
            "out_loss = (output_vectors @ input_vectors).sigmoid().log()",
        ),
        (
            "noise_loss = torch.bmm(noise_vectors.neg(), input_vectors).sigmoid().log()",
            "noise_loss = (-noise_vectors @ input_vectors).sigmoid().log()",
        ),
        (
            "similarities = torch.mm(embed_vectors[:2], embed_vectors.t()) / magnitudes",
            "similarities = embed_vectors[:2] @ embed_vectors.t() / magnitudes",
        ),

        ("self.in_embed.weight.data.uniform_(-1, 1)", "nn.init.uniform_(self.in_embed.weight, -1, 1)"),
        ("self.out_embed.weight.data.uniform_(-1, 1)", "nn.init.uniform_(self.out_embed.weight, -1, 1)"),
    ],
    "diffusion": [
        ("img = torch.clamp(img, -1.0, 1.0)", "img = torch.clip(img, -1.0, 1.0)"),
    ],
    "makemore5": [
        ("xvar = x.var(dim, keepdim=True)", "xvar = x.var(dim, ddof=1, keepdims=True)"),
    ],
    "rnn_text": [
        ("p.data.add_(p.grad.data, alpha=-learning_rate)", "p.data -= learning_rate * p.grad.data"),
    ],
    "seq2seq_attention": [
        (
            "attn_applied = torch.bmm(attn_weights.unsqueeze(0), encoder_outputs.unsqueeze(0))",
            "attn_applied = attn_weights.unsqueeze(0) @ encoder_outputs.unsqueeze(0)",
        ),
    ],
    "wgan_gp": [
        ("gradient_penalty = compute_gradient_penalty(discriminator, real_imgs.data, fake_imgs.data)",
         "gradient_penalty = compute_gradient_penalty(discriminator, real_imgs, fake_imgs.detach())"),
        ("gradient_penalty = ((gradients.norm(2, dim=1) - 1) ** 2).mean()",
         "gradient_penalty = ((torch.norm(gradients, dim=1) - 1) ** 2).mean()"),
    ],
}

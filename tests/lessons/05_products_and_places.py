"""Right contents of the cells that a student completes in lesson 05."""

CELLS = {
    "matmul.a.gaps": """\
@exercises.answer("matmul.a.gaps")
def matmul_a_gaps(xp, upstream, b):
    return xp.matmul(upstream, xp.mT(b))
""",
    "matmul.b": """\
@exercises.answer("matmul.b")
def matmul_b(xp, upstream, a):
    return xp.matmul(xp.mT(a), upstream)
""",
    "embedding.weight.lines": """\
@exercises.answer("embedding.weight.lines")
def embedding_weight_lines(xp, upstream, indices, weight, out, padding_idx):
    gradient = np.zeros(weight.shape)
    np.add.at(gradient, indices, upstream)
    if padding_idx is not None: gradient[padding_idx] = 0
    return gradient
""",
    "# In all these rules, what does an entry receive?": """\
sentence = "What arrived at each output that it touched, times how fast it moves it, added up."
""",
}

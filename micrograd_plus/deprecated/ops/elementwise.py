"""What is now in the modules of `micrograd_plus.ops` that treat each entry by itself."""

from micrograd_plus.deprecated import parted

parted(
    __name__, "ops.arithmetic", "ops.exponentials", "ops.trigonometry", "ops.rounding", "ops.complexes",
    "ops.comparisons", "ops.casts",
)  # fmt: skip

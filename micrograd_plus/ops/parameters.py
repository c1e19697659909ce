"""Parameters of operations that must be whole numbers, and the least value that each may have."""

from ..core.messages import whole_numbers

whole_numbers.update({
    **dict.fromkeys(("kernel_size", "stride", "dilation", "output_size", "groups", "num_groups", "heads", "block"), 1),
    **dict.fromkeys(("n_fft", "hop", "hop_length", "n_mels", "size", "length", "images"), 1),
    **dict.fromkeys(("padding", "output_padding", "num_classes"), 0),
    **dict.fromkeys(("k", "offset", "shift", "decimals", "n"), None),
})  # fmt: skip

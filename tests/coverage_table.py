"""Table of functions and features that the engine must differentiate; test_coverage.py checks each row.

A row names what covers it, under `mg`: operations, whose samples carry every check, and functions made of operations,
which need a call here to be checked on. A row of features names the tests that hold it.
"""

from __future__ import annotations

from typing import Any

from micrograd_plus.checks.samples import inner, positive, real, spaced


class Call:
    """A call of a function composed of operations.

    Callable inputs are drawn and must have the right gradient; other inputs are passed unchanged.
    """

    def __init__(self, path: str, *inputs: Any, **params: Any):
        self.path, self.inputs, self.params = path, inputs, params

    def __repr__(self) -> str:
        shown = [str(value) if isinstance(value, (int, str, tuple, list)) else "…" for value in self.inputs]
        return f"{self.path}({', '.join([*shown, *(f'{name}={value!r}' for name, value in self.params.items())])})"


class Row:
    """A row of a table: its name, functions that cover it (paths under `mg`), and calls of functions without samples.

    `convention` states why differences cannot check the gradient; `tests` names further tests, as file::test.
    """

    def __init__(self, name: str, covers: str = "", *calls: Call, convention: str = "", tests: str = ""):
        self.name, self.covers, self.calls = name, covers.split(), calls
        self.convention, self.tests = convention, tests.split()

    def __repr__(self) -> str:
        return self.name


STRAIGHT_THROUGH = "rounding counts as the identity in the backward walk"

TABLES = {
    "Elementwise, one argument": [
        Row("negative, positive", "negative positive"),
        Row("abs", "abs",
            tests="test_conventions::test_the_slope_of_the_absolute_value_is_the_sign_and_0_at_0"),
        Row("exponentials and logarithms", "exp expm1 log log1p log2 log10"),
        Row("roots and powers", "sqrt rsqrt cbrt square reciprocal"),
        Row("trigonometry", "sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh"),
        Row("sigmoid, logsigmoid, softplus", "sigmoid logsigmoid softplus",
            tests="test_conventions::test_activations_do_not_overflow_for_large_inputs"),
        Row("activations", "relu leaky_relu elu selu celu relu6 hardtanh hardsigmoid hardswish softsign mish",
            tests="test_conventions::test_the_slope_of_relu_at_0_is_0"),
        Row("gelu, silu", "gelu silu", Call("gelu", real(2, 3)), Call("gelu", real(2, 3), approximate="tanh"),
            tests="test_conventions::test_gelu_has_an_exact_and_an_approximate_form"),
        Row("erf, erfc", "erf erfc",
            tests="test_conventions::test_erf_needs_no_scipy_and_is_exact_to_twelve_digits"),
        Row("rounding and sign", "floor ceil round trunc sign",
            tests="test_conventions::test_a_step_sends_0_and_the_walk_says_so"),
        Row("clip", "clip",
            tests="test_conventions::test_clip_lets_the_gradient_pass_at_the_bounds_themselves"),
        Row("astype", "astype", tests="test_conventions::test_the_gradient_of_a_cast_is_cast_back"),
    ],
    "Elementwise, two or more arguments": [
        Row("arithmetic", "add subtract multiply divide",
            tests="test_conventions::test_numbers_are_constants_and_keep_single_precision"),
        Row("power", "power",
            tests="test_conventions::test_powers_of_0_have_the_slope_they_have_in_the_limit "
            "test_conventions::test_powers_of_a_negative_base_have_only_its_gradient"),
        Row("affine", "affine"),
        Row("maximum, minimum", "maximum minimum",
            tests="test_conventions::test_entries_that_tie_receive_half_of_the_gradient"),
        Row("where", "where",
            tests="test_conventions::test_entries_that_where_drops_receive_0"),
        Row("angles, lengths, signs, remainders", "arctan2 hypot logaddexp copysign fmod remainder"),
        Row(
            "comparisons, logical operations, isnan",
            "equal not_equal less less_equal greater greater_equal "
            "logical_and logical_or logical_xor logical_not isnan isinf isfinite isclose",
            tests="test_conventions::test_a_comparison_has_no_graph",
        ),
        Row("fused chains", "lerp addcmul"),
    ],
    "Reductions and scans": [
        Row("sum, mean", "sum mean"),
        Row("max, min", "max min",
            tests="test_conventions::test_tied_extreme_entries_share_the_gradient"),
        Row("prod", "prod",
            tests="test_conventions::test_a_product_with_zeros_has_exact_gradients"),
        Row("var, std, norm, logsumexp", "var std norm logsumexp"),
        Row("running sums, products and extremes", "cumsum cumprod cummax", Call("cummax", spaced(3, 4), axis=1),
            tests="test_conventions::test_cumsum_takes_exclusive_and_reverse "
            "test_conventions::test_a_scan_costs_as_much_as_it_is_long"),
        Row("indices", "argmax argmin argsort"),
        Row("sort, topk, median, quantile", "sort topk median quantile",
            tests="test_conventions::test_the_values_of_topk_and_sort_carry_a_graph"),
    ],
    "Shape and layout": [
        Row("reshape, ravel, flatten, squeeze, expand_dims", "reshape ravel flatten squeeze expand_dims",
            tests="test_conventions::test_shape_operations_return_views"),
        Row("transposes", "transpose swapaxes moveaxis mT"),
        Row("broadcast_to", "broadcast_to"),
        Row("getitem", "ops.getitem",
            tests="test_conventions::test_an_entry_that_is_looked_up_twice_receives_both_gradients"),
        Row("concatenate, stack, split, unstack", "concatenate stack split unstack"),
        Row("pad", "pad"),
        Row("rearrangements", "flip roll tile repeat tril triu diagonal diag"),
        Row("ascontiguousarray", "ascontiguousarray"),
        Row("stop_gradient", "stop_gradient"),
    ],
    "Indexing": [
        Row("take", "take"),
        Row("take_along_axis", "take_along_axis"),
        Row("scatter_add", "scatter_add"),
        Row("setitem", "ops.setitem"),
        Row("embedding", "embedding", Call("nn.functional.embedding", [[1, 3, 1], [0, 1, 3]], real(5, 4)),
            tests="test_conventions::test_the_padding_row_of_an_embedding_learns_nothing"),
        Row("one_hot", "one_hot"),
        Row(
            "random.categorical, gumbel_softmax", "random.categorical",
            tests="test_conventions::test_classes_as_rows_and_draws_from_them_carry_no_graph "
            "test_functional::test_a_hard_gumbel_draw_has_the_gradient_of_the_soft_one",
        ),
    ],
    "Linear algebra": [
        Row("matmul", "matmul", Call("matmul", real(3), real(2, 3, 4)), Call("matmul", real(3), real(3)),
            Call("matmul", real(2, 1, 2, 3), real(4, 3, 2))),
        Row("dot, inner, outer, tensordot, einsum", "dot inner outer tensordot einsum",
            Call("dot", real(2, 3), real(4, 3, 2)), Call("dot", real(3), real(3)),
            Call("inner", real(2, 3), real(4, 3)), Call("outer", real(2), real(3)),
            Call("tensordot", real(2, 3, 4), real(4, 3, 2), axes=((1, 2), (1, 0)))),
        Row("linear", "linear_layer", Call("nn.functional.linear", real(2, 4, 3), real(5, 3), real(5))),
        Row("solve", "linalg.solve", Call("linalg.solve", real(3, 3), real(3)),
            Call("linalg.solve", real(2, 3, 3), real(2, 3, 2)),
            tests="test_linalg::test_a_rule_of_solve_makes_no_inverse"),
        Row("linalg", "linalg.inv linalg.det linalg.slogdet linalg.cholesky linalg.qr linalg.eigh linalg.svd "
            "linalg.norm linalg.trace linalg.matrix_power linalg.pinv linalg.expm",
            Call("linalg.norm", real(2, 3)), Call("linalg.norm", real(2, 3), ord="nuc"),
            Call("linalg.norm", real(2, 3), ord=3, axis=1)),
        Row("grouped_matmul", "grouped_matmul"),
    ],
    "Convolution and pooling": [
        Row("convolutions", "conv1d conv2d conv3d",
            Call("nn.functional.conv2d", real(1, 2, 4, 5), real(3, 2, 2, 2), real(3), stride=2, padding=1)),
        Row("transposed convolutions", "conv_transpose1d conv_transpose2d"),
        Row("gradients of the two gradients of a convolution", "conv2d fold unfold"),
        Row("unfold, fold", "unfold fold",
            tests="test_conventions::test_unfold_and_fold_are_adjoint_to_each_other"),
        Row("max pooling", "max_pool1d max_pool2d",
            tests="test_conventions::test_padding_never_wins_a_pool_and_the_first_of_several_does"),
        Row("average pooling", "avg_pool1d avg_pool2d adaptive_avg_pool2d",
            tests="test_conventions::test_the_mean_of_a_window_counts_its_padding_or_not"),
        Row("interpolate, pixel_shuffle", "interpolate pixel_shuffle",
            Call("nn.functional.interpolate", real(1, 2, 3, 4), scale_factor=2, mode="bilinear"),
            Call("nn.functional.interpolate", real(1, 2, 3, 4), size=(5, 6))),
    ],
    "Normalisation": [
        Row("layer_norm, rms_norm, group_norm, instance_norm", "layer_norm rms_norm group_norm instance_norm"),
        Row("batch_norm, training and inference", "batch_norm ops.batch_norm_inference",
            tests="test_layers::test_running_statistics_are_buffers_outside_the_graph"),
    ],
    "Softmax, losses, regularisation": [
        Row("softmax, log_softmax", "softmax log_softmax",
            tests="test_conventions::test_softmax_is_finite_for_large_entries_and_minus_infinity"),
        Row("cross_entropy", "nn.functional.cross_entropy",
            Call("nn.functional.cross_entropy", real(3, 4), [2, 0, 2]),
            Call("nn.functional.cross_entropy", real(3, 4), [2, -100, 1], label_smoothing=0.1),
            Call("nn.functional.cross_entropy", real(3, 4), positive(3, 4), reduction="none"),
            Call("nn.functional.cross_entropy", real(3, 4), [2, 0, 1], weight=(0.5, 1.0, 2.0, 3.0))),
        Row("losses", "nn.functional.nll_loss nn.functional.mse_loss nn.functional.l1_loss nn.functional.huber_loss "
            "nn.functional.smooth_l1_loss nn.functional.binary_cross_entropy "
            "nn.functional.binary_cross_entropy_with_logits nn.functional.kl_div nn.functional.hinge_embedding_loss",
            Call("nn.functional.nll_loss", real(3, 4), [2, 0, 2]),
            Call("nn.functional.mse_loss", real(2, 3), real(2, 3), reduction="sum"),
            Call("nn.functional.l1_loss", real(2, 3), real(2, 3)),
            Call("nn.functional.huber_loss", real(2, 3), real(2, 3), delta=0.7),
            Call("nn.functional.smooth_l1_loss", real(2, 3), real(2, 3), reduction="none"),
            Call("nn.functional.binary_cross_entropy", lambda rng: rng.uniform(0.1, 0.9, (2, 3)),
                 lambda rng: rng.uniform(0.1, 0.9, (2, 3))),
            Call("nn.functional.binary_cross_entropy_with_logits", real(2, 3), inner(2, 3)),
            Call("nn.functional.kl_div", real(2, 3), positive(2, 3), reduction="batchmean"),
            Call("nn.functional.hinge_embedding_loss", real(2, 3), [[1, -1, -1], [-1, 1, -1]])),
        Row("dropout", "dropout",
            tests="test_conventions::test_dropout_draws_its_mask_once_and_goes_back_by_the_same"),
    ],
    "Attention and sequence models": [
        Row("scaled_dot_product_attention",
            "scaled_dot_product_attention soft_capped_attention attention ops.attention_mask",
            Call("attention", real(2, 3, 4), real(2, 5, 4), real(2, 5, 2), causal=True),
            Call("attention", real(2, 3, 4), real(2, 5, 4), real(2, 5, 2), window=2, soft_cap=1.5, scale=0.7),
            Call("attention", real(4, 3, 2), real(2, 5, 2), real(2, 5, 2))),
        Row("rope", "rope"),
        Row("composites", "swiglu residual_layer_norm residual_rms_norm attention_block transformer_layer lora_matmul"),
        Row("selective_scan", "selective_scan"),
        Row("gated_delta_net", "gated_delta_net"),
        Row("recurrent cells", "lstm_cell gru_cell rnn"),
    ],
    "Control flow": [
        Row("scan", "scan",
            tests="test_control::test_scan_equals_a_loop_with_and_without_checkpoints "
            "test_control::test_scan_can_be_differentiated_twice "
            "test_control::test_scan_with_outputs_last_returns_only_the_last_output "
            "test_control::test_memory_of_a_checkpointed_scan_grows_as_a_square_root"),
        Row("cond", "cond", tests="test_control::test_cond_computes_only_the_chosen_branch"),
        Row("while_loop", "while_loop",
            tests="test_control::test_a_while_loop_has_the_gradient_of_the_steps_it_took"),
        Row("checkpoint, checkpoint_sequential", "checkpoint checkpoint_sequential",
            tests="test_checkpointing::test_a_checkpoint_gives_the_gradients_of_the_function "
            "test_checkpointing::test_the_inside_of_a_checkpoint_is_freed "
            "test_checkpointing::test_the_second_run_draws_the_same_random_numbers "
            "test_checkpointing::test_segments_match_and_all_except_the_last_run_again "
            "test_checkpointing::test_the_gradient_through_a_checkpoint_has_a_gradient"),
    ],
    "Quantisation": [
        Row("quantize, dequantize", "quantize dequantize", convention=STRAIGHT_THROUGH),
        Row("fake_quantize", "fake_quantize", convention=STRAIGHT_THROUGH),
        Row("fake_quantize_lsq", "fake_quantize_lsq", convention=STRAIGHT_THROUGH),
        Row("products of rounded values", "quantized_matmul quantized_conv2d dequantize_matmul "
            "dequantize_grouped_matmul dequantize_blocks", convention=STRAIGHT_THROUGH),
    ],
    "Complex numbers and signals": [
        Row("complex arithmetic", "multiply divide abs angle real imag conj square",
            tests="test_engine::test_the_gradient_of_a_real_loss_is_d_re_plus_i_d_im"),
        Row("Fourier transforms", "fft.fft fft.ifft fft.rfft fft.irfft fft.fft2 fft.ifft2"),
        Row("stft, log_mel", "signal.stft signal.log_mel",
            Call("signal.stft", real(20), n_fft=8, hop_length=3)),
    ],
    "Graphics": [
        Row("splat.render", "splat.render", tests="test_splat::test_every_input_of_the_scene_has_its_true_gradient"),
    ],
}  # fmt: skip

FEATURES = [
    Row("backward from a scalar, or with an explicit upstream whose shape is checked", "Tensor.backward",
        tests="test_engine::test_the_walk_starts_with_an_explicit_upstream "
        "test_engine::test_a_loss_of_one_entry_needs_no_upstream "
        "test_errors::test_an_error_names_the_operation_and_a_cure"),
    Row("gradients accumulate in leaves, or come back as a mapping", "Tensor.gradients",
        tests="test_engine::test_gradients_add_up_over_walks "
        "test_engine::test_gradients_returns_a_mapping_and_changes_no_grad"),
    Row("iterative order, no recursion limit, three orders to look at", "orders",
        tests="test_memory::test_a_chain_of_a_million_numbers_walks test_walks::test_three_orders_of_one_program"),
    Row("walks on several threads at once, inside rules, after interrupts and in forked children", "Tensor.backward",
        tests="test_walks::test_a_walk_inside_a_rule_and_the_outer_walk_are_both_right "
        "test_walks::test_a_concurrent_walk_on_another_thread_is_right "
        "test_walks::test_threads_do_not_lose_each_others_contributions "
        "test_modes::test_no_mode_stays_active_after_any_of_6000_interrupts "
        "test_modes::test_a_child_forked_during_a_walk_of_a_thread_can_walk"),
    Row("hooks, and errors that name a wrong rule", "Tensor.register_hook",
        tests="test_engine::test_the_result_of_a_hook_replaces_the_gradient "
        "test_engine::test_a_hook_after_accumulation_sees_the_new_grad "
        "test_rules::test_a_gradient_of_the_wrong_shape_is_an_error_with_both_shapes "
        "test_rules::test_an_error_names_the_rule_with_too_few_contributions"),
    Row("rules are inspectable, with named saved values", "tanh.source",
        tests="test_checks::test_each_sample_keeps_each_promise"),
    Row("a change in place of a value that a rule still needs cannot be silent", "Tensor.assign",
        tests="test_writing::test_a_write_after_the_forward_never_changes_the_gradient"),
    Row("recording keeps no dead intermediate alive", "Tensor",
        tests="test_memory::test_an_intermediate_array_that_no_rule_reads_is_freed"),
    Row("loss, auxiliary outputs and gradients in one call; missing gradients by choice", "value_and_grad",
        tests="test_walks::test_a_loss_can_have_auxiliary_outputs "
        "test_walks::test_an_unused_input_can_be_made_an_error"),
    Row("the gradient is itself a graph", "grad",
        tests="test_walks::test_the_graph_of_a_gradient_can_be_recorded_and_walked "
        "test_transforms::test_grad_nests_to_any_order"),
    Row("forward mode", "jvp", tests="test_transforms::test_forward_mode_is_the_transpose_of_reverse_mode"),
    Row("custom functions with user-defined rules", "custom_vjp custom_jvp op",
        tests="test_custom::test_a_custom_rule_takes_the_place_of_what_would_be_derived "
        "test_custom::test_a_tangent_rule_gives_the_way_back_by_its_transpose "
        "test_rules::test_an_operation_without_a_rule_says_how_to_give_one "
        "test_checks::test_an_operation_can_be_redefined_in_a_notebook_cell"),
    Row("composites run as one rule, or unfused, and can be stepped into", "unfuse",
        tests="test_checks::test_each_sample_keeps_each_promise "
        "test_trace_recording::test_the_inside_of_a_composite_has_the_same_gradient"),
    Row("unbroadcasting is the engine's work, and is recorded", "ops.sum_to_shape",
        tests="test_engine::test_broadcast_axes_are_summed "
        "test_trace::test_steps_have_the_terms_of_the_walk"),
    Row("accumulation on the device, no host copies", "Tensor.to",
        tests="test_device::test_results_equal_the_cpus_without_copies_to_the_host"),
]

"""Names from PyTorch, NumPy, JAX and autograd that this engine lacks, each with its replacement."""

TENSOR = """
    zero_ fill_ copy_ add_ sub_ mul_ div_ pow_ addcmul_ addcdiv_ lerp_ neg_ exp_ sqrt_ abs_ tanh_ sigmoid_ relu_
    clamp_ masked_fill_ index_fill_ index_add_ index_copy_ scatter_ scatter_add_ fill_diagonal_ normal_ uniform_
    bernoulli_ random_ exponential_ squeeze_ unsqueeze_ t_ transpose_ resize_ detach_ set_ requires_grad_
    share_memory_ H t adjoint dim ndimension numel nelement nbytes element_size itemsize stride storage data_ptr
    type type_as view view_as reshape_as expand expand_as float double half bfloat16 int long short byte char
    bool cpu cuda is_cuda get_device contiguous is_contiguous copy resize permute unsqueeze unflatten movedim
    swapdims gather scatter index_select index_add index_put masked_fill masked_select masked_scatter narrow
    select nonzero values indices grad_fn new_zeros new_ones new_full new_empty new_tensor add sub mul div neg
    pow eq ne lt le gt ge mm bmm mv addmm baddbmm clamp clamp_min clamp_max softmax log_softmax logsumexp norm
    sort topk argsort split chunk unbind cumprod flip roll tile tril triu diagonal outer ger where maximum
    minimum amax amin median mode unique floor ceil trunc frac sign rsqrt reciprocal erf log1p expm1 log2 log10
    sinh cosh asin acos atan isnan isinf isfinite allclose equal dist logdet inverse svd det cholesky apply_
    map_ register_hook retain_grad detach item tolist numpy backward clone sum mean prod var std max min argmax
    argmin any all cumsum abs exp log sqrt sin cos tanh relu sigmoid clip square round dot matmul flatten ravel
    squeeze swapaxes take repeat reshape transpose astype T mT real imag conj shape dtype ndim size device data
    grad requires_grad is_leaf to tobytes put at block_until_ready aval repeat_interleave
"""
"""Of an array."""

FUNCTIONS = """
    tensor zeros ones full arange linspace eye zeros_like ones_like full_like empty empty_like array asarray
    from_numpy as_tensor rand randn randint randperm manual_seed bernoulli multinomial Generator FloatTensor
    LongTensor pi inf nan newaxis e float32 float64 int64 complex64 bool_ cat concat concatenate stack vstack
    hstack dstack column_stack row_stack append split array_split hsplit vsplit dsplit chunk unbind tensor_split
    insert delete block atleast_1d atleast_2d atleast_3d flip flipud fliplr rot90 roll rollaxis moveaxis movedim
    swapaxes permute squeeze unsqueeze expand_dims broadcast_to broadcast_tensors broadcast_arrays meshgrid
    cartesian_prod repeat_interleave repeat tile pad where take gather take_along_axis index_select
    masked_select masked_fill scatter_add choose compress extract piecewise argwhere nonzero tril triu
    tril_indices triu_indices diag diagonal diag_embed block_diag vander kron cross outer inner dot vdot vecdot
    matmul mm bmm mv addmm baddbmm einsum tensordot chain_matmul multi_dot trace add subtract sub multiply mul
    divide div true_divide floor_divide mod remainder fmod divmod power pow float_power neg negative positive
    abs absolute fabs sign sgn signbit sqrt rsqrt square cbrt reciprocal exp exp2 expm1 log log1p log2 log10
    logit logaddexp logaddexp2 logsumexp logcumsumexp xlogy sin cos tan asin acos atan atan2 arcsin arccos
    arctan arctan2 sinh cosh tanh asinh acosh atanh arcsinh sinc hypot deg2rad rad2deg degrees radians floor
    ceil trunc fix rint round frac modf frexp ldexp copysign nextafter heaviside clamp clip maximum minimum fmax
    fmin nan_to_num isnan isinf isfinite isclose isreal allclose array_equal equal not_equal less greater
    logical_and logical_or logical_xor logical_not bitwise_and bitwise_or bitwise_not real imag conj conjugate
    angle polar complex view_as_real view_as_complex is_tensor is_complex is_floating_point sum nansum mean
    nanmean average median percentile quantile prod cumsum cumprod cummax cummin max min amax amin aminmax ptp
    var std std_mean var_mean argmax argmin argsort sort lexsort msort topk kthvalue searchsorted bucketize
    digitize unique bincount histc histogram norm dist cdist cov corrcoef diff ediff1d gradient trapezoid trapz
    cumulative_trapezoid interp convolve any all count_nonzero relu sigmoid softmax log_softmax gelu silu
    softplus elu selu leaky_relu hardtanh threshold erf erfc expit one_hot embedding conv1d conv2d conv3d
    max_pool2d avg_pool2d layer_norm batch_norm dropout interpolate inverse inv det logdet slogdet solve lstsq
    svd qr cholesky eigh symeig pinverse matrix_exp matrix_power stft istft hann_window finfo iinfo result_type
    promote_types can_cast set_printoptions seterr errstate testing vectorize apply_along_axis fromfunction
    ndarray as_strided autograd grad value_and_grad vjp jvp jacobian hessian hvp vhp jacrev jacfwd linearize
    elementwise_grad egrad grad_and_aux multigrad_dict make_vjp make_jvp make_hvp hessian_vector_product
    vector_jacobian_product check_grads primitive defvjp defjvp custom_vjp custom_jvp checkpoint remat vmap pmap
    jit compile script func functional_call lax scan cond while_loop fori_loop switch map associative_scan
    tree_map tree_util ravel_pytree PRNGKey device_put device_get block_until_ready numpy scipy special random
    nn optim linalg fft signal no_grad enable_grad set_grad_enabled is_grad_enabled inference_mode
    detect_anomaly set_default_dtype get_default_dtype set_num_threads device devices cuda backends amp autocast
    save load utils DataLoader TensorDataset Dataset distributions distributed multiprocessing onnx profiler
    sparse stop_gradient make_jaxpr eval_shape
"""
"""Of the library."""

NETWORKS = """
    Module Parameter Linear Conv1d Conv2d Conv3d ConvTranspose2d BatchNorm1d BatchNorm2d LayerNorm GroupNorm
    RMSNorm Embedding LSTM GRU RNN LSTMCell MultiheadAttention TransformerEncoder TransformerEncoderLayer
    TransformerDecoderLayer Transformer Dropout ReLU GELU Softmax Sigmoid Tanh Sequential ModuleList ModuleDict
    ParameterList Flatten Identity MaxPool2d AvgPool2d AdaptiveAvgPool2d Upsample PixelShuffle CrossEntropyLoss
    MSELoss L1Loss NLLLoss BCELoss BCEWithLogitsLoss KLDivLoss SmoothL1Loss functional init utils DataParallel
"""
"""Of its networks."""

OPTIMISERS = "SGD Adam AdamW RMSprop Adagrad LBFGS Adadelta Adamax NAdam RAdam Rprop ASGD SparseAdam Adafactor"
SCHEDULES = "StepLR MultiStepLR ExponentialLR CosineAnnealingLR LambdaLR OneCycleLR MultiplicativeLR CyclicLR LinearLR"
OF_NETWORKS_TOO = """
    clip_grad_norm_ clip_grad_value_ clip_grad_norm parameters_to_vector vector_to_parameters weight_norm rnn
"""
DRAWS = """
    normal uniform randn rand randint choice permutation seed shuffle default_rng RandomState standard_normal
    exponential poisson PRNGKey bernoulli
"""
MATRICES = "inv det slogdet solve svd qr cholesky eigh norm pinv matrix_power lstsq multi_dot expm trace svdvals"

NOWHERE = {
    "nextafter": "the next number of a dtype: nothing that has a gradient",
}
"""Names without a hint, each with the reason."""

//! Habits from NumPy, JAX, PyTorch, TensorFlow and Rust's crates, with their equivalents in this language. The help for
//! undefined names reads these tables.

use crate::map::Map;
use crate::reduce::Reduce;
use crate::standard;

/// The equivalent of a function of another library.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Replacement {
    /// The function of this name, with the same arguments.
    Named(&'static str),
    /// An expression with the same value. `{0}` is the first argument as an operand, `{=0}` the same without
    /// parentheses, `{#1}` the second as a list of integers, and `{@1}` the second as written.
    Formula { text: &'static str, when: &'static str },
    /// A function of a library file, with the same arguments.
    Library { file: &'static str, name: &'static str },
    /// A description of the alternative.
    Words(&'static str),
}

/// The equivalent of a function that the language does not have.
pub(crate) fn function(name: &str) -> Option<Replacement> {
    let listed = FUNCTIONS.iter().find(|(names, _)| names.contains(&name)).map(|(_, way)| *way);
    listed.or_else(|| standard::find(name).map(|(file, name)| Replacement::Library { file, name }))
}

/// The equivalent of a method that the language does not have. For some names it differs from that of the function.
pub(crate) fn method(name: &str) -> Option<Replacement> {
    match name {
        "select" | "i" => Some(Replacement::Words(SUBSCRIPTS)),
        _ => function(name),
    }
}

/// Whether a name is that of a library, which people write before its functions.
pub(crate) fn is_library(name: &str) -> bool {
    const LIBRARIES: &[&str] = &[
        "F",
        "Math",
        "cp",
        "jax",
        "jnp",
        "keras",
        "lax",
        "math",
        "nn",
        "np",
        "numpy",
        "random",
        "scipy",
        "special",
        "tensorflow",
        "tf",
        "torch",
    ];
    LIBRARIES.contains(&name)
}

/// Whether a type is an array or tensor of another library.
fn is_array_type(name: &str) -> bool {
    const TYPES: &[&str] = &[
        "Array0",
        "Array1",
        "Array2",
        "Array3",
        "Array4",
        "ArrayD",
        "ArrayView",
        "ArrayView1",
        "ArrayView2",
        "DMatrix",
        "DVector",
        "Matrix",
        "NdArray",
        "Variable",
        "Vector",
        "ndarray",
    ];
    TYPES.contains(&name)
}

/// The help for a Rust type that no struct of a block can replace.
pub(crate) fn type_name(name: &str) -> Option<&'static str> {
    match name {
        "Result" | "Option" => {
            Some("write only the type: the generated `try_` function returns the `Result`")
        }
        _ => is_array_type(name).then_some("write the dtype and dimensions, as in `f32[2, 3]`"),
    }
}

/// Whether a name is that of an elementwise function or a reduction, which people write before its operand without
/// parentheses. `not` is excluded: people use it as an operator.
pub(crate) fn is_function(name: &str) -> bool {
    let is_reduction = Reduce::ALL.iter().any(|reduce| reduce.row().function == name);
    name != "not" && (is_reduction || Map::by_mnemonic(name).is_some())
}

/// The help for a layer of another library that is a function here, as `relu(x)` for `ReLU()(x)`.
pub(crate) fn layer(name: &str, arguments: &str) -> Option<String> {
    let lower = name.to_lowercase();
    match function(name).or_else(|| function(&lower)) {
        Some(Replacement::Named(own)) => Some(format!("write `{own}({arguments})`")),
        Some(Replacement::Library { file, name }) => Some(format!("write `{file}::{name}({arguments})`")),
        Some(Replacement::Words(words)) => Some(words.to_owned()),
        Some(Replacement::Formula { .. }) => None,
        None => is_function(&lower).then(|| format!("write `{lower}({arguments})`")),
    }
}

/// Whether a path with this first segment leads to another library and not to a Rust module.
pub(crate) fn is_foreign(name: &str) -> bool {
    const FOREIGN: &[&str] =
        &["jax", "jnp", "keras", "lax", "np", "numpy", "scipy", "tensorflow", "tf", "torch"];
    FOREIGN.contains(&name)
}

/// The help for a function that returns extents in other libraries, applied to `operand`. Among Rust variables, no type
/// names the extents.
pub(crate) fn extent_function(name: &str, operand: &str) -> Option<String> {
    matches!(function(name), Some(Replacement::Words(EXTENTS))).then(|| extent(operand))
}

/// As [`extent_function`], for a field.
pub(crate) fn field_among_rust(name: &str, operand: &str) -> Option<String> {
    let help = field(name)?;
    Some(if help == EXTENTS { extent(operand) } else { help.to_owned() })
}

fn extent(operand: &str) -> String {
    format!("an extent is a single number, given by its axis: write `extent({operand}, 0)`")
}

/// The help for a name that is not a variable.
pub(crate) fn name(name: &str) -> Option<&'static str> {
    NAMES.iter().find(|(names, _)| names.contains(&name)).map(|(_, help)| *help)
}

/// The help for a field that a tensor has in other libraries.
pub(crate) fn field(name: &str) -> Option<&'static str> {
    FIELDS.iter().find(|(names, _)| names.contains(&name)).map(|(_, help)| *help)
}

/// The formal that a named argument of other libraries corresponds to, if it is among `formals`.
pub(crate) fn argument(name: &str, formals: &[&str]) -> Option<&'static str> {
    let (_, own) = ARGUMENTS.iter().find(|(names, own)| {
        let is_formal = formals.contains(own) || *own == "axis" && formals.contains(&"axes");
        names.contains(&name) && is_formal
    })?;
    Some(own)
}

/// The help for a function that takes more arguments in other libraries.
pub(crate) fn with_more_arguments(name: &str) -> Option<&'static str> {
    match name {
        "gather" => Some("PyTorch's `gather(x, 1, i)` is `take_along(x, i, axis = 1)` here"),
        "iota" => Some("`iota` counts from 0 in `i64`: NumPy's `arange(2, 11, 3)` is `2 + 3 * iota(3)`"),
        _ => None,
    }
}

/// Whether a named argument of other libraries has no meaning here and can be left out.
pub(crate) fn is_needless_argument(name: &str) -> bool {
    ["out", "inplace", "dtype", "device", "requires_grad", "name", "order", "copy"].contains(&name)
}

const fn formula(text: &'static str) -> Replacement {
    Replacement::Formula { text, when: "" }
}

const fn library(file: &'static str, name: &'static str) -> Replacement {
    Replacement::Library { file, name }
}

const EXTENTS: &str = "extents are part of the type and can be used as numbers: write `N`, or `extent(x, 0)`";
const IN_RUST: &str =
    "compute it in Rust, before or after the call, and pass it as a parameter if the block needs it";

const NO_COMPLEX: &str = "its results are complex numbers, which the language does not have: compute it in Rust, before or after the call";

const LOOPS: &str =
    "write a loop: `fold h = … for x in … { … }`, or `scan …` with a body that returns `(h, y)`";

const SUBSCRIPTS: &str = "use subscripts, one for each axis, as in `x[.., 0]` or `x[.., 0..2]`";

const BY_MASK: &str = "a shape cannot depend on the values of elements: `where(mask, x, 0.0)` keeps the shape, and \
    `gather(x, num::nonzero(mask, size = 8))` has the first 8 rows";

const SEARCHES: &str = "positions among sorted edges are `num::searchsorted(edges, x)`, or `searchsorted_right` after equal edges";

const MAX_POOLING: &str = "give the sizes and strides of the windows, and channels last: `max_pool(x, [2, 2], strides = \
    [2, 2])`";
const MEAN_POOLING: &str = "give the sizes and strides of the windows, and channels last: `avg_pool(x, [2, 2], strides = \
    [2, 2])`";

const FUNCTIONS: &[(&[&str], Replacement)] = &[
    // Other names.
    (&["ln"], Replacement::Named("log")),
    (&["negative"], Replacement::Named("neg")),
    (&["mm", "bmm", "matrix_multiply", "batch_matmul"], Replacement::Named("matmul")),
    (&["inner", "vdot"], Replacement::Named("dot")),
    (&["view", "resize", "view_as"], Replacement::Named("reshape")),
    (&["permute", "permute_dims", "permuted_axes"], Replacement::Named("transpose")),
    (&["expand", "expand_as"], Replacement::Named("broadcast_to")),
    (&["reduce_sum", "sum_axis"], Replacement::Named("sum")),
    (&["amax", "reduce_max", "max_axis"], Replacement::Named("max")),
    (&["amin", "reduce_min", "min_axis"], Replacement::Named("min")),
    (&["product", "reduce_prod", "product_axis"], Replacement::Named("prod")),
    (&["reduce_mean", "mean_axis", "average", "avg"], Replacement::Named("mean")),
    (&["empty"], Replacement::Named("zeros")),
    (&["take"], Replacement::Named("gather")),
    (&["detach", "lax_stop_gradient", "no_grad"], Replacement::Named("stop_gradient")),
    (&["conv", "convolution", "conv_general_dilated"], Replacement::Named("conv2d")),
    (&["ReLU", "Relu"], Replacement::Named("relu")),
    // Operators.
    (&["add"], formula("{0} + {1}")),
    (&["mv"], formula("{0} @ {1}")),
    (&["sub", "subtract"], formula("{0} - {1}")),
    (&["mul", "multiply"], formula("{0} * {1}")),
    (&["div", "divide", "true_divide", "truediv"], formula("{0} / {1}")),
    (&["reciprocal", "recip"], formula("1.0 / {0}")),
    (&["t", "T", "transposed"], formula("{0}.T")),
    (&["mT", "matrix_transpose"], formula("{0}.mT")),
    // Functions that return their operand.
    (
        &[
            "array",
            "tensor",
            "asarray",
            "constant",
            "clone",
            "copy",
            "contiguous",
            "to_owned",
            "item",
            "numpy",
            "cpu",
            "cuda",
            "unwrap",
            "identity",
            "Ok",
            "Some",
        ],
        formula("{=0}"),
    ),
    // Powers.
    (&["square"], formula("{0} * {0}")),
    (&["erfinv"], Replacement::Named("erf_inv")),
    (&["gammaln", "loggamma", "lgam", "ln_gamma"], Replacement::Named("lgamma")),
    (&["psi"], Replacement::Named("digamma")),
    (&["polygamma"], Replacement::Words("write `trigamma(…)`, the derivative of `digamma(…)`")),
    (&["fmod"], Replacement::Named("rem")),
    (&["floormod"], Replacement::Named("remainder")),
    (&["rem_euclid"], formula("remainder({=0}, abs({=1}))")),
    (&["floordiv", "div_floor"], Replacement::Named("floor_divide")),
    (&["sin_cos"], formula("(sin({=0}), cos({=0}))")),
    (&["power", "powf", "powi", "float_power"], formula("pow({=0}, {=1})")),
    // Exponentials and logarithms, and functions composed of them.
    (&["exp_m1"], Replacement::Named("expm1")),
    (&["ln_1p"], Replacement::Named("log1p")),
    (&["inverse_sqrt"], Replacement::Named("rsqrt")),
    (&["arcsinh"], Replacement::Named("asinh")),
    (&["arccosh"], Replacement::Named("acosh")),
    (&["arctanh"], Replacement::Named("atanh")),
    // Angles.
    (&["arcsin"], Replacement::Named("asin")),
    (&["arccos"], Replacement::Named("acos")),
    (&["arctan"], Replacement::Named("atan")),
    (&["arctan2"], Replacement::Named("atan2")),
    // Piecewise linear functions.
    (&["absolute", "fabs"], Replacement::Named("abs")),
    (&["clip", "clamp", "clip_by_value"], formula("minimum(maximum({=0}, {1}), {2})")),
    (&["leakyrelu"], library("nn", "leaky_relu")),
    // Activations.
    (&["expit", "logistic", "sig"], library("nn", "sigmoid")),
    (&["logsigmoid"], library("nn", "log_sigmoid")),
    (&["swish"], library("nn", "silu")),
    // Reductions.
    (&["reduce_logsumexp"], library("nn", "logsumexp")),
    (&["variance", "reduce_variance", "var_axis"], library("num", "var")),
    (&["stddev", "reduce_std", "std_axis"], library("num", "std")),
    (&["topk"], library("num", "top_k")),
    (
        &["lexsort"],
        Replacement::Words("refine an order: `num::argsort_by(argsort(b), a)` is by `a`, then by `b`"),
    ),
    (&["percentile", "nanquantile"], library("num", "quantile")),
    (&["nanmedian"], library("num", "median")),
    (&["bucketize", "digitize", "lower_bound"], Replacement::Words(SEARCHES)),
    (&["argwhere", "flatnonzero"], library("num", "nonzero")),
    (&["count_nonzero"], formula("sum(i64({0} != 0.0))")),
    (&["kthvalue", "nth_element"], Replacement::Named("sort")),
    (&["lu"], Replacement::Words(IN_RUST)),
    (&["inverse"], library("linalg", "inv")),
    (&["matrix_exp"], library("linalg", "expm")),
    (&["eig", "eigvals", "schur", "sqrtm", "logm"], Replacement::Words(NO_COMPLEX)),
    (&["complex", "complex64", "complex128", "conj", "imag"], Replacement::Words(NO_COMPLEX)),
    (&["logcumsumexp", "cumlogsumexp"], Replacement::Words(IN_RUST)),
    (&["cumulative_sum"], Replacement::Named("cumsum")),
    (&["cumulative_prod"], Replacement::Named("cumprod")),
    (&["scan", "fori_loop"], Replacement::Words(LOOPS)),
    (&["while_loop"], Replacement::Words("write a loop with a condition as `while n = … if … { … }`")),
    (&["cond"], Replacement::Words("write a branch as `if … { … } else { … }`")),
    (
        &["associative_scan"],
        Replacement::Words("write `associative_scan(f)(xs)` with a function of two elements"),
    ),
    (&["checkpoint"], Replacement::Words("write `checkpoint(f)(x)` with a function of a block")),
    (
        &["zip"],
        Replacement::Words("a loop over several tensors has them in a tuple: `for (a, b) in (x, y) { … }`"),
    ),
    (&["enumerate"], Replacement::Words("iterate over the indices too: `for (i, e) in (iota(n), x) { … }`")),
    // Truth values.
    (&["isnan"], Replacement::Named("is_nan")),
    (&["isfinite"], Replacement::Named("is_finite")),
    (&["isinf", "is_infinite"], formula("abs({=0}) == inf")),
    (&["reduce_any"], Replacement::Named("any")),
    (&["reduce_all"], Replacement::Named("all")),
    (
        &["allclose", "array_equal"],
        Replacement::Words("compare with a tolerance, as in `all(abs(… - …) < 1e-6)`"),
    ),
    (&["equal", "eq"], formula("{0} == {1}")),
    (&["not_equal", "ne"], formula("{0} != {1}")),
    (&["less", "lt"], formula("{0} < {1}")),
    (&["less_equal", "le"], formula("{0} <= {1}")),
    (&["greater", "gt"], formula("{0} > {1}")),
    (&["greater_equal", "ge"], formula("{0} >= {1}")),
    (&["logical_and"], formula("{0} && {1}")),
    (&["logical_or"], formula("{0} || {1}")),
    (&["logical_not", "bitwise_not", "invert"], Replacement::Named("not")),
    (&["logical_xor", "bitwise_xor"], formula("{0} ^ {1}")),
    (&["bitwise_and"], formula("{0} & {1}")),
    (&["bitwise_or"], formula("{0} | {1}")),
    (&["left_shift", "bitwise_left_shift"], formula("{0} << {1}")),
    (&["right_shift", "bitwise_right_shift"], formula("{0} >> {1}")),
    // Losses.
    (&["mse_loss", "MSELoss", "mean_squared_error"], library("nn", "mse")),
    (&["l1_loss", "L1Loss", "mean_absolute_error"], library("nn", "mae")),
    (&["huber_loss", "HuberLoss", "smooth_l1_loss"], library("nn", "huber")),
    (&["nll_loss", "NLLLoss"], library("nn", "nll")),
    (&["kl_div", "kl_divergence", "KLDivLoss"], library("nn", "kl")),
    (&["hinge_loss"], library("nn", "hinge")),
    (&["cosine_distance"], library("nn", "cosine_loss")),
    (&["Linear"], Replacement::Words("weights are parameters: write `nn::dense(x, w, b)`")),
    (&["Embedding"], Replacement::Words("weights are parameters: write `nn::embedding(i, table)`")),
    (&["RMSNorm"], Replacement::Words("weights are parameters: write `nn::rms_norm(x, scale)`")),
    (&["LSTMCell"], Replacement::Words("weights are parameters: write `nn::lstm_cell(x, h, c, w, u, b)`")),
    (&["GRUCell"], Replacement::Words("weights are parameters: write `nn::gru_cell(x, h, w, u, b, d)`")),
    (&["scaled_dot_product_attention", "dot_product_attention"], library("nn", "attention")),
    (&["SGD"], Replacement::Words("one step is `optim::sgd(w, g, rate)`")),
    (&["Adam"], Replacement::Words("one step is `optim::adam(w, g, m, v, t, rate)`")),
    (&["AdamW"], Replacement::Words("one step is `optim::adamw(w, g, m, v, t, rate)`")),
    (&["RMSprop"], Replacement::Words("one step is `optim::rmsprop(w, g, v, rate)`")),
    (&["Adagrad"], Replacement::Words("one step is `optim::adagrad(w, g, s, rate)`")),
    (
        &["cross_entropy", "CrossEntropyLoss", "crossentropyloss"],
        Replacement::Words(
            "write `nn::cross_entropy(…, …)` if the targets are classes, `nn::cross_entropy_of(…, …)` if they are \
                distributions",
        ),
    ),
    (&["softmax_cross_entropy", "softmax_cross_entropy_with_logits"], library("nn", "cross_entropy_of")),
    (&["binary_cross_entropy", "bce"], formula("-mean({1} * log({=0}) + (1.0 - {1}) * log(1.0 - {0}))")),
    // Selections.
    (&["where_", "if_else", "select", "choose"], Replacement::Named("where")),
    (&["heaviside"], formula("where({=0} > 0.0, 1.0, where({=0} == 0.0, {1}, 0.0))")),
    (&["signum", "sgn"], Replacement::Named("sign")),
    (&["fix", "truncate"], Replacement::Named("trunc")),
    (&["rint", "round_ties_even", "around"], Replacement::Named("round")),
    // Products.
    (&["ger"], library("num", "outer")),
    (&["linear"], formula("{0} @ {1}.T + {2}")),
    (&["addmm"], Replacement::Words("write the product, as in `… @ … + …`")),
    (&["tensordot"], Replacement::Words("name the axes, as in `einsum(\"ij,jk->ik\", …, …)`")),
    // Arrangement.
    (&["unsqueeze", "newaxis", "insert_axis", "expand_dim"], formula("expand_dims({=0}, axes = {#1})")),
    (&["flatten", "ravel", "flatten_all"], formula("reshape({=0}, [-1])")),
    (
        &["swapaxes", "swapdims", "swap_axes"],
        Replacement::Words(
            "to swap the last two axes, write `….mT`; otherwise give the order of all axes, as in `transpose(…, [0, \
                2, 1])`",
        ),
    ),
    (&["movedim"], Replacement::Named("moveaxis")),
    (&["concatenate", "cat"], Replacement::Named("concat")),
    (&["hstack", "column_stack"], formula("concat({=0}, axis = 1)")),
    (&["vstack", "row_stack"], formula("concat({=0}, axis = 0)")),
    (&["dstack"], formula("concat({=0}, axis = 2)")),
    (&["append", "extend", "push"], Replacement::Words("write `concat([…, …])`")),
    (
        &["chunk", "array_split", "unstack", "unbind"],
        Replacement::Words("split along an axis, as in `split(…, 2, axis = 0)`"),
    ),
    (&["repeat_interleave"], Replacement::Named("repeat")),
    (&["flipud", "fliplr", "reverse"], Replacement::Words("give the axis: `flip(…, axis = 0)`")),
    (
        &["rotate"],
        Replacement::Words("give the axis: `roll(…, 1, axis = 0)` moves all elements by one position"),
    ),
    (&["zero_pad", "zero_padding2d"], Replacement::Named("pad")),
    (&["diag_embed", "diagflat"], library("num", "diag")),
    (&["eye"], Replacement::Words("write `num::eye_like(…)` with a matrix of the same shape")),
    (&["arange", "range"], Replacement::Named("iota")),
    (&["take_along_axis", "take_along_dim", "batch_gather"], Replacement::Named("take_along")),
    (&["onehot", "to_categorical"], Replacement::Named("one_hot")),
    (&["full_like", "fill", "fill_"], formula("zeros_like({=0}) + {1}")),
    (
        &["max_pool1d", "max_pool2d", "max_pool3d", "MaxPool1d", "MaxPool2d", "MaxPool3d"],
        Replacement::Words(MAX_POOLING),
    ),
    (
        &["avg_pool1d", "avg_pool2d", "avg_pool3d", "AvgPool1d", "AvgPool2d", "AvgPool3d"],
        Replacement::Words(MEAN_POOLING),
    ),
    (
        &[
            "adaptive_max_pool1d",
            "adaptive_max_pool2d",
            "adaptive_max_pool3d",
            "AdaptiveMaxPool1d",
            "AdaptiveMaxPool2d",
            "AdaptiveMaxPool3d",
        ],
        Replacement::Words(
            "`nn::adaptive_max_pool(…, 7, axis = -3)` pools one axis to 7 positions: call it for each",
        ),
    ),
    (
        &[
            "adaptive_avg_pool1d",
            "adaptive_avg_pool2d",
            "adaptive_avg_pool3d",
            "AdaptiveAvgPool1d",
            "AdaptiveAvgPool2d",
            "AdaptiveAvgPool3d",
        ],
        Replacement::Words(
            "`nn::adaptive_avg_pool(…, 7, axis = -3)` pools one axis to 7 positions: call it for each",
        ),
    ),
    (
        &["sliding_window_view"],
        Replacement::Words(
            "give the axes: `unfold(x, 3, axes = 0)` has the windows of 3 elements along axis 0",
        ),
    ),
    (
        &["dynamic_update_slice", "dynamic_update_slice_in_dim", "slice_scatter", "select_scatter"],
        Replacement::Words("`replace(x[i ..+ 4], y)` replaces a part of `x`"),
    ),
    (&["index_put", "put"], Replacement::Words("`num::scatter(x, i, u)` replaces the rows at indices")),
    (&["dynamic_slice_in_dim", "dynamic_index_in_dim"], Replacement::Words("write `x[i ..+ 4]` or `x[i]`")),
    (
        &["index_select"],
        Replacement::Words("`gather(x, i)` selects rows, `x[.., i]` elements along the last axis"),
    ),
    (&["index_add", "index_add_", "segment_sum"], Replacement::Named("scatter_add")),
    (&["index_copy", "index_copy_"], library("num", "scatter")),
    (&["segment_max"], library("num", "scatter_max")),
    (&["segment_min"], library("num", "scatter_min")),
    (&["put_along_axis", "scatter_"], library("num", "put_along")),
    (&["scatter_add_"], library("num", "add_along")),
    (&["masked_fill"], formula("where({=1}, {2}, {=0})")),
    (&["masked_select", "boolean_mask", "compress", "extract"], Replacement::Words(BY_MASK)),
    (
        &["rearrange"],
        Replacement::Words(
            "split and merge axes with `reshape(x, [4, 2, 3])`, and reorder them with `transpose(x, [1, 0, 2])`",
        ),
    ),
    // Functions of candle and burn.
    (&["broadcast_add"], formula("{0} + {1}")),
    (&["broadcast_sub"], formula("{0} - {1}")),
    (&["broadcast_mul"], formula("{0} * {1}")),
    (&["broadcast_div"], formula("{0} / {1}")),
    (&["broadcast_matmul"], Replacement::Named("matmul")),
    (&["affine"], formula("{0} * {1} + {2}")),
    (&["add_scalar"], formula("{0} + {1}")),
    (&["sub_scalar"], formula("{0} - {1}")),
    (&["mul_scalar"], formula("{0} * {1}")),
    (&["div_scalar"], formula("{0} / {1}")),
    (&["powf_scalar", "powi_scalar"], formula("pow({=0}, {=1})")),
    (&["sqr"], formula("{0} * {0}")),
    (&["sum_all"], formula("sum({=0})")),
    (&["mean_all"], formula("mean({=0})")),
    (&["max_all"], formula("max({=0})")),
    (&["min_all"], formula("min({=0})")),
    (&["sum_keepdim", "sum_dim"], formula("sum({=0}, {@1}, keepdims = true)")),
    (&["mean_keepdim", "mean_dim"], formula("mean({=0}, {@1}, keepdims = true)")),
    (&["max_keepdim", "max_dim"], formula("max({=0}, {@1}, keepdims = true)")),
    (&["min_keepdim", "min_dim"], formula("min({=0}, {@1}, keepdims = true)")),
    (&["clamp_min"], Replacement::Named("maximum")),
    (&["clamp_max"], Replacement::Named("minimum")),
    (&["row"], formula("{0}[{@1}]")),
    (&["column", "col"], formula("{0}[.., {@1}]")),
    (&["index_axis", "narrow", "index_axis_move", "get"], Replacement::Words(SUBSCRIPTS)),
    (&["Axis"], formula("{@0}")),
    (
        &["normalize"],
        Replacement::Words(
            "write `x / num::norm(x, axis = 1, keepdims = true)` for rows of norm 1, `nn::standardize(x)` for mean 0 \
                and variance 1",
        ),
    ),
    (&["mul_add", "fma"], formula("{0} * {1} + {2}")),
    (
        &["layer_norm", "LayerNorm"],
        Replacement::Words("write `nn::layer_norm(x, scale, bias)`, or `nn::standardize(x)` without these"),
    ),
    (&["batch_norm", "BatchNorm2d"], Replacement::Words("write `nn::batch_norm(x, scale, bias)`")),
    (
        &["dropout", "Dropout"],
        Replacement::Words("write `nn::dropout(x, key, 0.5)` with a parameter `key: i64`"),
    ),
    (
        &["rand", "random", "uniform"],
        Replacement::Words("write `random::uniform(key, [2, 3])` with a parameter `key: i64`"),
    ),
    (
        &["randn", "normal"],
        Replacement::Words("write `random::normal(key, [2, 3])` with a parameter `key: i64`"),
    ),
    // Features that the language does not have.
    (
        &["astype", "to", "type", "convert", "to_dtype", "to_type"],
        Replacement::Words("convert with the element type as a function, as in `f32(…)`"),
    ),
    (&["float", "float32"], Replacement::Named("f32")),
    (&["double", "float64"], Replacement::Named("f64")),
    (&["int", "int32"], Replacement::Named("i32")),
    (&["long", "int64"], Replacement::Named("i64")),
    (&["byte", "uint8"], Replacement::Named("u8")),
    (
        &["half", "float16", "bfloat16"],
        Replacement::Words("the float types are f32 and f64; convert as in `f32(…)`"),
    ),
    (&["jacfwd"], Replacement::Words("write `jacobian(f, wrt = x, mode = forward)(x)`")),
    (&["jacrev"], Replacement::Words("write `jacobian(f, wrt = x, mode = reverse)(x)`")),
    (&["jit", "compile"], Replacement::Words("every function is compiled: call it by its name")),
    (
        &["backward", "autograd", "gradient"],
        Replacement::Words(
            "take the gradient of a function: `grad(f, wrt = x)(…)`, or `#[grad(x)]` before `fn f`",
        ),
    ),
    (&["len", "size", "shape", "numel", "ndim", "dim", "nrows", "ncols"], Replacement::Words(EXTENTS)),
    (&["print", "println", "debug"], formula("inspect({=0}, \"value\")")),
    (&["assert"], Replacement::Words("a function only computes: return the value as a result")),
    (
        &[
            "map",
            "apply",
            "mapv",
            "map_axis",
            "fold_axis",
            "for_each",
            "iter",
            "into_iter",
            "fold",
            "collect",
        ],
        Replacement::Words(
            "operations work on whole tensors: apply them to the tensor, as in `relu(x)` or `x * x`",
        ),
    ),
];

const NAMES: &[(&[&str], &str)] = &[
    (&["True"], "write `true`"),
    (&["False"], "write `false`"),
    (&["None", "null", "nil"], "there are no missing values: remove the argument or the comparison"),
    (&["pi", "PI"], "write `3.141592653589793`"),
    (&["e", "E"], "write `2.718281828459045`"),
    (&["Inf", "infinity", "INFINITY", "INF"], "write `inf`"),
    (&["NaN", "NAN"], "write `nan`"),
    (&["eps", "EPSILON", "epsilon"], "write `1.1920929e-7`"),
    (&["SAME"], "write `same`"),
    (&["VALID"], "write `valid`"),
    (&["newaxis"], "write `_` in the subscripts, as in `x[.., _]`"),
    (
        &["float32", "float64", "int32", "int64", "dtype"],
        "remove it: the element type of a tensor is declared",
    ),
];

const FIELDS: &[(&[&str], &str)] = &[
    (&["t", "H"], "write `.T`"),
    (&["shape", "size", "ndim", "dims", "len"], EXTENTS),
    (&["dtype"], "remove it: the element type of a tensor is declared"),
    (&["data", "value", "values"], "write only the tensor"),
    (
        &["at"],
        "a part of a tensor cannot be updated: compute the whole tensor, as in `where(iota(3) == 0, 1.0, x)`",
    ),
    (&["grad"], "take the gradient of a function: `grad(f, wrt = x)(…)`, or `#[grad(x)]` before `fn f`"),
    (&["device", "requires_grad", "is_cuda"], "remove it: there is only one device"),
];

const ARGUMENTS: &[(&[&str], &str)] = &[
    (&["dim", "axis"], "axis"),
    (&["dims", "axis", "reduction_indices", "dim"], "axes"),
    (&["keepdim", "keep_dims", "keep_dim"], "keepdims"),
    (&["size", "newshape", "new_shape", "sizes"], "shape"),
    (&["axes", "perm", "dims", "axis"], "permutation"),
    (&["stride", "window_strides"], "strides"),
    (&["pad", "pads"], "padding"),
    (&["fill_value", "value", "fill"], "c"),
    (&["input", "a", "tensor", "array", "lhs"], "x"),
    (&["filters", "weight", "kernel", "w", "rhs"], "f"),
    (&["indices", "index", "idx"], "i"),
    (&["params", "table"], "t"),
    (&["index", "idx", "i", "input", "target"], "indices"),
    (&["num_classes", "depth", "count"], "n"),
    (&["start", "begin"], "starts"),
    (&["end", "stop"], "ends"),
    (&["step"], "steps"),
];

#[cfg(test)]
mod tests {
    use super::{FUNCTIONS, Replacement};
    use crate::surface::lower::{builtins, lower};
    use crate::surface::parse::{is_keyword, parse};

    #[test]
    fn no_habit_is_a_function_of_the_language_and_what_it_is_named_is_one() {
        let mut all = Vec::new();
        for (names, way) in FUNCTIONS {
            for name in *names {
                assert!(!builtins::is_builtin(name), "{name}");
                assert!(!all.contains(name), "{name} twice");
                all.push(*name);
            }
            if let Replacement::Named(own) = way {
                assert!(builtins::is_builtin(own), "{own}");
            }
        }
    }
    #[test]
    fn a_call_with_an_undefined_operand_is_never_accepted() {
        let names = FUNCTIONS.iter().flat_map(|(names, _)| *names).filter(|name| !is_keyword(name));
        for name in names {
            for call in [
                format!("undefined.{name}()"),
                format!("x + undefined.{name}(2)"),
                format!("{name}(undefined)"),
            ] {
                let text = format!("fn f(x: f32[4]) -> f32[4] {{ {call} }}");
                let (program, unread) = parse(text.parse().expect("it is made of tokens"));
                let (_, diags) = lower(&program);
                assert!(!unread.is_empty() || !diags.is_empty(), "{text}");
            }
        }
    }
}

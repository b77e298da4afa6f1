//! Tests of `mind stats`.

use crate::support::{Folder, LAYER};

#[test]
fn costs_are_formulas_in_the_symbols() {
    let folder = Folder::new().with("layer.mic", LAYER);
    assert_eq!(
        folder.mind("stats layer.mic").fine(),
        "\
layer in layer.mic: 3 inputs, 3 operations, 1 output
  parameters      12 * N + 32 bytes, 3 * N + 8 elements
  results         8 * N bytes, 2 * N elements
  constants       0 bytes
  arithmetic      16 * N operations
  peak memory     0 bytes besides parameters and results

operations
  Add     1
  MatMul  1
  Relu    1
"
    );
}

#[test]
fn extents_that_are_given_make_them_numbers() {
    let folder = Folder::new().with("layer.mic", LAYER);
    let said = folder.mind("stats layer.mic --dim N=1000").fine();
    assert!(said.contains("  parameters      12,032 bytes, 3,008 elements\n"), "{said}");
    assert!(said.contains("  arithmetic      16,000 operations\n"), "{said}");
    // Memory is allocated in units of 64 bytes.
    let text = "fn f<N>(x: f32[N, 3], w: f32[3, 3]) -> f32[N, 3] { x @ w @ w }";
    let folder = Folder::new().with("net.mind", text);
    let said = folder.mind("stats net.mind --dim N=1").fine();
    assert!(said.contains("  peak memory     64 bytes "), "{said}");
}

#[test]
fn the_plan_shows_what_was_fused_and_how_long_buffers_live() {
    let folder = Folder::new().with("layer.mic", LAYER);
    let said = folder.mind("stats layer.mic --plan").fine();
    let (_, plan) = said.split_once("\nplan: ").unwrap();
    assert_eq!(
        plan,
        "\
1 step
  1  matmul   x @ w  (N × 3 × 2)
         N5 = b + product
         N6 = relu(N5)
         N6 <- N6

  x   f32[N, 3]  12 * N bytes  input 0   step 1
  w   f32[3, 2]  24 bytes      input 1   step 1
  b   f32[2]     8 bytes       input 2   step 1
  N6  f32[N, 2]  8 * N bytes   result 0  step 1
"
    );
    assert!(folder.mind("stats layer.mic --plan --dim N=8").fine().contains("(8 × 3 × 2)"));
}

#[test]
fn loops_show_how_each_step_runs() {
    let text =
        "fn f(x: f32[8, 40], w: f32[40, 20]) -> (f32[8], f32[8, 20]) { (sum(x * x, axis = 1), relu(x @ w)) }";
    let folder = Folder::new().with("net.mind", text);
    let said = folder.mind("stats net.mind --plan --loops").fine();
    let (_, loops) = said.split_once("\nloops:\n").unwrap();
    for words in [
        "  1  by the machine's SIMD level\n       given x: read, f32[8, 40]\n",
        "       for i0 in 0..8\n         %3_lanes = [0; 32]\n         x_row = x[i0 * 40 ..+ 40]\n",
        "  2  for each block of a product's sums, whole rows as one\n",
        "%3_lanes_rest[lane_2] if counts\n",
        " %5_2 = relu(sums_row_block[lane])\n",
    ] {
        assert!(loops.contains(words), "{words}:\n{loops}");
    }
    assert!(!folder.mind("stats net.mind --plan").fine().contains("loops:"));
    assert_eq!(folder.mind("stats net.mind --loops").fine(), said);
}

#[test]
fn every_kind_of_step_is_described() {
    let text = "\
fn f(image: f32[1, 6, 6, 1], filter: f32[3, 3, 1, 2], rows: i64[4], table: f32[5, 3], v: f32[3], c: f32[1, 4, 4, 2]) -> (f32, f32[5, 3], f32[1, 6, 6, 1], f32) {
    let y = conv2d(image, filter);
    let picked = gather(table, rows);
    let s = dot(v, v) * 0.5;
    let dt = vjp(pick, wrt = t)(table, rows, exp(picked));
    (sum(y * c) + s, dt, vjp(conv, wrt = x)(image, filter, c), v[1])
}
fn pick(t: f32[5, 3], rows: i64[4]) -> f32[4, 3] { gather(t, rows) }
fn conv(x: f32[1, 6, 6, 1], w: f32[3, 3, 1, 2]) -> f32[1, 4, 4, 2] { conv2d(x, w) }
";
    let said = Folder::new().with("net.mind", text).mind("stats net.mind --function f --plan").fine();
    for words in [
        "conv2d  ",
        "derivative by its input",
        "check  ",
        "gather  ",
        "scatter_add ",
        "number  ",
        "dot  ",
        "nest  ",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
}

#[test]
fn wrong_extents_are_refused() {
    let folder = Folder::new()
        .with("layer.mic", LAYER)
        .with("net.mind", "fn f<N>(x: f32[N]) -> f32[N - 2] { x[2..N] }");
    let said = folder.mind("stats layer.mic --dim M=3").mistakes();
    assert!(said.starts_with("mic: error[E2002]: the program has no symbol `M`\n"), "{said}");
    assert!(said.contains("help: its symbols are N\n"), "{said}");
    assert!(
        folder
            .mind("stats layer.mic --dim N=0")
            .mistakes()
            .starts_with("mic: error[E3006]: `N` is 0, needed at least 1\n")
    );
    assert_eq!(
        folder.mind("stats layer.mic --dim N").misuse(),
        "error: --dim N has no extent\n  help: write --dim N=32\n"
    );
    let said = folder.mind("stats net.mind --dim N=2").mistakes();
    assert!(said.starts_with("mind: error[E3006]: N - 2 is 0, needed at least 1\n"), "{said}");
    folder.mind("stats net.mind --dim N=3").fine();
}

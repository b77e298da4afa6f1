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
fn the_order_of_each_einsum_is_shown() {
    let text = "\
fn g<N>(x: f32[N, 4], y: f32[4, 64], z: f32[64, 4]) -> f32[N, 4] { einsum(\"ij,jk, kl -> il\", x, y, z) }
fn f<M>(x: f32[M, 4], y: f32[4, 64], z: f32[64, 4]) -> f32 { einsum(\"ij->\", g(x, y, z)) }";
    let folder = Folder::new().with("net.mind", text);
    let said = folder.mind("stats net.mind --function f").fine();
    let expected = "\neinsum
  ij,jk,kl->il  as (ij,(jk,kl)), 16 * M + 1024 multiplications
  ij->  as ij, 0 multiplications\n";
    assert!(said.ends_with(expected), "{said}");
    let said = folder.mind("stats net.mind --function f --dim M=10").fine();
    assert!(said.contains("as (ij,(jk,kl)), 1,184 multiplications\n"), "{said}");
    let folder = Folder::new().with("layer.mic", LAYER);
    assert!(!folder.mind("stats layer.mic").fine().contains("einsum"));
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

/// The limits of a machine, measured with 1 and 2 threads.
const MACHINE: &str = include_str!("../../../docs/book/listings/machine.txt");

/// A program with steps of different limits.
const STEPS: &str = "\
fn f<N>(x: f32[N, 784], w: f32[784, 256], v: f32[256, 256], t: f32[N]) -> (f32[N, 256], f32[256], f32[N]) {
    let h = relu(x @ w);
    (h @ v, sum(h, axes = [0]), cumsum(t, axis = 0))
}
";

#[test]
fn times_are_predicted_for_each_step_and_number_of_threads() {
    let folder = Folder::new().with("net.mind", STEPS).with("machine.txt", MACHINE);
    let said =
        folder.mind("stats net.mind --plan --dim N=4096 --threads 1,2,64 --machine machine.txt").fine();
    let (_, time) = said.split_once("\ntime: ").unwrap();
    assert_eq!(
        time,
        "\
predicted for AMD EPYC, family 26, model 2, stepping 1, measured with 1 and 2 threads
             1 thread                    2 threads                    64 threads
  1  cumsum    247 ns  L3                   247 ns  one thread            247 ns  one thread
  2  matmul   6.09 ms  arithmetic          3.05 ms  arithmetic            217 µs  L3
  3  matmul   1.99 ms  arithmetic          1.00 ms  arithmetic           72.3 µs  L3
  4  nest     32.9 µs  L3                  17.8 µs  L3                   18.1 µs  L3: 4
     total    8.12 ms  arithmetic 100 %    4.07 ms  arithmetic 100 %      308 µs  L3 100 %

limits
  arithmetic       the arithmetic of the cores
  L3               bytes per second from and to the cache that cores share
  one thread       one thread, because the step cannot be split

assumed beyond 2 threads
  arithmetic, L1 and L2 grow with the threads: each has a core
  L3 and memory have the rate of 2 threads, unless the file gives others
  starting n threads takes log2(n) times the time for 2
"
    );
}

#[test]
fn a_prediction_needs_every_extent_and_a_machine() {
    let folder = Folder::new().with("layer.mic", LAYER).with("machine.txt", MACHINE);
    assert_eq!(
        folder.mind("stats layer.mic --plan --threads 2 --machine machine.txt").misuse(),
        "error: --threads needs all extents, and N has none\n  help: add --dim N=32\n"
    );
    assert_eq!(
        folder.mind("stats layer.mic --plan --threads 2 --dim N=8").misuse(),
        "error: --threads needs the limits of a machine\n  help: measure them by `mind bench --save machine.txt`, \
         and add --machine machine.txt\n"
    );
    let said = folder.mind("stats layer.mic --plan --threads 0 --dim N=8 --machine machine.txt").misuse();
    assert!(
        said.starts_with("error: invalid value '0' for '--threads <COUNTS>': 0 is not in 1..=256\n"),
        "{said}"
    );
    for arguments in ["--threads 2", "--plan --machine machine.txt"] {
        let said = folder.mind(&format!("stats layer.mic --dim N=8 {arguments}")).misuse();
        assert!(said.starts_with("error: the following required arguments were not provided:\n"), "{said}");
    }
}

#[test]
fn a_wrong_line_of_a_machine_file_is_named() {
    let of = |text: &str| {
        let folder = Folder::new().with("layer.mic", LAYER).with("m.txt", text);
        folder.mind("stats layer.mic --plan --threads 2 --dim N=8 --machine m.txt").misuse()
    };
    let line = |start: &str| MACHINE.lines().position(|line| line.starts_with(start)).unwrap() + 1;
    for (from, to, message) in [
        ("mind machine 1", "mind machine 2", "1: the first line is not `mind machine 1`".to_owned()),
        ("vector: 64", "vector 64", format!("{}: `vector 64 bytes` has no colon", line("vector"))),
        (
            "cache L2: 1048576",
            "cache L2: many",
            format!("{}: `cache L2` is `many bytes`, needed a number of bytes", line("cache L2")),
        ),
        (
            "threads: 1 2",
            "threads: 2 1",
            format!(
                "{}: `threads` is `2 1`, needed ascending numbers from 1 on, such as 1 2",
                line("threads")
            ),
        ),
        (
            "peak f32: 284.6 568.0 GFLOP/s",
            "peak f32: 284.6 GFLOP/s",
            format!(
                "{}: `peak f32` is `284.6 GFLOP/s`, needed 2 numbers above 0 and the unit GFLOP/s",
                line("peak f32")
            ),
        ),
        (
            "function f32: 0.1103 ns",
            "function f32: -1 ns",
            format!(
                "{}: `function f32` is `-1 ns`, needed 1 number above 0 and the unit ns",
                line("function f32")
            ),
        ),
        (
            "read L3: 127.5 240.0 GB/s",
            "read L2: 127.5 240.0 GB/s",
            format!("{}: `read L2` is already on line {}", line("read L3"), line("read L2")),
        ),
        (
            "row f64: 25.20 ns",
            "line f64: 25.20 ns",
            format!("{}: `row f64` is missing", MACHINE.lines().count() + 1),
        ),
        (
            "row f64: 25.20 ns",
            "row f64: 25.20 ns\nline f64: 25.20 ns",
            format!("{}: there is no entry `line f64`", line("row f64") + 1),
        ),
    ] {
        assert!(MACHINE.contains(from), "{from}");
        assert_eq!(
            of(&MACHINE.replacen(from, to, 1)),
            format!("error: m.txt:{message}\n  help: `mind bench --save FILE` writes a correct file\n")
        );
    }
    let folder = Folder::new().with("layer.mic", LAYER);
    let said = folder.mind("stats layer.mic --plan --threads 2 --dim N=8 --machine no.txt").misuse();
    assert!(said.starts_with("error: cannot read no.txt: "), "{said}");
    assert!(
        said.ends_with("  help: `mind bench --save FILE` measures this machine and writes such a file\n"),
        "{said}"
    );
}

//! Tests of `mind convert`.

use std::{
    io::Read,
    process::{Command, Stdio},
};

use crate::support::{Folder, LAYER, LOSS};

#[test]
fn every_form_leads_back_to_the_same_program() {
    let folder = Folder::new().with("layer.mic", LAYER);
    for form in ["core-ir", "json", "mic"] {
        let written = folder.mind(&format!("convert layer.mic --to {form}")).fine();
        let back = folder.mind_with("convert - --to core-ir", &*written).fine();
        assert_eq!(back, folder.mind("convert layer.mic --to core-ir").fine(), "{form}");
    }
    assert_eq!(folder.mind("convert layer.mic --to mic").fine(), LAYER);
}

#[test]
fn mic_is_written_in_canonical_form_unless_it_is_to_stay_as_it_is() {
    const OTHER: &str = "mic@1\nS0 \"x\"\nS1 \"y\"\nT0 [f32;2]\nT1 f32\nN1 input S0 T0\nN2 input S1 T0\n\
                         N3 exp N1 T0\nN4 add N2 N1 T0\nN5 sum N4 [] kd=0 T1\nO N5\n";
    let folder = Folder::new().with("other.mic", OTHER);
    let canonical = folder.mind("convert other.mic --to mic").fine();
    assert!(canonical.contains("\nN3 add N1 N2 T0\nN4 sum N3 [0] kd=0 T1\nO N4\n"), "{canonical}");
    assert_eq!(canonical, folder.mind("fmt other.mic --stdout").fine());
    let program = "fn f(x: f32[2], y: f32[2]) -> f32 { let dead = exp(x); sum(y + x) }";
    let folder = folder.with("f.mind", program);
    folder.mind("convert f.mind --to mic -o f.mic").fine();
    folder.mind("fmt --check f.mic").fine();
    assert_eq!(folder.mind("convert other.mic --to mic --as-is").fine(), OTHER);
    let core_ir = folder.mind("convert other.mic --to core-ir").fine();
    assert!(core_ir.contains("%3 = Add (%1, %0) : f32[2]"), "{core_ir}");
}

#[test]
fn core_ir_is_printed_as_the_specification_has_it() {
    let printed = Folder::new().with("layer.mic", LAYER).mind("convert layer.mic --to core-ir").fine();
    let last: Vec<_> = printed.lines().skip(3).collect();
    assert_eq!(
        last,
        [
            "%3 = MatMul (%0, %1) : f32[N, 2]",
            "%4 = Add (%2, %3) : f32[N, 2]",
            "%5 = Relu (%4) : f32[N, 2]",
            "outputs: %5"
        ]
    );
}

#[test]
fn a_program_of_the_language_keeps_its_name() {
    let folder = Folder::new().with("loss.mind", LOSS);
    let mic = folder.mind("convert loss.mind --to mic").fine();
    assert!(mic.starts_with("mic@1\nS0 \"loss\"\nS1 \"x\"\n"), "{mic}");
    folder.mind_with("check -", mic).fine();
}

#[test]
fn dot_is_for_graphviz() {
    let dot = Folder::new().with("layer.mic", LAYER).mind("convert layer.mic --to dot").fine();
    assert!(dot.starts_with("digraph mind {\n  label=\"layer in layer.mic\";"), "{dot}");
    assert!(
        dot.contains("n3 [label=\"MatMul\"") && dot.contains("  n0 -> n3 [label=\"f32[N,3]\"];"),
        "{dot}"
    );
    assert!(dot.contains("label=\"output 0\"") && dot.ends_with("}\n"), "{dot}");
}

#[test]
fn files_are_written_or_refused_with_the_reason() {
    let folder = Folder::new().with("layer.mic", LAYER);
    assert_eq!(folder.mind("convert layer.mic --to mic -o copy.mic").fine(), "");
    assert_eq!(folder.read("copy.mic"), LAYER);
    let said = folder.mind("convert layer.mic --to mic -o nowhere/copy.mic").misuse();
    let reason = "error: cannot write nowhere/copy.mic: no such file or directory\n";
    assert_eq!(said, format!("{reason}  help: there is no folder nowhere\n"));
    let said = folder.mind("convert layer.mic --to onnx").misuse();
    assert!(said.contains("invalid value 'onnx' for '--to <FORM>'") && said.contains("core-ir"), "{said}");
}

#[test]
fn a_program_with_mistakes_is_not_converted() {
    let folder = Folder::new().with("layer.mic", LAYER.replace("N6 relu N5 T3", "N6 relu N5 T2"));
    let answer = folder.mind("convert layer.mic --to json -o layer.json");
    assert!(answer.mistakes().starts_with("mic:15: error[E4012]"));
    assert!(!folder.path("layer.json").exists());
}

#[test]
fn a_reader_that_stops_reading_is_no_error() {
    // More bytes than the buffer of a pipe.
    let sum: String = (0..5_000).map(|i| format!("N{} exp N{} T0\n", i + 2, i + 1)).collect();
    let text = format!("mic@1\nS0 \"x\"\nT0 [f32;3]\nN1 input S0 T0\n{sum}O N5001\n");
    let folder = Folder::new().with("long.mic", text);
    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("mind"))
        .args(["convert", "long.mic", "--to", "core-ir"])
        .current_dir(folder.path(""))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0; 10];
    let mut out = child.stdout.take().unwrap();
    out.read_exact(&mut first).unwrap();
    drop(out);
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!((child.wait().unwrap().code(), &*said), (Some(0), ""));
}

const STEP: &str = "fn step<N>(x: f32[N, 4], w: &mut f32[4, 2], rate: f32) -> f32 {
    let y = x @ w;
    w -= rate * (x.T @ y);
    sum(y * y)
}";

#[test]
fn stablehlo_is_for_known_extents() {
    let folder = Folder::new().with("step.mind", STEP).with("loss.mind", LOSS);
    let text = folder.mind("convert step.mind --to stablehlo --dim N=8").fine();
    assert!(
        text.starts_with("module {\n  func.func public @main(%arg0: tensor<8x4xf32> loc(\"x\"), "),
        "{text}"
    );
    assert!(text.contains("%arg1: tensor<4x2xf32> {tf.aliasing_output = 1 : i32} loc(\"w\")"), "{text}");
    assert!(!text.contains("sdy"), "{text}");
    folder.mind("convert step.mind --to stablehlo --dim N=8 -o step.mlir").fine();
    assert_eq!(folder.read("step.mlir"), text);
    let gradient = folder.mind("grad loss.mind --wrt w,b --to stablehlo --dim N=8").fine();
    assert!(gradient.contains("-> (tensor<f32>, tensor<3x2xf32>, tensor<2xf32>) {"), "{gradient}");

    let said = folder.mind("convert step.mind --to stablehlo").mistakes();
    assert!(said.contains("error[E2003]: no extent is given for `N`\n"), "{said}");
    assert!(said.contains("help: give each one, as --dim N=32"), "{said}");
    for (dims, expected) in [
        ("--dim N=8 --dim M=2", "error[E2002]: the program has no symbol `M`"),
        ("--dim N=8 --dim N=8", "error[E2008]: `N` is given twice in --dim"),
        ("--dim N=0", "error[E3006]: `N` is 0, needed at least 1"),
        ("--dim N=9223372036854775807", "error[E6004]: "),
    ] {
        let said = folder.mind(&format!("convert step.mind --to stablehlo {dims} -o no.mlir")).mistakes();
        assert!(said.contains(expected), "{dims}: {said}");
        assert!(!folder.path("no.mlir").exists());
    }
    let said = folder.mind("convert step.mind --to stablehlo --dim N=x").misuse();
    assert!(said.contains("--dim N=x has no extent"), "{said}");
    let said = folder.mind("convert step.mind --to mic --dim N=8").misuse();
    assert!(said.contains("--dim works only with --to stablehlo"), "{said}");
}

#[test]
fn stablehlo_is_laid_out_over_a_mesh_that_fits() {
    let folder = Folder::new().with("step.mind", STEP);
    let convert = |rest: &str| folder.mind(&format!("convert step.mind --to stablehlo --dim N=8 {rest}"));
    let text = convert("--mesh d=4,m=2 --shard x=d,_ --shard w=_,m").fine();
    assert!(text.contains("\n  sdy.mesh @mesh = <[\"d\"=4, \"m\"=2]>\n"), "{text}");
    let argument = "%arg1: tensor<4x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {\"m\"}]>, tf.aliasing_output = 1 : i32}";
    assert!(text.contains(argument), "{text}");
    // An updated input keeps its layout, and an input without `--shard` is not split.
    assert!(
        text.contains("tensor<4x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {\"m\"}]>}) {"),
        "{text}"
    );
    assert!(text.contains("%arg2: tensor<f32> {sdy.sharding = #sdy.sharding<@mesh, []>}"), "{text}");
    for (rest, expected) in [
        (
            "--mesh d=3 --shard x=d,_",
            "dimension 0 of `x` is 8, which the 3 devices of the mesh axis `d` do not divide",
        ),
        ("--mesh d=4 --shard x=e,_", "error[E2002]: the mesh has no axis `e`"),
        ("--mesh d=4 --shard z=d,_", "error[E2002]: the program has no input `z`"),
        ("--mesh d=4 --shard x=d", "error[E2007]: `x` has rank 2, and 1 mesh axes are given for it"),
        ("--mesh d=2 --shard x=d,d", "error[E2008]: the mesh axis `d` splits two dimensions of `x`"),
        ("--mesh d=4 --shard x=d,_ --shard x=_,d", "error[E2008]: `x` is given twice in --shard"),
        ("--mesh d=4,d=2", "error[E2008]: the mesh has two axes `d`"),
        ("--mesh d=0", "error[E3006]: the mesh axis `d` is 0, needed at least 1"),
        (
            "--mesh a=9223372036854775807,b=2",
            "error[E6004]: the mesh has more devices than 64 bits can count",
        ),
    ] {
        let said = convert(rest).mistakes();
        assert!(said.contains(expected), "{rest}: {said}");
    }
    for (rest, expected) in [
        ("--mesh d", "--mesh d has no number of devices"),
        ("--mesh d=4 --shard x", "--shard x has no axes"),
        ("--shard x=d,_", "--mesh <AXIS=COUNT>"),
    ] {
        let said = convert(rest).misuse();
        assert!(said.contains(expected), "{rest}: {said}");
    }
}

#[test]
fn stablehlo_has_the_precision_that_is_named() {
    let folder = Folder::new().with("step.mind", STEP);
    let convert = |rest: &str| folder.mind(&format!("convert step.mind --to {rest}"));
    let exact = convert("stablehlo --dim N=8").fine();
    assert!(exact.contains("precision = [HIGHEST, HIGHEST]"), "{exact}");
    for (names, attribute) in [
        (["highest", "float32"], "precision = [HIGHEST, HIGHEST] : "),
        (["tf32", "tensorfloat32"], "precision = [HIGH, HIGH] : "),
        (["bf16", "bfloat16"], "precision = [DEFAULT, DEFAULT], algorithm = <lhs_precision_type = bf16, "),
    ] {
        let texts = names.map(|name| convert(&format!("stablehlo --dim N=8 --precision {name}")).fine());
        assert_eq!(texts[0].matches(attribute).count(), exact.matches("dot_general").count(), "{}", texts[0]);
        assert_eq!(texts[0], texts[1]);
    }
    let said = convert("stablehlo --dim N=8 --precision high").misuse();
    assert!(said.contains("invalid value 'high' for '--precision <NAME>'"), "{said}");
    assert!(said.contains("[possible values: highest, tf32, bf16]"), "{said}");
    let rounded = convert("stablehlo --dim N=8 --compute bf16").fine();
    assert!(rounded.contains("(tensor<8x4xbf16>, tensor<4x2xbf16>) -> tensor<8x2xf32>"), "{rounded}");
    assert_eq!(convert("stablehlo --dim N=8 --compute f32").fine(), exact);
    let said = convert("stablehlo --dim N=8 --compute f16").misuse();
    assert!(said.contains("[possible values: f32, bf16]"), "{said}");
    let said = convert("mic --compute bf16").misuse();
    assert!(said.contains("--compute works only with --to stablehlo"), "{said}");
    let said = convert("mic --precision tf32").misuse();
    assert!(said.contains("--precision works only with --to stablehlo"), "{said}");
}

/// A text beyond the limits of the reader is not written. JSON that is too long with one line per item is written on
/// one line.
#[test]
fn what_is_written_can_be_read() {
    let chain = |additions: usize| format!("fn f(x: f32) -> f32 {{ x{} }}", " + x".repeat(additions));
    let folder = Folder::new().with("most.mind", chain(99_999)).with("more.mind", chain(100_200));
    folder.mind("convert most.mind --to json -o out.json").fine();
    folder.mind("check out.json").fine();
    for form in ["mic", "core-ir"] {
        let said = folder.mind(&format!("convert more.mind --to {form} -o no.txt")).mistakes();
        let expected = format!(
            "error[E1008]: the output as {form} could not be read back: more than the limit of 100000 nodes\n"
        );
        assert!(said.starts_with(&expected), "{said}");
        assert_eq!(said.matches("error[").count(), 1, "{said}");
        assert!(!folder.path("no.txt").exists());
    }
}

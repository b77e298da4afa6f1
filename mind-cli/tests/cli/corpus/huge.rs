//! Tests of programs with extents of 2^40 in every subcommand that reads programs. The address space is too small for
//! any of the tensors. Each call succeeds or reports an error, in a short time.

use std::{collections::BTreeSet, fs, path::Path, time::Duration};

use assert_cmd::Command;
use mind_core::{
    build::Builder,
    data::TensorData,
    dim::Dim,
    ir::{Const, Module, Op},
    ops::{self, sample::Case},
    text::{core_ir, mic},
    ty::{DType, Type},
};

use super::{extents::variants, threads::on_all_threads};
use crate::sample::{few, some};

/// The address space of each call in KiB: far less than one tensor needs, and enough for the stacks of the command's
/// threads.
const ADDRESS_SPACE: u64 = 2 << 20;

/// The time limit of a call. No call takes as long, even on a busy machine.
const LONGEST: Duration = Duration::from_secs(60);

/// The commands that read a module, and commands that read their output again. FILE is the module.
const COMMANDS: [&str; 20] = [
    "check FILE",
    "check --profile core-v1 FILE",
    "fmt --stdout FILE",
    "convert FILE --to mic -o out.mic",
    "convert --as-is FILE --to core-ir -o out.ir",
    "convert FILE --to json -o out.json",
    "convert FILE --to dot -o out.dot",
    "convert FILE --to stablehlo -o out.mlir",
    "fmt out.ir out.json",
    "convert out.json --to mic -o again.mic",
    "stats FILE",
    "stats --plan FILE",
    "graph FILE -o out.svg --renderer own",
    "grad --zero-ok --cotangent --wrt a FILE --to mic -o grad.mic",
    "grad --zero-ok --cotangent --wrt a --profile core-v1 FILE --to mic -o core.mic",
    "stats --plan grad.mic",
    "check grad.mic core.mic",
    "run --input a=a.npy --input b=a.npy --input c=a.npy FILE",
    "run --input a=[1,2] FILE",
    "run FILE",
];

#[test]
fn huge_extents_go_through_every_subcommand_in_little_memory() {
    let texts: BTreeSet<(&str, String)> = modules().iter().map(form).collect();
    assert!(texts.len() > 300, "{}", texts.len());
    let mut texts = few("modules of huge extents", texts);
    texts.extend(some("functions", FUNCTIONS).into_iter().map(|function| ("mind", function.to_owned())));
    let answers = for_each(&texts, |(extension, text)| {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let file = format!("p.{extension}");
        fs::write(folder.path().join(&file), text).expect("the folder can be written");
        fs::write(folder.path().join("a.npy"), huge_file()).expect("the folder can be written");
        COMMANDS.map(|command| ask(folder.path(), &command.replace("FILE", &file), text)).into()
    });
    // Most modules are valid, so that most calls are not only rejected.
    let succeeded = answers.iter().filter(|code| **code == 0).count();
    assert!(succeeded * 2 > answers.len(), "{succeeded} of {}", answers.len());
}

/// Sizes of 2^40 in Knossos: in each function that creates a tensor, and in derivatives.
#[test]
fn huge_sizes_of_knossos_are_refused_as_they_run() {
    let answers = for_each(&PROGRAMS, |text| {
        let folder = tempfile::tempdir().expect("a folder can be made");
        fs::write(folder.path().join("p.ks"), text).expect("the folder can be written");
        let checked = ask(folder.path(), "ks check --rules --print-ir p.ks", text);
        assert_eq!(checked, 0, "{text}");
        let commands = [
            "ks run --memory 64M p.ks",
            "ks run --memory 64M --precision f32 p.ks f 1.0",
            "ks grad --memory 64M p.ks f 1.0",
        ];
        commands.map(|command| ask(folder.path(), command, text)).into()
    });
    assert!(answers.iter().all(|code| *code == 1), "{answers:?}");
}

/// Extents that `--dim` gives to symbols.
#[test]
fn huge_extents_of_symbols_take_no_memory() {
    let mut texts = Vec::new();
    for row in ops::TABLE {
        for case in row.cases(DType::F32) {
            let symbolic = variants(&case, &["N", "M", "K", "P", "Q", "H", "W"].map(Dim::symbol));
            texts.extend(symbolic.last().and_then(of_inputs).map(|module| mic::print(&module)));
        }
    }
    let texts = few("modules of symbols", BTreeSet::from_iter(texts));
    for_each(&texts, |text| {
        let folder = tempfile::tempdir().expect("a folder can be made");
        fs::write(folder.path().join("p.mic"), text).expect("the folder can be written");
        let mut given = String::new();
        for symbol in ["N", "M", "K", "P", "Q", "H", "W"].iter().filter(|symbol| text.contains(**symbol)) {
            let command = format!("stats{given} --dim {symbol}=1099511627776 p.mic");
            // Not every letter in a text is a symbol.
            if ask(folder.path(), &command, text) == 0 {
                given += &format!(" --dim {symbol}=1099511627776");
            }
        }
        assert!(!given.is_empty(), "{text}");
        let commands = ["stats --plan GIVEN p.mic", "convert p.mic --to stablehlo GIVEN"];
        commands.map(|command| ask(folder.path(), &command.replace("GIVEN", given.trim()), text)).into()
    });
}

/// Modules with one operation each, for every row of the table of operations: on inputs, and on constants filled with
/// one number.
fn modules() -> Vec<Module> {
    let huge = [const { 1_i64 << 40 }; 7].map(Dim::literal);
    let mut modules = Vec::new();
    for row in ops::TABLE {
        let dtypes = [DType::F32, DType::I64, DType::Bool].into_iter();
        let cases = dtypes.map(|dtype| row.cases(dtype)).find(|cases| !cases.is_empty()).unwrap_or_default();
        // Enlarges as many extents at once as possible while the number of elements can be counted.
        let grown: Vec<Case> = cases.iter().filter_map(|case| variants(case, &huge).pop()).collect();
        let few = grown.iter().take(2).chain(grown.iter().skip(2).last());
        for case in few {
            modules.extend(of_inputs(case));
            modules.extend(of_constants(case));
        }
    }
    modules
}

fn of_inputs(case: &Case) -> Option<Module> {
    let named = |builder: &mut Builder, name: &str, ty: &Type| builder.input(name, ty.clone()).ok();
    of_case(case, named)
}

/// The case with constants as operands. An optimiser may fold them, and a run must create them.
fn of_constants(case: &Case) -> Option<Module> {
    let filled = |builder: &mut Builder, _: &str, ty: &Type| {
        let data = TensorData::splat(ty.dtype, 1.0);
        builder.push(Op::Const(Const::Tensor { data, shape: ty.shape.clone() }), &[]).ok()
    };
    of_case(case, filled)
}

fn of_case(
    case: &Case,
    mut operand: impl FnMut(&mut Builder, &str, &Type) -> Option<mind_core::ir::ValueId>,
) -> Option<Module> {
    let mut builder = Builder::new();
    let names = ["a", "b", "c"].into_iter().zip(&case.operands);
    let operands: Option<Vec<_>> = names.map(|(name, ty)| operand(&mut builder, name, ty)).collect();
    let result = builder.push(case.op.clone(), &operands?).ok()?;
    Some(builder.finish([result]))
}

/// The module in one of two forms, selected by the length of its text.
fn form(module: &Module) -> (&'static str, String) {
    let (mic, core_ir) = (mic::print(module), core_ir::print(module));
    if mic.len().is_multiple_of(2) { ("mic", mic) } else { ("ir", core_ir) }
}

/// A NumPy file whose header declares 2^40 elements, and which contains none.
fn huge_file() -> Vec<u8> {
    super::npy("<f4", &[1 << 40], 0)
}

/// Runs `ask` for every case, on all processors. Returns all exit codes.
fn for_each<T: Sync>(cases: &[T], ask: impl Fn(&T) -> Vec<i32> + Sync) -> Vec<i32> {
    on_all_threads(cases, ask).into_iter().flatten().collect()
}

/// The exit code of a call. Checks that it is 0, 1 with the code of a mistake, or 2 for a call that does not fit the
/// program.
fn ask(folder: &Path, command: &str, text: &str) -> i32 {
    let limited = format!("ulimit -v {ADDRESS_SPACE} && exec \"$0\" \"$@\"");
    let mut shell = Command::new("sh");
    shell.args(["-c", &limited, env!("CARGO_BIN_EXE_mind")]).args(command.split_whitespace());
    let output = shell.current_dir(folder).timeout(LONGEST).output().expect("the command runs");
    let said = String::from_utf8_lossy(&output.stderr);
    let what = || format!("mind {command}: {:?}, {said}\n{text}", output.status);
    let code = output.status.code().unwrap_or_else(|| panic!("a signal ended it: {}", what()));
    match code {
        0 => {}
        1 => assert!(said.lines().next().is_some_and(|line| line.contains("error[E")), "{}", what()),
        2 => assert!(said.starts_with("error: "), "{}", what()),
        _ => panic!("{}", what()),
    }
    code
}

/// Functions that create or use tensors with huge extents.
const FUNCTIONS: [&str; 20] = [
    "fn f(a: f32[1099511627776]) -> f32[1099511627776] { a + zeros([1099511627776]) }",
    "fn f() -> f32 { sum(zeros([1099511627776])) }",
    "fn f(a: f32[1099511627776]) -> f32[1099511627776] { nn::softmax(a, axis = 0) }",
    "fn f() -> i64[1099511627776] { iota([1099511627776], axis = 0) }",
    "fn f(a: f32[1099511627776]) -> f32[1099511627776, 3] { stack([a, a, a], axis = 1) }",
    "fn f(a: f32[1099511627776]) -> f32[549755813888] { a[0..;2] }",
    "fn f(a: f32[1099511627776]) -> f32[1099511627775] { a[1..] }",
    "fn f(a: f32[1099511627776]) -> f32[1099511627776] { cumsum(a, axis = 0) }",
    "fn f(a: f32[1099511627776, 3]) -> f32[5, 3] { gather(a, [0, 1, 2, 3, 1099511627775]) }",
    "fn f(a: f32[1, 1048576, 1048576, 1], b: f32[3, 3, 1, 1]) -> f32[1, 1048576, 1048576, 1] { conv2d(a, b, padding = same) }",
    "fn f(a: f32[1099511627776]) -> f32 { a[1099511627775] }",
    "fn f(a: f32[1099511627776]) -> f32[1048576, 1048576] { reshape(a, [1048576, 1048576]) }",
    "fn f(a: f32[1048576, 1048576]) -> f32[1048576, 1048576] { a.T @ a }",
    "fn f(a: f32[1099511627776]) -> f32[2199023255552] { concat([a, a], axis = 0) }",
    "fn f(a: f32) -> f32[1099511627776] { broadcast_to(a, [1099511627776]) }",
    "fn f(a: f32[1099511627776]) -> f32 { mean(a) + num::var(a) }",
    "fn f(a: f32[1048576, 1048576]) -> f32[1048576, 1048576] { num::tril(a) + num::eye_like(a) }",
    "fn f(a: f32) -> f32[1099511627776] { num::linspace(a, a + 1.0, 1099511627776) }",
    "fn f(a: f32[1099511627776]) -> i64 { argmax(a, axis = 0) }",
    "const N: dim = 1099511627776;\nfn f(a: f32[N]) -> f32[N] { where(a > 0.0, a, 0.0) * 2.0 }",
];

/// Programs whose `main` and `f` need more memory than exists.
const PROGRAMS: [&str; 8] = [
    "(def f Float (x : Float) (sum (build 1099511627776 (lam (i : Integer) x))))\n(def main Float () (f 2.0))",
    "(def f Float (x : Float) (index 0 (constVec 1099511627776 x)))\n(def main Float () (f 2.0))",
    "(def f Float (x : Float) (index 0 (deltaVec 1099511627776 1 x)))\n(def main Float () (f 2.0))",
    "(def f Float (x : Float) (sumbuild 1099511627776 (lam (i : Integer) (mul x (sin (to_float i))))))\n(def main Float () (f 2.0))",
    "(def f Float (x : Float) (index (tuple 0 0) (build (tuple 1048576 1048576) (lam (ij : (Tuple Integer Integer)) x))))\n(def main Float () (f 2.0))",
    "(def f Float (x : Float) (index 0 (index 1 (diag 1099511627776 1099511627776 (lam (i : Integer) x)))))\n(def main Float () (f 2.0))",
    "(def f Float (x : Float) (index 0 (buildFromSparse 1099511627776 2 (lam (i : Integer) (tuple i x)))))\n(def main Float () (f 2.0))",
    "(def g (Vec (Vec Float)) (x : Float) (build 1048576 (lam (i : Integer) (constVec 1048576 x))))\n(def f Float (x : Float) (sum (map (lam (v : Vec Float) (sum v)) (g x))))\n(def main (Vec (Vec Float)) () (g 2.0))",
];

//! Tests of `mind run`.

use std::fs;

use crate::support::{Folder, LAYER, LOSS, answer};

/// A `.npy` file in the format of NumPy and of the command.
pub fn npy(descriptor: &str, fortran: bool, shape: &str, data: &[u8]) -> Vec<u8> {
    let fortran = if fortran { "True" } else { "False" };
    file(&format!("{{'descr': '{descriptor}', 'fortran_order': {fortran}, 'shape': ({shape}), }}"), data)
}

fn file(header: &str, data: &[u8]) -> Vec<u8> {
    let padded = format!("{header:<117}\n");
    let length = u16::try_from(padded.len()).expect("headers are short").to_le_bytes();
    [b"\x93NUMPY\x01\x00".as_slice(), &length, padded.as_bytes(), data].concat()
}

pub fn f32s(shape: &str, elements: &[f32]) -> Vec<u8> {
    npy("<f4", false, shape, &elements.iter().flat_map(|element| element.to_le_bytes()).collect::<Vec<_>>())
}

fn layer() -> Folder {
    Folder::new()
        .with("layer.mic", LAYER)
        .with("x.npy", f32s("2, 3", &[1.0, 2.0, 3.0, -1.0, 0.0, 1.0]))
        .with("w.npy", f32s("3, 2", &[1.0, 0.5, 0.0, -1.0, 2.0, 0.25]))
        .with("b.npy", f32s("2,", &[0.5, -0.5]))
}

const INPUTS: &str = "--input x=x.npy --input w=w.npy --input b=b.npy";

#[test]
fn tensors_from_files_give_what_the_program_computes() {
    let said = layer().mind(&format!("run layer.mic {INPUTS}")).fine();
    assert_eq!(said, "output 0: f32[2, 2], from 0 to 7.5, mean 2.25\n[[7.5, 0],\n [1.5, 0]]\n");
}

#[test]
fn outputs_are_written_as_npy_files() {
    let folder = layer();
    let said = folder.mind(&format!("run layer.mic {INPUTS} --output-dir out/deep")).fine();
    assert_eq!(said.replace('\\', "/"), "out/deep/output0.npy: f32[2, 2]\n");
    let written = fs::read(folder.path("out/deep/output0.npy")).unwrap();
    assert_eq!(written, f32s("2, 2", &[7.5, 0.0, 1.5, 0.0]));
}

#[test]
fn bytes_are_read_computed_and_written() {
    let program = "mic@1\nS0 \"x\"\nT0 [u8;3]\nT1 [bool;3]\nN1 input S0 T0\nN2 add N1 N1 T0\nN3 gt N1 N2 T1\nO N2\nO N3\n";
    let folder =
        Folder::new().with("bytes.mic", program).with("x.npy", npy("|u1", false, "3,", &[2, 128, 200]));
    let expected = "output 0: u8[3], from 0 to 144, mean 49.3333\n[4, 0, 144]\noutput 1: bool[3], 2 of 3 true\n[false, true, true]\n";
    assert_eq!(folder.mind("run bytes.mic --input x=x.npy").fine(), expected);
    assert_eq!(folder.mind("run bytes.mic --input x=[2,128,200]").fine(), expected);
    assert!(folder.mind("run bytes.mic --input x=[2,128,256]").mistakes().contains("a number of type u8"));
}

#[test]
fn every_element_type_survives_the_round_trip() {
    let float = [0.1f64, -0.0, f64::INFINITY, 5e-324, f64::NAN, f64::MAX];
    let integer = [i64::MIN, -1, 0, 1, i64::MAX, 7];
    let cases: [(&str, &str, Vec<u8>); 6] = [
        ("u8", "|u1", vec![0, 1, 127, 128, 200, 255]),
        ("bool", "|b1", vec![1, 0, 1, 1, 0, 0]),
        ("f32", "<f4", float.iter().flat_map(|x| (*x as f32).to_le_bytes()).collect()),
        ("f64", "<f8", float.iter().flat_map(|x| x.to_le_bytes()).collect()),
        ("i32", "<i4", integer.iter().flat_map(|x| (*x as i32).to_le_bytes()).collect()),
        ("i64", "<i8", integer.iter().flat_map(|x| x.to_le_bytes()).collect()),
    ];
    for (dtype, descriptor, data) in cases {
        let file = npy(descriptor, false, "2, 3", &data);
        let program = format!("fn f(x: {dtype}[2, 3]) -> ({dtype}[2, 3], {dtype}[2, 3]) {{ (x, x.T.T) }}");
        let folder = Folder::new().with("f.mind", program).with("x.npy", &file);
        folder.mind("run f.mind --input x=x.npy --output-dir out").fine();
        for output in ["out/output0.npy", "out/output1.npy"] {
            assert_eq!(fs::read(folder.path(output)).unwrap(), file, "{dtype}");
        }
    }
}

#[test]
fn either_byte_order_and_either_order_of_axes_is_read() {
    let program = "fn f(x: f32[2, 3]) -> f32[2, 3] { x }";
    let expected = "output 0: f32[2, 3], from 1 to 6, mean 3.5\n[[1, 2, 3],\n [4, 5, 6]]\n";
    let big: Vec<u8> = [1f32, 2.0, 3.0, 4.0, 5.0, 6.0].iter().flat_map(|x| x.to_be_bytes()).collect();
    let columns: Vec<u8> = [1f32, 4.0, 2.0, 5.0, 3.0, 6.0].iter().flat_map(|x| x.to_le_bytes()).collect();
    let folder = Folder::new()
        .with("f.mind", program)
        .with("big.npy", npy(">f4", false, "2, 3", &big))
        // NumPy would write a comma before the closing brace.
        .with("columns.npy", file("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3)}", &columns));
    assert_eq!(folder.mind("run f.mind --input x=big.npy").fine(), expected);
    assert_eq!(folder.mind("run f.mind --input x=columns.npy").fine(), expected);
}

#[test]
fn numbers_are_given_as_numbers() {
    let program =
        "fn f(a: f32, n: i64, k: i32, d: f64) -> (f32, i64, i32, f64) { (a + a, n * n, -k, d / 3.0) }";
    let folder = Folder::new().with("f.mind", program);
    let said = folder.mind("run f.mind -i a=0.1 -i n=-3 -i k=7 -i d=1e-3").fine();
    let numbers =
        "output 0: f32 = 0.2\noutput 1: i64 = 9\noutput 2: i32 = -7\noutput 3: f64 = 0.0003333333333333333\n";
    assert_eq!(said, numbers);
    let said = folder.mind("run f.mind -i a=1 -i n=1.5 -i k=3000000000 -i d=1").mistakes();
    assert!(said.contains("mind: error[E1005]: input `n` is 1.5, needed a number of type i64\n"), "{said}");
    assert!(
        said.contains("mind: error[E1005]: input `k` is 3000000000, needed a number of type i32\n"),
        "{said}"
    );
    assert!(said.contains("2 mistakes"), "{said}");
}

#[test]
fn a_tensor_of_rank_0_may_come_from_a_file() {
    let folder =
        Folder::new().with("f.mind", "fn f(a: f32) -> f32 { exp(a) }").with("a.npy", f32s("", &[0.0]));
    assert_eq!(folder.mind("run f.mind --input a=a.npy").fine(), "output 0: f32 = 1\n");
}

#[test]
fn updated_parameters_are_outputs_with_their_names() {
    let program = "fn step(w: &mut f32[2], rate: f32) -> f32 { w -= rate * w; sum(w) }";
    let folder = Folder::new().with("f.mind", program).with("w.npy", f32s("2,", &[1.0, 2.0]));
    let said = folder.mind("run f.mind --input w=w.npy --input rate=0.5").fine();
    assert_eq!(said, "output 0: f32 = 1.5\nw (updated): f32[2], from 0.5 to 1, mean 0.75\n[0.5, 1]\n");
}

#[test]
fn long_tensors_are_shortened_unless_asked_for() {
    let folder = Folder::new()
        .with("f.mind", "fn f<N>(x: f32[N]) -> f32[N] { x }")
        .with("x.npy", f32s("1000,", &[f32::NAN; 1000]));
    let said = folder.mind("run f.mind --input x=x.npy").fine();
    assert!(said.contains("...") && said.contains("1000 NaN") && said.len() < 500, "{said}");
    let said = folder.mind("run f.mind --input x=x.npy --full").fine();
    assert_eq!(said.lines().last().unwrap().matches("NaN").count(), 1000, "{said}");
}

#[test]
fn shapes_that_do_not_fit_are_e6009_and_e2001() {
    let folder = layer().with("w4.npy", f32s("4, 2", &[0.0; 8])).with("flat.npy", f32s("6,", &[0.0; 6]));
    let said = folder.mind(&format!("run layer.mic {INPUTS}").replace("w.npy", "w4.npy")).mistakes();
    assert!(said.starts_with("mic: error[E6009]: dimension 0 of `w` is 4, needed 3\n"), "{said}");
    let said = folder.mind(&format!("run layer.mic {INPUTS}").replace("w.npy", "flat.npy")).mistakes();
    assert!(
        said.starts_with("mic: error[E2001]: input `w` is f32[6] in flat.npy, needed f32[3, 2]\n"),
        "{said}"
    );
    let folder = folder.with("two.mind", "fn f<N>(a: f32[N], b: f32[N]) -> f32 { sum(a * b) }");
    let said = folder.mind("run two.mind --input a=b.npy --input b=flat.npy").mistakes();
    assert!(said.starts_with("mind: error[E6009]: dimension 0 of `b` is 6, needed N = 2\n"), "{said}");
    assert!(said.contains("\n  = `a` is f32[2] in b.npy\n  = `b` is f32[6] in flat.npy\n"), "{said}");
}

/// The data begins at byte 128, after a header of 118 bytes and the 10 bytes before it. The wrong byte is at offset 4.
#[test]
fn a_byte_that_is_no_truth_value_is_named_with_its_place() {
    let folder = Folder::new()
        .with("f.mind", "fn f(x: bool[2, 3]) -> bool[2, 3] { !x }")
        .with("x.npy", npy("|b1", false, "2, 3", &[0, 1, 0, 1, 7, 1]));
    let said = folder.mind("run f.mind --input x=x.npy --output-dir out").misuse();
    let expected = "error: cannot read x.npy: the bool at index [1, 1] is 7 (byte 132), needed 0 or 1\n";
    assert_eq!(said, expected);
    assert!(!folder.path("out").exists());
}

#[test]
fn element_types_that_do_not_fit_are_named() {
    let folder = layer()
        .with("f64.npy", npy("<f8", false, "2,", &[0; 16]))
        .with("u8.npy", npy("|u1", false, "2,", &[0; 2]))
        .with("f16.npy", npy("<f2", false, "2,", &[0; 4]));
    for (file, held) in [("f64.npy", "f64"), ("u8.npy", "u8"), ("f16.npy", "f16")] {
        let said =
            folder.mind(&format!("run layer.mic {INPUTS}").replace("=b.npy", &format!("={file}"))).mistakes();
        assert!(
            said.starts_with(&format!("mic: error[E2001]: {file} contains {held}, needed f32\n")),
            "{said}"
        );
        assert!(said.contains("= help: in Python: np.save(…, x.astype(np.float32))\n"), "{said}");
    }
}

#[test]
fn types_that_cannot_be_cast_get_no_advice_to_cast() {
    let folder = layer()
        .with("long.npy", npy("<f16", false, "2,", &[0; 32]))
        .with("complex.npy", npy("<c8", false, "2,", &[0; 16]))
        .with("text.npy", npy("<U3", false, "2,", &[0; 24]))
        .with(
            "fields.npy",
            file("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}", &[0; 8]),
        );
    let run = |file: &str| {
        folder.mind(&format!("run layer.mic {INPUTS}").replace("=b.npy", &format!("={file}"))).mistakes()
    };
    let long = run("long.npy");
    assert!(long.starts_with("mic: error[E2001]: long.npy contains longdouble, needed f32\n"), "{long}");
    assert!(long.contains("help: in Python: np.save(…, x.astype(np.float32))\n"), "{long}");
    let complex = run("complex.npy");
    assert!(complex.starts_with("mic: error[E2001]: complex.npy contains c64, needed f32\n"), "{complex}");
    assert!(complex.contains("np.save(…, np.stack([x.real, x.imag]))\n"), "{complex}");
    let fields = run("fields.npy");
    assert!(
        fields.starts_with("mic: error[E2001]: fields.npy contains [('a', '<f4')], needed f32\n"),
        "{fields}"
    );
    assert!(fields.contains("np.save(…, x[\"field\"])\n"), "{fields}");
    let text = run("text.npy");
    assert!(text.starts_with("mic: error[E2001]: text.npy contains U3, needed f32\n"), "{text}");
    for said in [complex, fields, text] {
        assert!(!said.contains("astype"), "{said}");
    }
}

#[test]
fn small_tensors_are_given_as_lists() {
    let program =
        "fn f<N>(x: f32[N, 2], n: i64[N], m: bool[2], s: f32) -> f32 { sum(where(m, x, 10.0)) + s }";
    let folder = Folder::new().with("f.mind", program).with("n.npy", npy("<i8", false, "2,", &[0; 16]));
    let run = |x: &str, n: &str| {
        let inputs = ["-i", x, "-i", n, "-i", "m=[true, false]", "-i", "s=0.5"];
        answer(folder.command("run f.mind").args(inputs))
    };
    assert_eq!(run("x=[[1, 2], [-3.5, 1e1,],]", "n=[7,8]").fine(), "output 0: f32 = 18\n");
    assert_eq!(run("x=[[1,2],[-3.5,10]]", "n=n.npy").fine(), "output 0: f32 = 18\n");
    for (x, n, expected) in [
        (
            "x=[[1, 2], [3]]",
            "n=[1]",
            "error[E3010]: input `x` has lists of 2 and 1 along axis 1, needed f32[N, 2]",
        ),
        ("x=[1, 2]", "n=[1]", "error[E2001]: input `x` has a number in place of a list, needed f32[N, 2]"),
        (
            "x=[[[1, 2]]]",
            "n=[1]",
            "error[E2001]: input `x` has a list in place of a number, needed f32[N, 2]",
        ),
        ("x=[[1, 2]]", "n=[1.5]", "error[E1005]: input `n` is 1.5, needed a number of type i64"),
        ("x=[[1, 2]", "n=[1]", "error[E1007]: input `x` has the end, expected `,` or `]`"),
        ("x=[[1, 2]]]", "n=[1]", "error[E1007]: input `x` has `]`, expected the end"),
        ("x=[[1, , 2]]", "n=[1]", "error[E1007]: input `x` has `,`, expected a number"),
    ] {
        let said = run(x, n).mistakes();
        assert!(said.contains(&format!("{expected}\n")), "{said}");
    }
    let said = run("x=[[1, 2], [3, 4]]", "n=[1]").mistakes();
    assert!(said.contains("E6009"), "{said}");
    assert!(said.contains("`x` is f32[2, 2]\n") && said.contains("`n` is i64[1]\n"), "{said}");
    let said = folder.mind("run f.mind -i s=[1] -i x=1 -i n=n.npy -i m=[true,true]").mistakes();
    assert!(said.contains("error[E2001]: input `s` is a list, needed f32\n"), "{said}");
    assert!(said.contains("help: give its elements or a .npy file: -i 'x=[1, 2]', -i x=x.npy\n"), "{said}");
}

#[test]
fn an_input_without_its_option_is_told_what_to_write() {
    let folder = layer();
    let said = folder.mind("run layer.mic x=x.npy").misuse();
    assert_eq!(said, "error: unexpected argument `x=x.npy`\n  help: give an input with -i: -i x=x.npy\n");
    let said = folder.mind("run layer.mic x.npy").misuse();
    let help = "`mind run` takes one program; give an input with -i, as in -i x=x.npy";
    assert_eq!(said, format!("error: unexpected argument `x.npy`\n  help: {help}\n"));
}

#[test]
fn inputs_that_are_missing_unknown_or_given_twice_are_all_reported() {
    let folder = layer();
    let said = folder.mind("run layer.mic --input x=x.npy --input x=x.npy --input bias=b.npy").mistakes();
    let errors: Vec<_> = said.lines().filter(|line| line.starts_with("mic: error")).collect();
    assert_eq!(
        errors,
        [
            "mic: error[E2007]: input `x` is given twice",
            "mic: error[E2002]: the program has no input `bias`",
            "mic: error[E2007]: no value is given for the input `w`: f32[3, 2]",
            "mic: error[E2007]: no value is given for the input `b`: f32[2]"
        ]
    );
    assert!(said.contains("help: --input w=w.npy\n"), "{said}");
    let said = folder.mind("run layer.mic --input x").misuse();
    assert_eq!(said, "error: --input x has no value\n  help: write --input x=x.npy\n");
    let said = folder.mind(&format!("run layer.mic {INPUTS}").replace("b=b.npy", "b=0.5")).mistakes();
    assert!(said.starts_with("mic: error[E2001]: input `b` is the number 0.5, needed f32[2]\n"), "{said}");
}

#[test]
fn files_that_are_no_tensors_are_refused() {
    let cut = f32s("2,", &[0.0, 0.0]);
    let folder = layer()
        .with("text.npy", "0.5 0.5\n")
        .with("cut.npy", &cut[..cut.len() - 3])
        .with("long.npy", [&*cut, b"abc"].concat())
        .with("header.npy", &cut[..20])
        .with("negative.npy", npy("<f4", false, "-2,", &[0; 8]))
        .with("key.npy", file("{'descr': '<f4', 'order': 1}", &[]))
        .with("b.csv", "0.5,0.5\n")
        .with("empty.npy", "")
        .with("huge.npy", npy("<f4", false, "4000000000, 4000000000", &[0; 8]));
    fs::create_dir(folder.path("folder.npy")).unwrap();
    let run = |file: &str| {
        folder.mind(&format!("run layer.mic {INPUTS}").replace("=b.npy", &format!("={file}"))).misuse()
    };
    assert_eq!(run("text.npy"), "error: cannot read text.npy: not a .npy file\n");
    assert_eq!(run("empty.npy"), "error: cannot read empty.npy: not a .npy file\n");
    assert_eq!(
        run("cut.npy"),
        "error: cannot read cut.npy: the data is truncated: the header declares f32[2], 8 bytes, but 5 bytes follow\n"
    );
    assert_eq!(
        run("long.npy"),
        "error: cannot read long.npy: the header declares f32[2], 8 bytes, but 11 bytes follow\n"
    );
    assert_eq!(
        run("negative.npy"),
        "error: cannot read negative.npy: the `shape` in the header is (-2,), needed extents such as (2, 3)\n"
    );
    assert_eq!(run("header.npy"), "error: cannot read header.npy: the header is truncated\n");
    assert_eq!(
        run("key.npy"),
        "error: cannot read key.npy: the header has an unknown key `order` at byte 27\n"
    );
    assert!(run("huge.npy").contains("the data is truncated: "), "{}", run("huge.npy"));
    assert!(
        run("b.csv").starts_with("error: cannot read b.csv as input `b`: it is a .csv file, needed .npy\n")
    );
    assert_eq!(run("none.npy"), "error: cannot read none.npy: no such file or directory\n");
    assert_eq!(run("folder.npy"), "error: cannot read folder.npy: it is a directory\n");
}

#[test]
fn what_fails_as_it_runs_is_told_with_its_code() {
    let folder = Folder::new().with("pick.mind", "fn pick(i: i64) -> f32 { gather([0.5, 1.5, 2.5], i) }");
    assert_eq!(folder.mind("run pick.mind --input i=2").fine(), "output 0: f32 = 2.5\n");
    let said = folder.mind("run pick.mind --input i=7").mistakes();
    assert!(
        said.starts_with("mind: error[E6001]: `gather`: index 7 is outside dimension 0 of extent 3\n"),
        "{said}"
    );
    let folder =
        Folder::new().with("x.npy", f32s("0,", &[])).with("f.mind", "fn f<N>(x: f32[N]) -> f32[N] { x }");
    let said = folder.mind("run f.mind --input x=x.npy").mistakes();
    assert!(
        said.starts_with("mind: error[E3006]: dimension 0 of `x` is 0, needed N of at least 1\n"),
        "{said}"
    );
}

#[test]
fn a_loss_and_its_gradient_agree_with_a_difference_quotient() {
    let folder = layer().with("loss.mind", LOSS);
    folder.mind("grad loss.mind --wrt b -o grad.mic").fine();
    let value = |folder: &Folder| -> f64 {
        let said = folder.mind(&format!("run loss.mind {INPUTS}")).fine();
        said.trim().rsplit(' ').next().unwrap().parse().unwrap()
    };
    let before = value(&folder);
    let said = folder.mind(&format!("run grad.mic {INPUTS}")).fine();
    let gradient: f64 = said.rsplit('[').next().unwrap().split(',').next().unwrap().parse().unwrap();
    let folder = folder.with("b.npy", f32s("2,", &[0.5 + 1.0 / 256.0, -0.5]));
    let quotient = (value(&folder) - before) * 256.0;
    assert!((quotient - gradient).abs() < 0.01, "{quotient} and {gradient}");
}

/// Inputs, intermediate values and results share the limit of `--memory`.
#[test]
fn more_memory_than_a_run_may_take_is_an_error_with_the_total() {
    let program = "fn f<N>(x: f32[N, 1], y: f32[1, N]) -> f32 { sum(x @ y @ x) }";
    let zeros = |shape| npy("<f4", false, shape, &[0; 4 * 60_000]);
    let folder = Folder::new()
        .with("f.mind", program)
        .with("x.npy", zeros("60000, 1"))
        .with("y.npy", zeros("1, 60000"))
        .with("f.ks", "(def main Integer () (size (build 100000000 (lam (i : Integer) 1.0))))");
    let run = "run f.mind --input x=x.npy --input y=y.npy";
    let said = folder.mind(&format!("{run} --memory 1G")).mistakes();
    let expected = "mind: error[E6004]: `MatMul` to f32[60000, 60000]: 43200480000 bytes are needed in all, more than the \
                    limit of 1073741824\n --> f.mind\n  = help: `--memory` sets the limit of a run, as in `--memory 8G`\n";
    assert!(said.starts_with(expected), "{said}");
    let said = folder.mind(&format!("{run} --memory 300000")).mistakes();
    let expected =
        "mind: error[E6004]: y.npy: 480000 bytes are needed in all, more than the limit of 300000\n";
    assert!(said.starts_with(expected), "{said}");
    let said = folder.mind("ks run f.ks --memory 1M").mistakes();
    assert!(said.starts_with("ks:1:28: error[E6004]: a tensor of 100000000 elements: "), "{said}");
    let said = folder.mind("run f.mind --memory lots").misuse();
    assert!(said.contains("needed a number of bytes above 0, such as 512M or 4G, found `lots`"), "{said}");
}

/// The file is larger than the machine's memory, and sparse.
#[test]
fn large_files_are_refused_before_they_are_read() {
    let program = "fn f(x: f32[60000, 60000]) -> f32 { sum(x) }";
    let header = npy("<f4", false, "60000, 60000", &[]);
    let folder = Folder::new().with("f.mind", program).with("x.npy", &header);
    let said = folder.mind("run f.mind --input x=x.npy").misuse();
    assert!(
        said.contains("the data is truncated: the header declares f32[60000, 60000], 14400000000 bytes, but 0 bytes follow"),
        "{said}"
    );
    let file = fs::OpenOptions::new().write(true).open(folder.path("x.npy")).unwrap();
    file.set_len(header.len() as u64 + 4 * 3_600_000_000).unwrap();
    let said = folder.mind("run f.mind --input x=x.npy --memory 1G").mistakes();
    let expected =
        "mind: error[E6004]: x.npy: 14400000000 bytes are needed in all, more than the limit of 1073741824\n";
    assert!(said.starts_with(expected), "{said}");
}

/// The entropy of numbers, which inspects their logarithms, and the sum of the logarithms of positive numbers.
const ENTROPY: &str = "\
pub fn entropy<N>(p: f32[N]) -> f32 {
    let logs = inspect(log(p), \"logs\");
    -sum(p * logs)
}

pub fn positive<N>(p: f32[N]) -> f32 {
    sum(where(p > 0.0, log(p), 0.0))
}
";

fn entropy(p: &[f32]) -> Folder {
    Folder::new().with("entropy.mind", ENTROPY).with("p.npy", f32s(&format!("{},", p.len()), p))
}

#[test]
fn values_are_shown_beside_the_results() {
    let ran = entropy(&[1.0, 1.0]).mind("run entropy.mind --function entropy --input p=p.npy");
    assert_eq!(ran.err, "logs: f32[2], from 0 to 0, mean 0\n[0, 0]\n");
}

#[test]
fn the_first_value_that_is_nan_is_named_with_its_line() {
    let folder = entropy(&[0.5, -1.0]);
    let said = folder.mind("run entropy.mind --function entropy --input p=p.npy --check nan").mistakes();
    let message = "is the first value that is NaN at [1], 1 in all, of p: f32[N]";
    assert!(said.contains(message) && said.contains("E6010") && said.contains("entropy.mind:2:24"), "{said}");
    // A NaN that `where` does not select is not reported, nor is any NaN without `--check`.
    let said = folder.mind("run entropy.mind --function positive --input p=p.npy --check nan").fine();
    assert!(said.contains("-0.69"), "{said}");
    folder.mind("run entropy.mind --function entropy --input p=p.npy");
}

#[test]
fn nan_that_is_given_ends_no_run() {
    let ran = entropy(&[f32::NAN]).mind("run entropy.mind --function entropy --input p=p.npy --check nan");
    assert!(ran.err.contains("input `p`, f32[N], is already NaN as given at [0]"), "{}", ran.err);
}

//! Values and gradients of every function at infinities, NaN, zeros, the smallest and largest numbers, and equal
//! numbers, compared with the values recorded by `ci/special`.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
    fs,
    path::Path,
};

use mind_core::{canon::Canonical, interp::Array, standard::FILES, ty::DType};

use super::{
    states::state_of,
    support::{compiled, floats, gradient_of, library, run, templates},
    text::documentation,
    vectors::{ANY, Entry, Tensor, entries},
};

/// The allowed errors in f64 and in f32, relative to an element. For sums they are also relative to 1.
const WITHIN: [f64; 2] = [1e-11, 4e-5];

/// The allowed absolute error of an elementwise function near 0, where numbers have few digits.
const LEAST: [f64; 2] = [1e-300, 1e-37];

/// Intended differences: `FUNCTION TENSOR: RECORDED -> FOUND | QUOTE`, with the kinds of the numbers, and a quote from
/// the function's documentation or from the head of its file.
const DIFFERENCES: &str = "tests/std/special/differs.txt";

/// Differences from the recorded values, such as `nn::softmax result: nan -> 0`, with an example or the quote.
type Differences = BTreeMap<String, String>;

#[test]
fn every_function_gives_what_is_recorded_at_special_numbers() {
    let mut found = Differences::new();
    let mut wrong = String::new();
    // The entries of `random` in tests/std/vectors include special numbers. The matrices of `linalg` that are singular
    // have tests of their own, in `edges`. A special number makes all results of `fft` NaN.
    for (file, _) in FILES.into_iter().filter(|(file, _)| !["random", "linalg", "fft"].contains(file)) {
        let entries = entries("special", file);
        let tried: BTreeSet<&str> = entries.iter().map(|entry| entry.function.as_str()).collect();
        for template in templates(file) {
            let name = template.name.to_string();
            // A step over a struct applies the function to each field, which another test covers.
            if !tried.contains(name.as_str()) && state_of(&template).is_none() {
                writeln!(wrong, "{file}::{name} has no row in tests/std/special/{file}.txt")
                    .expect("a string");
            }
        }
        let mut programs = Programs::default();
        for entry in &entries {
            for dtype in [DType::F64, DType::F32] {
                if entry.only.is_none_or(|only| only == dtype) {
                    programs.compare(file, entry, dtype, &mut found);
                }
            }
        }
    }
    wrong += &unexplained(&found);
    assert!(wrong.is_empty(), "{wrong}");
}

/// The differences that `differs.txt` does not list, those that no documentation explains, and its lines that do not
/// occur.
fn unexplained(found: &Differences) -> String {
    let mut wrong = String::new();
    let recorded = recorded();
    for (what, example) in found {
        match recorded.get(what) {
            None => writeln!(wrong, "{what}, as of {example}").expect("a string"),
            Some(quote) if quote.is_empty() || !is_said(what, quote) => {
                writeln!(wrong, "{what}: the page does not say `{quote}`").expect("a string");
            }
            Some(_) => {}
        }
    }
    for what in recorded.keys().filter(|what| !found.contains_key(*what)) {
        writeln!(wrong, "{what}: it is so nowhere").expect("a string");
    }
    wrong
}

/// The contents of `differs.txt`, with the quotes.
fn recorded() -> Differences {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(DIFFERENCES);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let parts = lines.map(|line| line.split_once(" | ").unwrap_or_else(|| panic!("`{line}` has no ` | `")));
    parts.map(|(what, quote)| (what.to_owned(), quote.to_owned())).collect()
}

/// Whether the documentation of a difference's function, or the head of its file, contains this quote.
fn is_said(what: &str, quote: &str) -> bool {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let function = what.split(' ').next().unwrap_or_default();
    let (file, name) = function.split_once("::").unwrap_or_else(|| panic!("`{function}` is no path"));
    let template = templates(file).into_iter().find(|template| template.name == name);
    let template = template.unwrap_or_else(|| panic!("there is no `{function}`"));
    let lines = library(file).lines();
    let head: Vec<&str> =
        lines.map_while(|line| line.strip_prefix("//").filter(|text| !text.starts_with('/'))).collect();
    words(&documentation(&template)).contains(quote) || words(&head.join(" ")).contains(quote)
}

/// Compiled programs, by their text.
#[derive(Default)]
struct Programs {
    compiled: BTreeMap<String, Canonical>,
}

impl Programs {
    fn compare(&mut self, file: &str, entry: &Entry, dtype: DType, differences: &mut Differences) {
        let has_gradients = !entry.gradients.is_empty();
        let module = self.compiled.entry(entry.program(dtype)).or_insert_with_key(|program| {
            let module = compiled(file, program);
            if has_gradients { gradient_of(&module) } else { module }
        });
        let mut inputs: Vec<Array> = entry.inputs.iter().map(|input| input.value(dtype)).collect();
        if has_gradients {
            inputs.extend(entry.cotangents(dtype));
        }
        let found = run(module, &inputs);
        let results = entry.results.iter().map(|result| ("result".to_owned(), &result.numbers));
        let gradients = entry.gradients.iter().map(|(name, numbers)| (format!("d {name}"), numbers));
        let wanted: Vec<(String, &Vec<f64>)> = results.chain(gradients).collect();
        assert_eq!(found.len(), wanted.len(), "{file}: `{}`", entry.call);
        for (found, (name, wanted)) in found.iter().zip(wanted) {
            let numbers = found.elements.to_f64();
            let wanted = if wanted[..] == [ANY] { vec![ANY; numbers.len()] } else { wanted.clone() };
            let wanted = floats(dtype, &[wanted.len()], &wanted).elements.to_f64();
            assert_eq!(numbers.len(), wanted.len(), "{file}: `{}`: {name}", entry.call);
            let least = least(entry, &name, dtype);
            for (at, (number, wanted)) in numbers.into_iter().zip(wanted).enumerate() {
                if wanted != ANY && !is_close(number, wanted, dtype, least) {
                    let kinds = [kind(wanted), kind(number)].join(" -> ");
                    let what = format!("{file}::{} {name}: {kinds}", entry.function);
                    let example =
                        || format!("{} in {dtype}: [{at}] {wanted:e} -> {number:e}", shown(entry, at));
                    differences.entry(what).or_insert_with(example);
                }
            }
        }
    }
}

/// The allowed absolute error of an element.
fn least(entry: &Entry, name: &str, dtype: DType) -> f64 {
    let narrow = usize::from(dtype == DType::F32);
    match (entry.relative && entry.only.is_some(), name == "result") {
        (true, true) => LEAST[narrow],
        // A derivative may be a difference of larger numbers.
        (true, false) => f64::EPSILON,
        (false, _) => WITHIN[narrow],
    }
}

fn is_close(number: f64, wanted: f64, dtype: DType, least: f64) -> bool {
    let within = WITHIN[usize::from(dtype == DType::F32)];
    number == wanted
        || number.is_nan() && wanted.is_nan()
        || (number - wanted).abs() <= within * wanted.abs() + least
}

/// The call of an entry with its inputs. For an elementwise function, only the inputs of one element.
fn shown(entry: &Entry, at: usize) -> String {
    let input = |input: &Tensor| {
        let numbers = if entry.relative { &input.numbers[at..=at] } else { &input.numbers[..] };
        format!("{} = {numbers:?}", input.name)
    };
    format!("`{}` at {}", entry.call, entry.inputs.iter().map(input).collect::<Vec<_>>().join(", "))
}

/// The kind of a number in a difference. All numbers that are neither 0 nor special are one kind.
fn kind(number: f64) -> &'static str {
    match number {
        _ if number.is_nan() => "nan",
        f64::INFINITY => "inf",
        f64::NEG_INFINITY => "-inf",
        0.0 => "0",
        _ => "finite",
    }
}

//! Programs as StableHLO. Each `.txt` file in this folder has a program of the surface language, a line `----`, and the
//! texts of its functions, followed by the gradients of those with a scalar result. `MIND_BLESS=1` rewrites them.
//! Symbols are replaced by 2, 3 and so on. `tests/engines/run` tests that XLA reads the texts, and its results.

mod errors;

use mind_core::{
    build::Builder,
    canon::{Canonical, canonicalise},
    dim::Symbol,
    grad::{Cotangent, GradientOptions, Wrt, differentiate},
    ir::{Module, Op, ValueId},
    map::Map,
    ops::Profile,
    plan::Update,
    stablehlo::{Compute, Mesh, Options, Precision, described, print},
    surface::{lex, lower, lower::Function, parse},
    testing::random_module,
    ty::{DType, Shape, Type},
    verify::verify,
};

use crate::recorded;

#[test]
fn programs_become_what_is_recorded() {
    recorded::check("stablehlo", 6, texts);
}

/// Their texts, of thousands of lines, are not recorded.
#[test]
fn draws_until_one_is_accepted_are_lowered() {
    let program = "fn total(key: i64, a: f32[2]) -> f32 { sum(random::beta(key, a, a, [3, 2])) }
        fn counts(key: i64, rate: f64) -> i32[2] { random::poisson(key, rate, [2]) }";
    let texts = texts(program);
    // Two loops for the gamma numbers; in the gradient two more, along nodes; two for Poisson numbers.
    assert_eq!(texts.matches("stablehlo.while").count(), 8, "{texts}");
}

/// XLA expands the calls. A loop of rotations ends after 40 rounds, and 3 columns have 3 pairs in a round.
#[test]
fn decompositions_are_calls_that_xla_expands_and_bounded_loops() {
    let texts = texts(
        "fn orthogonal(a: f64[2, 4, 3]) -> f64[2, 4, 3] { let (q, _) = linalg::qr(a); q }
        fn symmetric(a: f32[3, 3]) -> f32[3] { linalg::eigvalsh(a) }
        fn singular(a: f64[2, 3, 5]) -> f64[2, 3] { linalg::svdvals(a) }",
    );
    let count = |part: &str| texts.matches(part).count();
    assert_eq!(count("@Qr("), 2, "{texts}");
    assert_eq!(count("@ProductOfElementaryHouseholderReflectors("), 2, "{texts}");
    assert_eq!(count("stablehlo.while"), 2, "{texts}");
    assert_eq!(count("dense<120> : tensor<i64>"), 2, "{texts}");
}

#[test]
fn what_a_text_takes_and_gives_is_told_beside_it() {
    let functions = functions(
        "fn step<N>(x: f32[N, 2], w: &mut f32[2], k: i64) -> f32[N] { w = w + 1.0; x @ w * f32(k) }",
    );
    let module = canonical(functions[0].program.as_ref().expect("it is right").module.clone());
    let axes = vec![("d".into(), 2)];
    let shards = [("x".into(), vec![Some("d".into()), None])].into();
    let options = Options {
        extents: [("N".into(), 4)].into(),
        updates: vec![Update { output: 1, input: 1 }],
        mesh: Some(Mesh { axes: axes.clone(), shards }),
        ..Options::default()
    };
    let described = described(&module, &options).expect("it is lowered");
    assert_eq!(described.text, print(&module, &options).expect("it is lowered"));
    assert_eq!(described.axes, axes);
    let arguments = described.arguments.iter();
    let arguments: Vec<_> = arguments
        .map(|argument| (&*argument.name, argument.updated, argument.placed.dtype, &*argument.placed.extents))
        .collect();
    let expected: [(&str, Option<usize>, DType, &[i64]); 3] =
        [("x", None, DType::F32, &[4, 2]), ("w", Some(1), DType::F32, &[2]), ("k", None, DType::I64, &[])];
    assert_eq!(arguments, expected);
    assert_eq!(described.arguments[0].placed.split, [Some("d".into()), None]);
    // The product is split by rows and then combined. Its layout is fixed and not chosen by the engine.
    assert_eq!((&*described.results[0].extents, &*described.results[0].split), (&[4][..], &[None][..]));
    let whole = "#sdy.sharding<@mesh, [{}]>";
    let results =
        format!("-> (tensor<4xf32> {{sdy.sharding = {whole}}}, tensor<2xf32> {{sdy.sharding = {whole}}}) {{");
    assert!(described.text.contains(&results), "{}", described.text);
}

/// Products in loops and in gradients have the precision too.
#[test]
fn products_and_convolutions_of_f32_have_the_precision_of_the_options() {
    let module =
        |program| canonical(functions(program)[0].program.as_ref().expect("it is right").module.clone());
    let product = module(
        "fn f(x: f32[2, 3, 4], y: f32[2, 4, 5], z: f64[3, 3]) -> (f32[2, 3, 5], f64[3, 3]) { (x @ y, z @ z) }",
    );
    let inside =
        module("fn f(x: f32[4, 4], s: f32[4], t: f32[9]) -> f32[4] { fold s = s for u in t { x @ s * u } }");
    let convolutions = module(
        "fn conv(x: f32[1, 8, 8, 3], w: f32[3, 3, 3, 4]) -> f32 { sum(conv2d(x, w)) }
        fn f(x: f32[1, 8, 8, 3], w: f32[3, 3, 3, 4]) -> (f32[1, 8, 8, 3], f32[3, 3, 3, 4]) { grad(conv, wrt = (x, w))(x, w) }",
    );
    for (precision, name, algorithms) in
        [(Precision::Highest, "HIGHEST", 0), (Precision::Tf32, "HIGH", 0), (Precision::Bf16, "DEFAULT", 1)]
    {
        let text =
            |module| print(module, &Options { precision, ..Options::default() }).expect("it is lowered");
        let products = format!("precision = [{name}, {name}]");
        for module in [&product, &inside] {
            let text = text(module);
            let lines: Vec<_> = text.lines().filter(|line| line.contains("dot_general")).collect();
            let of_f32 = |line: &&&str| !line.contains("f64");
            assert!(lines.iter().filter(of_f32).all(|line| line.contains(&products)), "{text}");
            assert_eq!(lines.iter().filter(of_f32).count(), 1, "{text}");
            assert!(
                lines.iter().filter(|line| !of_f32(line)).all(|line| line.contains("[HIGHEST, HIGHEST] :"))
            );
            assert_eq!(
                text.matches("algorithm = <lhs_precision_type = bf16, ").count(),
                algorithms,
                "{text}"
            );
        }
        let text = text(&convolutions);
        let attribute =
            format!("precision_config = [#stablehlo<precision {name}>, #stablehlo<precision {name}>]");
        assert_eq!(
            text.matches(&attribute).count(),
            text.matches("stablehlo.convolution(").count(),
            "{text}"
        );
        assert!(text.contains(&attribute) && !text.contains("algorithm"), "{text}");
    }
}

#[test]
fn operands_of_products_and_convolutions_are_rounded_to_the_type_of_the_options() {
    let text = |program| {
        let module = canonical(functions(program)[0].program.as_ref().expect("it is right").module.clone());
        print(&module, &Options { compute: Compute::Bf16, ..Options::default() }).expect("it is lowered")
    };
    let found = text(
        "fn f(x: f32[2, 3, 4], y: f32[4, 5], z: f64[3, 3], w: f32[1, 8, 8, 3], k: f32[3, 3, 3, 4])
            -> (f32[2, 3, 5], f64[3, 3], f32[1, 6, 6, 4], f32) { (x @ y, z @ z, conv2d(w, k), sum(x)) }",
    );
    let lines =
        |name: &str| found.lines().filter(|line| line.contains(name)).map(str::trim).collect::<Vec<_>>();
    assert_eq!(lines("stablehlo.convert").len(), 4, "{found}");
    assert!(
        lines("stablehlo.convert")[0]
            .ends_with(" = stablehlo.convert %arg0 : (tensor<2x3x4xf32>) -> tensor<2x3x4xbf16>")
    );
    let products = lines("dot_general");
    let types = [
        "(tensor<2x3x4xbf16>, tensor<4x5xbf16>) -> tensor<2x3x5xf32>",
        "(tensor<3x3xf64>, tensor<3x3xf64>) -> tensor<3x3xf64>",
    ];
    assert!(products.iter().zip(types).all(|(line, types)| line.ends_with(types)), "{found}");
    let types = "(tensor<1x8x8x3xbf16>, tensor<3x3x3x4xbf16>) -> tensor<1x6x6x4xf32>";
    assert!(lines("stablehlo.convolution")[0].ends_with(types), "{found}");
    // Only operands are rounded.
    let rounded = found.lines().filter(|line| line.contains("bf16"));
    assert_eq!(rounded.count(), 6, "{found}");
    let gradient = text(
        "fn conv(x: f32[1, 8, 8, 3], w: f32[3, 3, 3, 4]) -> f32 { sum(conv2d(x, w)) }
        fn f(x: f32[1, 8, 8, 3], w: f32[3, 3, 3, 4]) -> (f32[1, 8, 8, 3], f32[3, 3, 3, 4]) { grad(conv, wrt = (x, w))(x, w) }",
    );
    let convolutions = gradient.lines().filter(|line| line.contains("stablehlo.convolution"));
    assert!(
        convolutions.clone().count() > 0
            && convolutions.clone().all(|line| line.matches("bf16").count() == 2)
    );
}

fn texts(program: &str) -> String {
    functions(program).iter().map(text).collect()
}

pub(crate) fn functions(program: &str) -> Vec<Function> {
    let (tokens, mut diags) = lex(program);
    let (parsed, more) = parse(tokens);
    diags.extend(more);
    let (lowered, more) = lower(&parsed);
    diags.extend(more);
    assert!(diags.is_empty(), "{diags:?}");
    lowered.functions
}

/// The text of a function, and of its gradient by all floats if it has a single float result.
fn text(function: &Function) -> String {
    let source = function.program.as_ref().expect("it is right");
    let module = canonical(source.module.clone());
    let results = module.outputs().len() - function.updates.len();
    let updates = function.updates.iter().enumerate();
    let updates = updates.map(|(at, input)| Update { output: results + at, input: *input }).collect();
    let options = Options { updates, ..some_extents(&module) };
    let mut text = format!("// {}\n{}", function.name, print(&module, &options).expect("it is lowered"));
    if let [output] = module.outputs()
        && module.ty(*output).rank() == 0
        && module.ty(*output).dtype.is_float()
    {
        let gradient = differentiate(&module, &by_all_floats(&module)).expect("it has a gradient").module;
        let gradient = print(&gradient, &some_extents(&gradient)).expect("it is lowered");
        text += &format!("// gradient of {}\n{gradient}", function.name);
    }
    text
}

pub(crate) fn canonical(module: Module) -> Canonical {
    canonicalise(verify(module, Profile::Extended).expect("it is valid"))
}

fn by_all_floats(module: &Module) -> GradientOptions {
    let floats = module.inputs().enumerate().filter(|(_, (_, ty))| ty.dtype.is_float());
    let wrt = floats.map(|(input, _)| Wrt { input: ValueId::new(input), zero_ok: true }).collect();
    GradientOptions { wrt, cotangent: Cotangent::One, profile: Profile::Extended }
}

/// Extents for the symbols: 2 for the first one, 3 for the next.
fn some_extents(module: &Module) -> Options {
    let mut symbols: Vec<Symbol> = Vec::new();
    for dim in module.inputs().flat_map(|(_, ty)| ty.shape.iter()) {
        dim.for_each_symbol(&mut |symbol| {
            if !symbols.contains(symbol) {
                symbols.push(symbol.clone());
            }
        });
    }
    Options { extents: symbols.into_iter().zip(2..).collect(), ..Options::default() }
}

#[test]
fn every_elementwise_function_is_lowered_at_every_type_that_it_takes() {
    for map in Map::ALL {
        let row = map.row();
        for dtype in DType::ALL.into_iter().filter(|dtype| row.takes(*dtype)) {
            let mut b = Builder::new();
            let operands: Vec<_> = (0..row.arity())
                .map(|position| {
                    let ty = Type::new(row.operand(position, dtype), Shape::literal(&[3]));
                    b.input(row.formals[position], ty).expect("names and types are fit for inputs")
                })
                .collect();
            let result = b.push(Op::Map(*map), &operands).expect("it takes them");
            let module = canonical(b.finish([result]));
            let text = print(&module, &Options::default()).expect("it is lowered");
            assert!(text.contains("\n    return %"), "{}: {text}", row.name);
        }
    }
}

#[test]
fn a_module_has_one_text() {
    for seed in 0..100 {
        let module = canonical(random_module(seed, 30));
        // A module that these extents forbid must fail in the same way each time.
        let texts = [0, 1].map(|_| print(&module, &some_extents(&module)).map_err(|error| error.to_string()));
        assert_eq!(texts[0], texts[1], "{seed}");
    }
}

#[test]
fn a_text_is_as_long_as_the_module() {
    let of = |additions: usize| {
        let mut b = Builder::new();
        let x = b.input("x", Type::new(DType::F32, Shape::literal(&[2, 3]))).expect("it is an input");
        let mut sum = x;
        for _ in 0..additions {
            sum = b.push(Op::Map(Map::Hypot), &[sum, x]).expect("they have one type");
        }
        let module = canonical(b.finish([sum]));
        let mut text = String::new();
        let asked = allocation_counter::measure(|| {
            text = print(&module, &Options::default()).expect("it is lowered");
        });
        (text.len(), asked.count_total as usize)
    };
    let ((short, few), (long, many)) = (of(200), of(1600));
    // Each name is one or two digits longer.
    assert!(long <= 8 * short + 8 * short / 10, "{short} bytes for 200, {long} for 1600");
    assert!(many <= 8 * few + 100, "{few} times for 200, {many} for 1600");
}

#[test]
fn names_of_inputs_are_locations_whatever_they_hold() {
    let mut b = Builder::new();
    let x = b.input("a \"b\\\n→", Type::scalar(DType::F32)).expect("it is an input");
    let text = print(&canonical(b.finish([x])), &Options::default()).expect("it is lowered");
    assert!(text.contains(r#"loc("a \22b\5C\0A\E2\86\92")"#), "{text}");
}

//! Dimensions that would exceed any memory are refused, in all forms.

use mind_core::{
    build::Builder,
    dim::{Bindings, Dim},
    interp::check_requirements,
    ir::Module,
    ops::Profile,
    pipeline,
    surface::{lower::lower, parse::parse},
    text::{Limits, core_ir, json, mic},
    ty::{DType, Shape, Type},
    verify::{requirements, verify},
};

/// `(A0+1)*(A1+1)*…`: each factor doubles the number of terms of the expanded product.
fn product(factors: usize) -> String {
    (0..factors).map(|i| format!("(A{i}+1)")).collect::<Vec<_>>().join("*")
}

/// The sum `A0+A1+…`.
fn sum(symbols: usize) -> String {
    (0..symbols).map(|i| format!("A{i}")).collect::<Vec<_>>().join("+")
}

/// A function over this number of symbols, each the extent of a parameter, with additional parameters and a body.
fn function(name: &str, symbols: usize, parameters: &str, body: &str) -> String {
    let names = (0..symbols).map(|i| format!("A{i}, ")).collect::<String>();
    let each = (0..symbols).map(|i| format!("a{i}: f32[A{i}], ")).collect::<String>();
    format!("fn {name}<{names}>({each}{parameters}) -> {body}\n")
}

/// The messages for a program; empty if it compiles to a plan.
fn mistakes(program: &str) -> String {
    let (program, wrong) = parse(program.parse().unwrap());
    let (lowered, diags) = lower(&program);
    for function in &lowered.functions {
        pipeline::compile(function).map(Result::unwrap);
    }
    wrong.into_iter().chain(diags).map(|diag| format!("{diag}\n")).collect()
}

/// A module with the extent `N`, to be replaced in its text.
fn module() -> Module {
    let mut builder = Builder::new();
    let x = builder.input("x", Type::new(DType::F32, Shape::new(["N".into()]))).unwrap();
    builder.finish(vec![x])
}

#[track_caller]
fn refused(found: &str, message: &str) {
    assert!(found.contains("[E1008]") && found.contains(message), "{found}");
}

#[test]
fn a_product_of_many_sums_is_refused_in_every_form() {
    // A product of sums is refused as soon as a part of it is too large.
    let terms = "a dimension of 32768 terms, multiplied out, exceeds the limit of 16384";
    let wide = product(64);
    refused(&mistakes(&function("f", 64, &format!("x: f32[{wide}]"), "f32 { sum(x) }")), terms);
    refused(&mistakes(&function("f", 64, "x: f32", &format!("f32[{wide}] {{ zeros([{wide}]) }}"))), terms);
    refused(&mistakes(&function("f", 64, "x: f32", &format!("f32 {{ a0[{wide}] }}"))), terms);
    let one = "const D: dim = 1;\n".to_owned();
    let sums = wide.replace("+1", "+D");
    refused(&mistakes(&(one + &function("f", 64, &format!("x: f32[{sums}]"), "f32 { sum(x) }"))), terms);
    let fields = format!("struct S<{}> {{ w: f32[{wide}] }}", sum(64).replace('+', ", "));
    refused(&mistakes(&fields), terms);

    let texts = [
        core_ir::parse(&core_ir::print(&module()).replace("[N]", &format!("[{wide}]")), &Limits::default()),
        mic::parse(&mic::print(&module()).replace(";N]", &format!(";{wide}]")), &Limits::default()),
        json::parse(&json::print(&module()).replace("[N]", &format!("[{wide}]")), &Limits::default()),
    ];
    for found in texts {
        let diags = found.expect_err("the text has a dimension without bound");
        refused(&diags.into_iter().map(|diag| diag.to_string()).collect::<String>(), terms);
    }
}

#[test]
fn a_shape_that_multiplies_to_too_many_terms_is_refused_in_every_form() {
    // Each extent is well within the limits, but the number of elements is not.
    let extents = |join: &str| {
        (0..8)
            .map(|i| (0..200).map(|j| format!("A{}", 8 * j + i)).collect::<Vec<_>>().join("+"))
            .collect::<Vec<_>>()
            .join(join)
    };
    let terms = "a dimension of 2560000000000000000 terms, multiplied out, exceeds the limit of 4096";
    let written = extents(", ");
    refused(&mistakes(&function("f", 1600, &format!("x: f32[{written}]"), "f32 { sum(x) }")), terms);
    let texts = [
        core_ir::parse(
            &core_ir::print(&module()).replace("[N]", &format!("[{written}]")),
            &Limits::default(),
        ),
        mic::parse(&mic::print(&module()).replace(";N]", &format!(";{}]", extents(","))), &Limits::default()),
        json::parse(&json::print(&module()).replace("[N]", &format!("[{written}]")), &Limits::default()),
    ];
    for found in texts {
        let message = match found {
            Err(diags) => diags.into_iter().map(|diag| diag.to_string()).collect::<String>(),
            Ok(module) => {
                let errors = verify(module, Profile::Extended).expect_err("no value may have the type");
                errors.iter().map(ToString::to_string).collect()
            }
        };
        refused(&message, terms);
    }
    let dims: Vec<Dim> = (0..8)
        .map(|i| {
            (0..200).fold(Dim::ZERO, |sum, j| sum.add(&format!("A{}", 8 * j + i).as_str().into()).unwrap())
        })
        .collect();
    let error = Builder::new().input("x", Type::new(DType::F32, Shape::new(dims))).unwrap_err();
    assert_eq!((error.code.to_string().as_str(), error.problem.as_str()), ("E1008", terms));
}

#[test]
fn calls_that_square_extents_are_refused() {
    let square = "fn g<N>(x: f32[N]) -> f32[N * N] { reshape(expand_dims(x, [1]) * x, [N * N]) }
         fn f<N>(x: f32[N]) -> f32 { sum(CALLS) }";
    let calls =
        |callee: &str, count: usize| format!("{}x{}", format!("{callee}(").repeat(count), ")".repeat(count));
    let factors = "a dimension of 512 factors in a term exceeds the limit of 256";
    assert_eq!(mistakes(&square.replace("CALLS", &calls("g", 8))), "");
    refused(&mistakes(&square.replace("CALLS", &calls("g", 64))), factors);

    let deep = "fn s<N>(x: f32[N]) -> f32 { sum(reshape(expand_dims(x, [1]) * x, [N * N])) }
         fn g<N>(x: f32[N]) -> f32[N * N] { reshape(expand_dims(grad(s, wrt = x)(x), [1]) * x, [N * N]) }
         fn f<N>(x: f32[N]) -> f32 { sum(CALLS) }";
    refused(&mistakes(&deep.replace("CALLS", &calls("g", 64))), factors);

    let shifted = "fn g<N>(x: f32[N]) -> f32[(N * N + N) / 3] {
             reshape(expand_dims(x, [1]) * x, [-1])[0..(N * N + N) / 3]
         }
         fn f<N>(x: f32[N]) -> f32 { sum(CALLS) }";
    let size = "symbols and integers, multiplied out, exceeds the limit of 32768";
    refused(&mistakes(&shifted.replace("CALLS", &calls("g", 64))), size);

    let halved = "fn g<N>(x: f32[N]) -> f32[N / 2 + 1] { x[0..N / 2 + 1] }
         fn f<N>(x: f32[N]) -> f32 { sum(CALLS) }";
    let divisions = "a dimension of 65 divisions within each other exceeds the limit of 64";
    refused(&mistakes(&halved.replace("CALLS", &calls("g", 100))), divisions);
}

#[test]
fn many_symbols_are_fine() {
    let parameters = format!("x: f32[{}]", sum(1000));
    assert_eq!(mistakes(&function("f", 1000, &parameters, "f32 { sum(x) + sum(a999) }")), "");
    assert_eq!(mistakes(&function("f", 12, &format!("x: f32[{}]", product(12)), "f32 { sum(x) }")), "");

    // The printed text can be read back.
    let dims = [sum(1000), product(12)].map(|text| {
        let text = core_ir::print(&module()).replace("[N]", &format!("[{text}]"));
        core_ir::parse(&text, &Limits::default()).unwrap()
    });
    for module in dims {
        assert_eq!(core_ir::parse(&core_ir::print(&module), &Limits::default()).unwrap(), module);
        assert_eq!(mic::parse(&mic::print(&module), &Limits::default()).unwrap(), module);
        assert_eq!(json::parse(&json::print(&module), &Limits::default()).unwrap(), module);
    }
}

#[test]
fn one_extent_is_worked_out_of_many_terms() {
    let parameters = format!("n: f32[N], x: f32[{}, N]", sum(100));
    let body = format!("f32[{}, N] {{ reshape(reshape(x, [-1]), [-1, N]) }}", sum(100));
    assert_eq!(mistakes(&function("f", 100, &parameters, &body).replace("fn f<", "fn f<N, ")), "");
}

#[test]
fn places_that_no_integer_holds_are_refused() {
    let huge = 1i64 << 62;
    let program = format!(
        "fn f<A, B, C>(a: f32[A], b: f32[B], c: f32[C], x: f32[A * 4, C * 4]) -> f32[C * 4] {{
             x[{huge} * A - {huge} * B, ..]
         }}"
    );
    refused(&mistakes(&program), "a dimension exceeds the range of 64-bit integers");
    // A step along an axis with a single element has no effect.
    assert_eq!(mistakes(&format!("fn f(x: f32[4, 4]) -> f32[1, 4] {{ x[0..1; {huge}, ..] }}")), "");
}

#[test]
fn replaced_symbols_that_multiply_out_are_refused() {
    let bindings: Bindings = (0..12)
        .map(|i| {
            (format!("A{i}").as_str().into(), Dim::symbol("B").add(&format!("C{i}").as_str().into()).unwrap())
        })
        .collect();
    let text = core_ir::print(&module()).replace("[N]", &format!("[{}]", product(12)));
    let module = core_ir::parse(&text, &Limits::default()).unwrap();
    let ty = &module.insts()[0].ty;
    let found = ty.substitute(&bindings).unwrap_err().to_string();
    assert!(found.contains("products of terms, multiplied out, exceeds the limit of 65536"), "{found}");
}

/// An `i32` count of elements never differs from the actual number.
#[test]
fn elements_that_an_i32_cannot_count_are_refused_before_anything_runs() {
    let text = |dtype: &str| {
        format!(
            "%0 = Input () {{name=\"x\"}} : bool[N, M]\n%1 = Count () {{shape=[N, M], dtype={dtype}}} : {dtype}\noutputs: %1"
        )
    };
    let checked = |dtype: &str, extents: [i64; 2]| {
        let module = core_ir::parse(&text(dtype), &Limits::default()).unwrap();
        let needed = requirements(&verify(module, Profile::Extended).unwrap());
        let bindings =
            [("N", extents[0]), ("M", extents[1])].map(|(name, of)| (name.into(), Dim::literal(of)));
        check_requirements(&needed, &bindings.into()).map_err(|error| error.to_string())
    };
    assert_eq!(checked("i32", [65_536, 32_767]), Ok(()));
    let error = checked("i32", [65_536, 32_768]).unwrap_err();
    assert!(error.ends_with("M * N = 2147483648 exceeds 2147483647"), "{error}");
    assert_eq!(checked("i64", [65_536, 32_768]), Ok(()));
}

//! Compares every derivative with central differences, and different derivatives with each other.

use std::{collections::BTreeSet, fs, path::Path};

use mind_core::random::Random as Changes;
use mind_knossos::{
    FunctionId, Program, check, function_names,
    interp::{Options, Value, run},
    ir::{Definition, Derivative, Function},
    prelude_overloads, print,
    testing::{Checked, check_derivatives, check_second_derivatives},
    types::{Type, TypeId, Types},
    verify,
};

/// A function for every primitive and construct with a derivative. Each `def` is differentiated.
const FUNCTIONS: &str = include_str!("derivatives.ks");

/// Numbers from 0.3 to 1.3, or from -0.5 to 0.5.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A random value of a type. Tensors have extents of 3, integers are 2.
    fn value(&mut self, types: &Types, ty: TypeId) -> Value {
        match types.get(ty) {
            Type::Integer => Value::Integer(2),
            Type::Float => Value::Float(0.3 + self.next()),
            Type::Bool => Value::Bool(true),
            Type::Tuple(members) => {
                Value::tuple(members.iter().map(|ty| self.value(types, *ty)).collect::<Vec<_>>())
            }
            Type::Tensor(rank, element) => {
                let size = vec![3; *rank as usize];
                let count = size.iter().product();
                Value::tensor(size, (0..count).map(|_| self.value(types, *element)).collect())
            }
            other => panic!("no value of {other:?}"),
        }
    }

    fn tangent(&mut self, of: &Value) -> Value {
        of.tangent(&mut |_| self.next() - 0.5)
    }
}

fn has_sample(types: &Types, ty: TypeId) -> bool {
    match types.get(ty) {
        Type::Integer | Type::Float | Type::Bool => true,
        Type::Tuple(members) => members.iter().all(|ty| has_sample(types, *ty)),
        Type::Tensor(_, element) => has_sample(types, *element),
        _ => false,
    }
}

fn call(program: &Program, id: FunctionId, arguments: &[Value]) -> Result<Value, String> {
    run(program, id, arguments, &Options::default())
        .map(|outcome| outcome.value)
        .map_err(|failure| format!("{}: {failure} at {:?}", failure.function, failure.place))
}

fn argument(arguments: &[Value]) -> Value {
    match arguments {
        [one] => one.clone(),
        several => Value::tuple(several),
    }
}

/// `x + h dx` in all floats.
fn moved(x: &Value, dx: &Value, h: f64) -> Value {
    let mut changes = dx.floats().into_iter();
    x.map_floats(&mut |value| value + h * changes.next().expect("a tangent has the floats of its value"))
}

fn dot(x: &Value, y: &Value) -> f64 {
    x.floats().iter().zip(y.floats()).map(|(x, y)| x * y).sum()
}

fn assert_close(found: f64, expected: f64, tolerance: f64, what: &str) {
    let scale = expected.abs().max(found.abs()).max(1.0);
    assert!((found - expected).abs() <= tolerance * scale, "{what}: {found} is not {expected}");
}

/// A random point in a function's domain.
fn sample(program: &Program, id: FunctionId, random: &mut Random) -> Vec<Value> {
    program.function(id).parameters.iter().map(|ty| random.value(&program.types, *ty)).collect()
}

/// Checks the derivatives of a function at a random point. Returns whether the function is defined there.
fn check_function(program: &mut Program, id: FunctionId, seed: u64) -> bool {
    let mut random = Random(seed);
    let x = sample(program, id, &mut random);
    check_at(program, id, &x, &mut random)
}

fn check_at(program: &mut Program, id: FunctionId, x: &[Value], random: &mut Random) -> bool {
    let name = program.function(id).name.to_string();
    let Ok(y) = call(program, id, x) else { return false };
    let dx: Vec<_> = x.iter().map(|x| random.tangent(x)).collect();
    let dy = random.tangent(&y);
    let [fwd, rev, first, second, shape] =
        [Derivative::Fwd, Derivative::Rev, Derivative::SufFwdPass, Derivative::SufRevPass, Derivative::Shape]
            .map(|derivative| program.derivative(derivative, id));
    program.complete().unwrap_or_else(|diags| panic!("{name}: {:?}", diags.as_slice()));
    assert_eq!(verify(program), Ok(()), "{name}");
    for made in [fwd, rev, first, second, shape] {
        assert!(matches!(program.function(made).definition, Definition::Defined(_)), "{name}");
    }

    let forward = call(program, fwd, &[argument(x), argument(&dx)])
        .expect("a derivative is defined where its function is");
    assert!(forward.is_of(&program.types, program.function(fwd).result), "{name}: {forward}");
    let h = 1e-6;
    let at = |h: f64| {
        let x: Vec<_> = x.iter().zip(&dx).map(|(x, dx)| moved(x, dx, h)).collect();
        call(program, id, &x).expect("a derivative is defined where its function is")
    };
    let (ahead, behind) = (at(h).floats(), at(-h).floats());
    for ((ahead, behind), forward) in ahead.iter().zip(behind).zip(forward.floats()) {
        assert_close(forward, (ahead - behind) / (2.0 * h), 1e-6, &format!("[fwd {name}]"));
    }

    let reverse = call(program, rev, &[argument(x), dy.clone()])
        .expect("a derivative is defined where its function is");
    assert!(reverse.is_of(&program.types, program.function(rev).result), "{name}: {reverse}");
    assert_eq!(reverse.floats().len(), argument(&dx).floats().len(), "{name}: {reverse}");
    assert_close(dot(&reverse, &argument(&dx)), dot(&forward, &dy), 1e-10, &format!("[rev {name}]"));
    assert!(
        call(program, shape, x).expect("a derivative is defined where its function is").floats().is_empty()
    );
    true
}

/// The functions of a program whose arguments can be sampled and whose result has a tangent.
fn functions(program: &Program) -> Vec<FunctionId> {
    let ids = (0..program.functions.len()).map(FunctionId::new);
    ids.filter(|id| {
        let function = program.function(*id);
        let of_program =
            matches!(function.definition, Definition::Defined(_)) && !function.name.starts_with('[');
        let sampled = has_sample(&program.types, function.argument);
        of_program
            && sampled
            && program.types.active(function.argument)
            && program.types.active(function.result)
    })
    .collect()
}

fn checked(text: &str) -> Program {
    check(text).unwrap_or_else(|diags| panic!("{:?}", diags.as_slice()))
}

#[test]
fn derivatives_of_every_primitive_and_construct_are_right() {
    let mut program = checked(FUNCTIONS);
    for id in crate::sample::some("functions", functions(&program)) {
        for seed in 1..4 {
            let name = program.function(id).name.clone();
            assert!(check_function(&mut program, id, seed), "{name} is not defined at its sample");
        }
    }
}

/// A primitive without a function above would not be tested.
#[test]
fn every_primitive_has_a_derivative_to_test() {
    let words: BTreeSet<_> =
        FUNCTIONS.split(|character: char| character.is_whitespace() || "()[]".contains(character)).collect();
    let missing: Vec<_> = function_names().filter(|name| !words.contains(name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// Tests each overload of the table alone, and with it the functions of its derivatives, such as digammas of higher
/// orders.
#[test]
fn derivatives_of_every_overload_of_the_prelude_are_right() {
    let types = Types::default();
    for (position, (name, parameters, result)) in
        crate::sample::some("overloads", prelude_overloads().enumerate())
    {
        let names = ["a", "b"];
        let typed = parameters.iter().zip(names).map(|(ty, name)| format!("({name} : {})", types.show(*ty)));
        let (typed, given) = (typed.collect::<String>(), names[..parameters.len()].join(" "));
        let text = format!("(def overload {} ({typed}) ({name} {given}))", types.show(result));
        let mut program = checked(&text);
        let id = program.overloads("overload")[0];
        for seed in 0..3 {
            let mut random = Random(100 * position as u64 + seed);
            let at = sample(&program, id, &mut random);
            let mut changes = Changes::new(seed);
            for check in [check_derivatives, check_second_derivatives] {
                let found = check(&mut program, id, &at, &mut changes);
                assert_eq!(found, Ok(Checked::Right), "{text}");
            }
            if program.types.active(result) {
                let rev = program.derivative(Derivative::Rev, id);
                let at = [argument(&at), random.tangent(&call(&program, id, &at).unwrap())];
                assert_eq!(
                    check_second_derivatives(&mut program, rev, &at, &mut changes),
                    Ok(Checked::Right),
                    "{text}"
                );
            }
        }
    }
}

#[test]
fn derivatives_of_the_corpus_are_right() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/ks");
    let mut count = 0;
    for path in super::corpus::files(&root) {
        // The program's derivatives differ from those of its functions.
        if ["derivative_written.ks", "own_dot.ks", "own_of_prelude.ks"]
            .iter()
            .any(|name| path.ends_with(name))
        {
            continue;
        }
        let text = fs::read_to_string(&path).expect("the corpus can be read");
        let mut program = checked(&text);
        for id in functions(&program) {
            count += usize::from(check_function(&mut program, id, 7));
        }
    }
    assert!(count >= 20, "{count}");
}

/// Reverse of reverse, forward of reverse and reverse of forward, for every function above.
#[test]
fn derivatives_of_derivatives_are_right() {
    let mut program = checked(FUNCTIONS);
    for id in crate::sample::sample("functions", functions(&program)) {
        let rev = program.derivative(Derivative::Rev, id);
        let fwd = program.derivative(Derivative::Fwd, id);
        program.complete().unwrap();
        let mut random = Random(11);
        let x = sample(&program, id, &mut random);
        let y = call(&program, id, &x).unwrap();
        let (dx, dy) = (x.iter().map(|x| random.tangent(x)).collect::<Vec<_>>(), random.tangent(&y));
        for (derived, change) in [(rev, dy), (fwd, argument(&dx))] {
            let at = [argument(&x), change];
            let name = program.function(derived).name.clone();
            assert!(check_at(&mut program, derived, &at, &mut random), "{name} is not defined at its sample");
        }
    }
}

/// The two halves of a reverse derivative, joined by a tape, compute the same as the whole one. So does `sufrev`. Without
/// a tape, contributions may be added in another order.
#[test]
fn halves_make_the_whole() {
    let program = checked(FUNCTIONS);
    let ids = functions(&program);
    assert!(ids.len() > 100, "{}", ids.len());
    let types = &program.types;
    let mut text = FUNCTIONS.to_owned();
    for (position, id) in ids.iter().enumerate() {
        let Function { name, argument, result, .. } = program.function(*id);
        let [s, ds] = [*argument, types.tangent(*argument)].map(|ty| types.show(ty));
        let (name, dt) = (format!("[{name} {s}]"), types.show(types.tangent(*result)));
        let parameters = format!("((s : {s}) (dt : {dt}))");
        text += &format!(
            "(def whole{position} (Tuple {ds} {ds}) {parameters} (tuple ([rev {name}] s dt) ([sufrev {name}] s dt)))
            (def halves{position} {ds} {parameters}
              (let ((t tape) ([suffwdpass {name}] s)) ([sufrevpass {name}] dt tape)))\n"
        );
    }
    let program = checked(&text);
    for (position, id) in ids.into_iter().enumerate() {
        let mut random = Random(5);
        let at = sample(&program, id, &mut random);
        let value = call(&program, id, &at).expect("functions are defined at their samples");
        let given = [argument(&at), random.tangent(&value)];
        let [whole, halves] = ["whole", "halves"]
            .map(|what| call(&program, program.overloads(&format!("{what}{position}"))[0], &given));
        let halves = halves.expect("a derivative is defined where its function is");
        let (whole, halves) = (whole.expect("as the halves"), Value::tuple([halves.clone(), halves]));
        let name = &program.function(id).name;
        let (whole, halves) = (whole.floats(), halves.floats());
        assert_eq!(whole.len(), halves.len(), "{name}");
        whole.iter().zip(halves).for_each(|(whole, halves)| assert_close(*whole, halves, 1e-14, name));
    }
}

/// A function that is linear in its calls has a reverse derivative without tapes.
#[test]
fn linear_calls_need_no_tape() {
    let mut program = checked(FUNCTIONS);
    let linear = ["", "_built", "_in_loop", "_even", "_odd", "_same", "_captured"];
    let linear = linear.map(|end| format!("d_direct{end}"));
    let linear: Vec<_> = linear.iter().map(String::as_str).chain(["d_tree"]).collect();
    let others = ["d_product", "d_twice", "d_squares", "d_in_fold", "d_even"];
    for name in linear.iter().copied().chain(others) {
        let id = program.overloads(name)[0];
        program.derivative(Derivative::Rev, id);
        program.complete().unwrap_or_else(|diags| panic!("{name}: {:?}", diags.as_slice()));
    }
    let text = print(&program);
    for name in linear {
        assert!(text.contains(&format!("\n[direct {name}] :")), "{name}");
        assert!(!text.contains(&format!("\n[taped {name}] :")), "{name}");
    }
    for name in others {
        assert!(text.contains(&format!("\n[taped {name}] :")), "{name}");
        assert!(!text.contains(&format!("\n[direct {name}] :")), "{name}");
    }
}

#[test]
fn a_derivative_that_is_written_wins() {
    let text = "
        (def f Float ((x : Float) (n : Integer)) (mul x n))
        (def [rev f] (Tuple Float (Tuple)) ((s : Tuple Float Integer) (dr : Float)) (tuple 42.0 (tuple)))
        (def [fwd f] Float ((s : Tuple Float Integer) (ds : Tuple Float (Tuple))) 43.0)
        (def g Float (x : Float) (add (f x 3) x))
        (def main (Tuple Float Float) () (tuple ([rev g] 1.0 1.0) ([fwd g] 1.0 1.0)))";
    let program = checked(text);
    let value = call(&program, program.overloads("main")[0], &[]).unwrap();
    assert_eq!(value.to_string(), "(tuple 43.0 44.0)");
}

#[test]
fn halves_that_are_written_pass_on_what_they_like() {
    let text = "
        (def f Float (x : Float) (mul x x))
        (def [suffwdpass f] (Tuple Float (Tuple Integer Float)) (x : Float) (tuple (mul x x) (tuple 7 x)))
        (def [sufrevpass [f Float]] Float ((dr : Float) (kept : (Tuple Integer Float)))
          (mul dr (add (get$2$2 kept) (to_float (get$1$2 kept)))))
        (def g Float (x : Float) (f (mul 2.0 x)))
        (def main Float () ([rev g] 1.0 1.0))";
    let program = checked(text);
    let value = call(&program, program.overloads("main")[0], &[]).unwrap();
    assert_eq!(value.to_string(), "18.0");
}

fn steps(program: &Program, name: &str, arguments: &[Value]) -> u64 {
    let id = program.overloads(name)[0];
    run(program, id, arguments, &Options::default()).expect("nothing fails").steps
}

/// The number of instructions of a gradient, relative to its function, does not grow with the size.
#[test]
fn a_gradient_costs_a_constant_times_its_function() {
    let text = "
        (def product (Vec Float) ((a : Vec (Vec Float)) (x : Vec Float))
          (build (size a) (lam (i : Integer)
            (sumbuild (size x) (lam (j : Integer) (mul (index j (index i a)) (index j x)))))))
        (def row Float ((a : Vec (Vec Float)) (i : Integer) (x : Vec Float))
          (sumbuild (size x) (lam (j : Integer) (mul (index j (index i a)) (index j x)))))
        (def rows (Vec Float) ((a : Vec (Vec Float)) (x : Vec Float))
          (build (size a) (lam (i : Integer) (row a i x))))
        (def recursive Float ((i : Integer) (x : Vec Float))
          (if (eq i (size x)) 1.0 (mul (index i x) (recursive (add i 1) x))))
        (def folded Float (x : Vec Float)
          (fold (lam (ax : (Tuple Float Float)) (sin (mul (get$1$2 ax) (get$2$2 ax)))) 1.0 x))
        (def matrix (Vec (Vec Float)) (n : Integer)
          (build n (lam (i : Integer) (build n (lam (j : Integer) (to_float (add i j)))))))
        (def ones (Vec Float) (n : Integer) (constVec n 1.0))
        (def product_value Float (n : Integer) (sum (product (matrix n) (ones n))))
        (def product_gradient Float (n : Integer)
          (sum (get$2$2 ([rev product] (tuple (matrix n) (ones n)) (ones n)))))
        (def rows_value Float (n : Integer) (sum (rows (matrix n) (ones n))))
        (def rows_gradient Float (n : Integer)
          (sum (get$2$2 ([rev rows] (tuple (matrix n) (ones n)) (ones n)))))
        (def recursive_value Float (n : Integer) (recursive 0 (ones n)))
        (def recursive_gradient Float (n : Integer)
          (sum (get$2$2 ([rev recursive] (tuple 0 (ones n)) 1.0))))
        (def folded_value Float (n : Integer) (folded (ones n)))
        (def folded_gradient Float (n : Integer) (sum ([rev folded] (ones n) 1.0)))";
    let program = checked(text);
    for name in ["product", "rows", "recursive", "folded"] {
        let ratio = |n: i64| {
            let cost = |what: &str| steps(&program, &format!("{name}_{what}"), &[Value::Integer(n)]) as f64;
            cost("gradient") / cost("value")
        };
        let (small, large) = (ratio(10), ratio(80));
        assert!(large < 8.0 && large < 1.3 * small, "{name}: {small} at 10, {large} at 80");
    }
}

#[test]
fn recursion_has_derivatives_as_deep_as_it_runs() {
    let text = "
        (def down Float ((n : Integer) (x : Float)) (if (eq n 0) x (mul 1.0001 (down (sub n 1) x))))
        (def main (Tuple (Tuple (Tuple) Float) Float) ()
          (tuple ([rev down] (tuple 9000 1.0) 1.0) ([fwd down] (tuple 9000 1.0) (tuple (tuple) 1.0))))";
    let program = checked(text);
    let value = call(&program, program.overloads("main")[0], &[]).unwrap();
    for found in value.floats() {
        assert_close(found, 1.0001_f64.powi(9000), 1e-9, "down");
    }
}

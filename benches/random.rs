//! Compares random numbers with generators of the crate rand.
//!
//! Run `cargo bench -p mind-benches --bench random`. Words after `--` select rows.
//!
//! Each row fills a vector on one thread. All rows are measured in turn, many times, and the shortest time of each is
//! kept. `SmallRng` is the fastest generator of rand, and `ChaCha8Rng` its fastest one that counts.

use std::env;
use std::hint::black_box;
use std::time::Duration;

use mind::{Tensor, Workspace, mind, set_threads};
use rand::rngs::{ChaCha8Rng, SmallRng};
use rand::{Rng, RngExt, SeedableRng};

#[path = "timing/rows.rs"]
mod rows;
mod timing;

use rows::{Row, measure};

/// Declares programs that add what they draw to an argument of the length of the result.
macro_rules! drawn {
    ($($label:literal $name:ident $into:ident $ty:ident $value:tt)+) => {
        mind! {
            $(fn $name<N>(key: i64, _x: $ty[N]) -> $ty[N] $value)+
        }

        fn ours<'a>(len: usize) -> Vec<Row<'a>> {
            vec![$({
                let (x, mut out) = (Tensor::from_fn_with((len,), |_| Default::default()), None);
                let (mut workspace, mut key) = (Workspace::new(), 0);
                Row::new($label, move || {
                    key += 1;
                    let out = out.get_or_insert_with(|| x.clone());
                    $into(black_box(key), &x, out, &mut workspace).expect("the shapes agree");
                })
            }),+]
        }
    };
}

drawn! {
    "bits i32" bits bits_into i32 { random::bits(key, [N]) }
    "uniform f32" uniform uniform_into f32 { random::uniform(key, [N]) }
    "uniform f64" uniform_wide uniform_wide_into f64 { random::uniform(key, [N], dtype = f64) }
    "normal f32" normal normal_into f32 { random::normal(key, [N]) }
    "normal f64" normal_wide normal_wide_into f64 { random::normal(key, [N], dtype = f64) }
    "exponential f32" exponential exponential_into f32 { random::exponential(key, [N]) }
    "gamma f32" gamma gamma_into f32 { random::gamma(key, 2.5, [N]) }
    "gamma f64" gamma_wide gamma_wide_into f64 { random::gamma(key, 2.5f64, [N]) }
    "poisson i32" poisson poisson_into i32 { random::poisson(key, 30.0, [N]) }
    "truncated_normal f32" truncated truncated_into f32 { random::truncated_normal(key, -1.0, 2.0, [N]) }
    "randint i32" randint randint_into i32 { random::randint(key, [N], 0, 10) }
    "dropout f32" dropout dropout_into f32 { nn::dropout(_x, key, 0.5) }
    "copy f32" copy copy_into f32 { _x + f32(key) }
}

/// The rows of a generator of rand.
fn of_rand<'a, R: Rng + SeedableRng + 'a>(name: &str, len: usize) -> Vec<Row<'a>> {
    let (mut narrow, mut wide) = (vec![0.0_f32; len], vec![0.0_f64; len]);
    let [mut one, mut other] = [1, 2].map(R::seed_from_u64);
    vec![
        Row::new(format!("uniform f32, {name}"), move || {
            black_box(&mut narrow).iter_mut().for_each(|number| *number = one.random());
        }),
        Row::new(format!("uniform f64, {name}"), move || {
            black_box(&mut wide).iter_mut().for_each(|number| *number = other.random());
        }),
    ]
}

fn main() {
    set_threads(1);
    // Cargo's own arguments begin with dashes.
    let wanted: Vec<_> = env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let is_wanted = |row: &Row| wanted.is_empty() || wanted.iter().any(|word| row.name.contains(word));
    let lens = [1_000, 1_000_000];
    let mut tables = lens.map(|len| {
        let mut rows = ours(len);
        rows.extend(of_rand::<SmallRng>("SmallRng", len));
        rows.extend(of_rand::<ChaCha8Rng>("ChaCha8Rng", len));
        rows
    });
    for table in &mut tables {
        table.retain(is_wanted);
        measure(table, 60, Duration::from_millis(2));
    }
    println!("ns an element");
    println!("| | 1,000 | 1 M |");
    println!("| --- | --- | --- |");
    let [small, large] = &tables;
    for (small, large) in small.iter().zip(large) {
        let nanoseconds = |row: &Row, len: usize| row.best.as_secs_f64() * 1e9 / len as f64;
        println!(
            "| {} | {:.3} | {:.3} |",
            small.name,
            nanoseconds(small, lens[0]),
            nanoseconds(large, lens[1])
        );
    }
}

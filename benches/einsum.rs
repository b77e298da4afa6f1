//! Times expressions of `einsum` as public code has them. `peers/einsum.py` reads the rows of this file and times them
//! in NumPy with opt_einsum, PyTorch and JAX.
//!
//! Run `cargo bench -p mind-benches --bench einsum`. Words after `--` select rows. All rows are measured in turn, many
//! times, and the shortest time of each is kept. Results are new tensors.

use std::env;
use std::hint::black_box;
use std::time::Duration;

#[path = "timing/rows.rs"]
mod rows;
mod timing;

use rows::{Row, measure};

macro_rules! einsums {
    ($($name:ident: $text:tt, $($x:ident [$($extent:tt),*]),+ => $element:ident $([$($of_result:tt),*])?;)+) => {
        $(mod $name {
            mind::mind! {
                pub fn f($($x: f32[$($extent),*]),+) -> $element $([$($of_result),*])? { einsum($text, $($x),+) }
            }

            pub fn row<'a>() -> super::Row<'a> {
                let mut random = mind::Xoshiro256::new(7);
                $(let $x: mind::Tensor![f32; $($extent),*] = mind::Tensor::rand(&mut random);)+
                super::Row::new(stringify!($name), move || {
                    super::black_box(f($(super::black_box(&$x)),+));
                })
            }
        })+

        fn all<'a>() -> Vec<Row<'a>> {
            vec![$($name::row()),+]
        }
    };
}

einsums! {
    attention_scores: "bqhd,bkhd->bhqk", x [4, 128, 8, 64], y [4, 128, 8, 64] => f32[4, 8, 128, 128];
    attention_values: "bhqk,bkhd->bqhd", x [4, 8, 128, 128], y [4, 128, 8, 64] => f32[4, 128, 8, 64];
    heads_scores: "bhqd,bhkd->bhqk", x [4, 8, 128, 64], y [4, 8, 128, 64] => f32[4, 8, 128, 128];
    heads_values: "bhqk,bhkd->bhqd", x [4, 8, 128, 128], y [4, 8, 128, 64] => f32[4, 8, 128, 64];
    dense: "btd,df->btf", x [4, 128, 256], y [256, 512] => f32[4, 128, 512];
    into_heads: "btd,dhk->bthk", x [4, 128, 256], y [256, 8, 32] => f32[4, 128, 8, 32];
    from_heads: "bthk,hkd->btd", x [4, 128, 8, 32], y [8, 32, 256] => f32[4, 128, 256];
    linear_attention: "bnhd,bnhe->bhde", x [4, 256, 8, 32], y [4, 256, 8, 32] => f32[4, 8, 32, 32];
    relative_positions: "bhid,ijd->bhij", x [4, 8, 64, 32], y [64, 64, 32] => f32[4, 8, 64, 64];
    bilinear: "bi,oij,bj->bo", x [64, 64], y [32, 64, 64], z [64, 64] => f32[64, 32];
    low_rank: "bd,dr,rk->bk", x [64, 512], y [512, 8], z [8, 512] => f32[64, 512];
    experts_in: "bsec,bsm->ebcm", x [2, 64, 8, 16], y [2, 64, 128] => f32[8, 2, 16, 128];
    experts_out: "bsec,ebcm->bsm", x [2, 64, 8, 16], y [8, 2, 16, 128] => f32[2, 64, 128];
    triangle_update: "ikc,jkc->ijc", x [64, 64, 32], y [64, 64, 32] => f32[64, 64, 32];
    outer_product_mean: "sid,sje->ijde", x [64, 32, 16], y [64, 32, 16] => f32[32, 32, 16, 16];
    channels_last: "bhwc,cd->bhwd", x [4, 28, 28, 64], y [64, 64] => f32[4, 28, 28, 64];
    channels_first: "bchw,oc->bohw", x [4, 64, 28, 28], y [64, 64] => f32[4, 64, 28, 28];
    graph: "nctv,vw->nctw", x [8, 64, 30, 25], y [25, 25] => f32[8, 64, 30, 25];
    states: "bdn,bn->bd", x [8, 512, 16], y [8, 16] => f32[8, 512];
    outer_products: "bi,bj->bij", x [256, 64], y [256, 64] => f32[256, 64, 64];
    matrices_by_vectors: "bij,bj->bi", x [256, 64, 64], y [256, 64] => f32[256, 64];
    gram: "ni,nj->ij", x [1024, 64], y [1024, 64] => f32[64, 64];
    quadratic_forms: "bi,ij,bj->b", x [1024, 64], y [64, 64], z [1024, 64] => f32[1024];
    inner_products: "bi,bi->b", x [1024, 256], y [1024, 256] => f32[1024];
    trace_of_product: "ij,ji->", x [256, 256], y [256, 256] => f32;
    triangle: "ij,jk,ki->", x [128, 128], y [128, 128], z [128, 128] => f32;
    chain: "ij,jk,kl->il", x [64, 512], y [512, 64], z [64, 512] => f32[64, 512];
    matrix_product_state: "aib,bjc->aijc", x [64, 4, 64], y [64, 4, 64] => f32[64, 4, 4, 64];
    environment: "ab,aic,bid->cd", x [64, 64], y [64, 4, 64], z [64, 4, 64] => f32[64, 64];
    operator_on_state: "awx,ais,wijy,xjt->syt", x [32, 8, 32], y [32, 2, 32], z [8, 2, 2, 8], u [32, 2, 32] => f32[32, 8, 32];
    gate: "ab,cbd->cad", x [2, 2], y [512, 2, 256] => f32[512, 2, 256];
    canonical: "ir,jr,kr->ijk", x [32, 16], y [32, 16], z [32, 16] => f32[32, 32, 32];
    tucker: "abc,ia,jb,kc->ijk", x [16, 16, 16], y [32, 16], z [32, 16], u [32, 16] => f32[32, 32, 32];
    khatri_rao: "ijk,jr,kr->ir", x [64, 64, 64], y [64, 16], z [64, 16] => f32[64, 16];
}

fn main() {
    let words: Vec<String> = env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let is_chosen =
        |row: &Row<'_>| words.is_empty() || words.iter().any(|word| row.name.contains(word.as_str()));
    let mut rows: Vec<Row<'_>> = all().into_iter().filter(is_chosen).collect();
    measure(&mut rows, 40, Duration::from_micros(500));
    for row in rows {
        println!("{:24} {:9.2} µs", row.name, row.best.as_secs_f64() * 1e6);
    }
}

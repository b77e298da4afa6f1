//! Names that are equal in text but not in hygiene: names from other macros, and names bound by `let`.

use mind::mind;

macro_rules! plus_own {
    ($e:expr) => {{
        let x = 1.0_f32;
        f32::from(mind!($e + x))
    }};
}

macro_rules! scaled {
    ($e:ident) => {
        f32::from(mind!({
            let x = 2.0 * $e;
            x + $e
        }))
    };
}

macro_rules! slope {
    ($e:ident) => {{
        let x = 5.0_f32;
        f32::from(mind!(grad($e * $e * x, wrt = $e)))
    }};
}

#[test]
fn a_name_from_another_macro_is_another_leaf() {
    let x = 10.0_f32;
    assert_eq!(plus_own!(x), 11.0);
    assert_eq!(slope!(x), 100.0);
}

#[test]
fn a_let_hides_no_name_of_another_macro() {
    let x = 10.0_f32;
    assert_eq!(scaled!(x), 30.0);
}

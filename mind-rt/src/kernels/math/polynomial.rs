//! Polynomials. Their products and sums are those of the type parameter `A` of the enclosing function.

/// Evaluates a polynomial by Horner's rule. Coefficients go from the highest power down.
macro_rules! horner {
    ($x:expr; $first:expr $(, $rest:expr)*) => {{
        let sum = $first;
        $(let sum = A::multiply_add(sum, $x, $rest);)*
        sum
    }};
}

pub(super) use horner;

/// Evaluates a polynomial in two sums, of the odd and of the even powers. This is for functions so long that a
/// processor waits for results more than for arithmetic units. Coefficients are pairs of an odd power and the even one
/// below; a highest power that is even stands alone.
macro_rules! in_two_sums {
    ($x:expr; $($highest:literal,)? $(($odd:expr, $even:expr)),+) => {{
        let (x, square) = ($x, $x * $x);
        let odd = horner!(square; $($odd),+);
        let even = horner!(square; $($highest,)? $($even),+);
        A::multiply_add(odd, x, even)
    }};
}

pub(super) use in_two_sums;

/// Evaluates a polynomial as one sum of powers of the square, with linear terms. It has as many operations as Horner's
/// rule, but only half as many wait for each other. The arguments are the number and its square; coefficients are as in
/// [`in_two_sums`].
macro_rules! in_pairs {
    ($x:expr, $square:expr; $highest:literal, $(($odd:expr, $even:expr)),+) => {{
        let (x, square) = ($x, $square);
        let sum = $highest;
        $(let sum = A::multiply_add(sum, square, A::multiply_add($odd, x, $even));)+
        sum
    }};
    ($x:expr, $square:expr; ($first_odd:expr, $first_even:expr) $(, ($odd:expr, $even:expr))*) => {{
        let (x, square) = ($x, $square);
        let sum = A::multiply_add($first_odd, x, $first_even);
        $(let sum = A::multiply_add(sum, square, A::multiply_add($odd, x, $even));)*
        sum
    }};
}

pub(super) use in_pairs;

/// Evaluates a polynomial as one sum of fourth powers, with cubic terms. It has two products more than Horner's rule,
/// but only a fourth as many operations wait for each other. The highest coefficients, up to three, stand alone.
macro_rules! in_fours {
    ($x:expr; $($highest:expr),+; $(($cubic:expr, $second:expr, $linear:expr, $constant:expr)),+) => {{
        let x = $x;
        let square = x * x;
        let fourth = square * square;
        let sum = horner!(x; $($highest),+);
        $(
            let (above, below) = (A::multiply_add($cubic, x, $second), A::multiply_add($linear, x, $constant));
            let sum = A::multiply_add(sum, fourth, A::multiply_add(above, square, below));
        )+
        sum
    }};
}

pub(super) use in_fours;

//! Every floating-point function that users can write, as an expression of `p`, and of `y` if it has two operands.

/// Passes the functions of one operand to `$macro` under the name `$of_one`, and those of two operands under `$of_two`.
macro_rules! functions_of_floats {
    ($macro:ident, $of_one:ident, $of_two:ident) => {
        $macro! {
            $of_one ()
            relu { relu(p) }
            neg { neg(p) }
            exp { exp(p) }
            log { log(p) }
            sqrt { sqrt(p) }
            tanh { tanh(p) }
            exp2 { exp2(p) }
            expm1 { expm1(p) }
            log2 { log2(p) }
            log10 { log10(p) }
            log1p { log1p(p) }
            rsqrt { rsqrt(p) }
            cbrt { cbrt(p) }
            sinh { sinh(p) }
            cosh { cosh(p) }
            asinh { asinh(p) }
            acosh { acosh(p) }
            atanh { atanh(p) }
            asin { asin(p) }
            acos { acos(p) }
            atan { atan(p) }
            sin { sin(p) }
            cos { cos(p) }
            tan { tan(p) }
            erf { erf(p) }
            erfc { erfc(p) }
            abs { abs(p) }
            sign { sign(p) }
            floor { floor(p) }
            ceil { ceil(p) }
            round { round(p) }
            trunc { trunc(p) }
            log1mexp { log1mexp(p) }
            erf_inv { erf_inv(p) }
            erfcx { erfcx(p) }
            log_ndtr { log_ndtr(p) }
            lgamma { lgamma(p) }
            digamma { digamma(p) }
            trigamma { trigamma(p) }
            logistic { nn::sigmoid(p) }
            is_nan { where(is_nan(p), 0.0, p) }
            is_finite { where(is_finite(p), p, 0.0) }
        }

        $macro! {
            $of_two (y)
            r#where { where(y > 0.0, p, y) }
            add { p + y }
            sub { p - y }
            mul { p * y }
            div { p / y }
            maximum { maximum(p, y) }
            minimum { minimum(p, y) }
            fmax { fmax(p, y) }
            fmin { fmin(p, y) }
            atan2 { atan2(p, y) }
            hypot { hypot(p, y) }
            logaddexp { logaddexp(p, y) }
            pow { pow(p, y) }
            rem { rem(p, y) }
            floor_divide { floor_divide(p, y) }
            remainder { remainder(p, y) }
            copysign { copysign(p, y) }
            eq { where(p == y, p, y) }
            ne { where(p != y, p, y) }
            lt { where(p < y, p, y) }
            le { where(p <= y, p, y) }
            gt { where(p > y, p, y) }
            ge { where(p >= y, p, y) }
        }
    };
}

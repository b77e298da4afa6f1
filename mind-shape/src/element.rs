//! The table of element types, and the macros that read it.

/// Declares [`DType`] and [`element_types`] from the table.
macro_rules! table {
    (
        truths { $($truth:tt)* }
        integers { $($integer:tt)* }
        floats { $($float:tt)* }
    ) => {
        table!(@type $($truth)* $($integer)* $($float)*);
        table!(@names [$($truth)*] [$($integer)*] [$($float)*]);
        table!(@rows ($) [$($truth)*] [$($integer)*] [$($float)*]);
    };
    (@type $($element:ident $variant:ident $kind:ident $doc:literal;)*) => {
        /// The element type of a tensor. Displays its name in the language: `f32`.
        ///
        /// Types are ordered: a type can hold more of the other types' values than the types before it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum DType {
            $(#[doc = $doc] $variant,)*
        }

        impl DType {
            /// All element types.
            pub const ALL: [Self; [$(Self::$variant),*].len()] = [$(Self::$variant),*];

            /// The name in every form of the language.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => stringify!($element),)*
                }
            }

            /// The kind of its values.
            #[must_use]
            pub const fn kind(self) -> Kind {
                match self {
                    $(Self::$variant => Kind::$kind,)*
                }
            }

            /// The size of an element in bytes.
            #[must_use]
            pub const fn bytes(self) -> usize {
                match self {
                    $(Self::$variant => size_of::<$element>(),)*
                }
            }
        }
    };
    (@names
        [$($truth:ident $_t:ident $_truth:ident $_td:literal;)*]
        [$($integer:ident $_i:ident $_integer:ident $_id:literal;)*]
        [$($float:ident $_f:ident $_float:ident $_fd:literal;)*]
    ) => {
        /// Lists of element types for messages.
        pub mod names {
            /// All types.
            pub const ALL: &str = listed!(", ": $($truth)* $($integer)* $($float)*);
            /// Truth values and integers.
            pub const BITS: &str = listed!(", ": $($truth)* $($integer)*);
            /// Truth values.
            pub const TRUTHS: &str = listed!(", ": $($truth)*);
            /// Integers.
            pub const INTEGERS: &str = listed!(", ": $($integer)*);
            /// Integers, joined by `or`.
            pub const ANY_INTEGER: &str = listed!(" or ": $($integer)*);
            /// Floats.
            pub const FLOATS: &str = listed!(", ": $($float)*);
            /// Numeric types.
            pub const NUMBERS: &str = listed!(", ": $($integer)* $($float)*);
            /// Numeric types, joined by `or`.
            pub const ANY_NUMBER: &str = listed!(" or ": $($float)* $($integer)*);
            /// Numeric types, joined by `and`.
            pub const NUMBERS_THERE_ARE: &str = listed!(" and ": $($float)* $($integer)*);
            /// All types, joined by `and`.
            pub const ALL_THERE_ARE: &str = listed!(" and ": $($float)* $($integer)* $($truth)*);
        }
    };
    (@rows ($d:tt)
        [$($truth:ident $of_truth:ident $_truth:ident $truth_doc:literal;)*]
        [$($integer:ident $of_integer:ident $_integer:ident $integer_doc:literal;)*]
        [$($float:ident $of_float:ident $_float:ident $float_doc:literal;)*]
    ) => {
        /// Calls a macro with rows of the table of element types, after the given tokens:
        /// `element_types!(floats => name! given)` becomes `name! { given f32 F32; f64 F64; }`. A row contains a type
        /// and the name of its variants. The groups of rows are `floats`, `integers`, `numbers` (both of these), and
        /// `all`, which includes truth values.
        ///
        /// ```
        /// macro_rules! widths {
        ///     ($($element:ident $variant:ident;)*) => { [$((stringify!($variant), size_of::<$element>())),*] };
        /// }
        /// assert_eq!(mind_shape::element_types!(floats => widths!), [("F32", 4), ("F64", 8)]);
        /// ```
        #[macro_export]
        macro_rules! element_types {
            (floats => $d name:ident! $d($d given:tt)*) => {
                $d name! { $d($d given)* $($float $of_float;)* }
            };
            (integers => $d name:ident! $d($d given:tt)*) => {
                $d name! { $d($d given)* $($integer $of_integer;)* }
            };
            (numbers => $d name:ident! $d($d given:tt)*) => {
                $d name! { $d($d given)* $($integer $of_integer;)* $($float $of_float;)* }
            };
            (all => $d name:ident! $d($d given:tt)*) => {
                $d name! { $d($d given)* $($truth $of_truth;)* $($integer $of_integer;)* $($float $of_float;)* }
            };
        }

        /// Matches an enum that has a variant for each element type:
        /// `match_elements!(data, TensorData(elements) => elements.len())`. Kinds of element types may have separate
        /// arms, in this order: `{ truths => …, integers => …, floats => … }`. An arm `numbers` replaces the last two.
        /// `{ floats => …, others => … }` has one arm for truth values and integers.
        #[macro_export]
        macro_rules! match_elements {
            ($d value:expr, $d list:ident($d elements:pat) => $d all:expr) => {
                $crate::match_elements!($d value, $d list($d elements) {
                    truths => $d all, integers => $d all, floats => $d all
                })
            };
            ($d value:expr, $d list:ident($d elements:pat) { truths => $d truths:expr, numbers => $d numbers:expr $d(,)? }) => {
                $crate::match_elements!($d value, $d list($d elements) {
                    truths => $d truths, integers => $d numbers, floats => $d numbers
                })
            };
            ($d value:expr, $d list:ident($d elements:pat) { floats => $d floats:expr, others => $d others:expr $d(,)? }) => {
                $crate::match_elements!($d value, $d list($d elements) {
                    truths => $d others, integers => $d others, floats => $d floats
                })
            };
            ($d value:expr, $d list:ident($d elements:pat) {
                truths => $d truths:expr, integers => $d integers:expr, floats => $d floats:expr $d(,)?
            }) => {{
                // An arm is written for every type, so it may convert a type to itself or not read its elements.
                #[allow(unused_variables, clippy::useless_conversion, clippy::unnecessary_cast)]
                match $d value {
                    $($d list::$of_truth($d elements) => $d truths,)*
                    $($d list::$of_integer($d elements) => $d integers,)*
                    $($d list::$of_float($d elements) => $d floats,)*
                }
            }};
        }

        /// Matches an element type, and gives its Rust type a name: `match_dtype!(dtype, T => size_of::<T>())`. Kinds
        /// of element types may have separate arms as in [`match_elements`].
        #[macro_export]
        macro_rules! match_dtype {
            ($d dtype:expr, $d element:ident => $d all:expr) => {
                $crate::match_dtype!($d dtype, $d element { truths => $d all, integers => $d all, floats => $d all })
            };
            ($d dtype:expr, $d element:ident { truths => $d truths:expr, numbers => $d numbers:expr $d(,)? }) => {
                $crate::match_dtype!($d dtype, $d element {
                    truths => $d truths, integers => $d numbers, floats => $d numbers
                })
            };
            ($d dtype:expr, $d element:ident { floats => $d floats:expr, others => $d others:expr $d(,)? }) => {
                $crate::match_dtype!($d dtype, $d element {
                    truths => $d others, integers => $d others, floats => $d floats
                })
            };
            ($d dtype:expr, $d element:ident {
                truths => $d truths:expr, integers => $d integers:expr, floats => $d floats:expr $d(,)?
            }) => {{
                // As in `match_elements`. The arm may not use the type either.
                #[allow(dead_code, unused_variables, clippy::useless_conversion, clippy::unnecessary_cast)]
                match $d dtype {
                    $($crate::DType::$of_truth => {
                        type $d element = $truth;
                        $d truths
                    })*
                    $($crate::DType::$of_integer => {
                        type $d element = $integer;
                        $d integers
                    })*
                    $($crate::DType::$of_float => {
                        type $d element = $float;
                        $d floats
                    })*
                }
            }};
        }
    };
}

/// Joins names: `$last` is between the last two names, commas between the others.
macro_rules! listed {
    ($last:literal: $name:ident) => { stringify!($name) };
    ($last:literal: $name:ident $end:ident) => { concat!(stringify!($name), $last, stringify!($end)) };
    ($last:literal: $name:ident $($rest:ident)+) => {
        concat!(stringify!($name), ", ", listed!($last: $($rest)+))
    };
}

// The Rust type, which is also its name in the language; the name of its variants; its kind; its documentation.
table! {
    truths {
        bool Bool Truth "Truth values. No operation of Core v1 takes them.";
    }
    integers {
        u8 U8 Unsigned "8-bit integers from 0; arithmetic wraps.";
        i32 I32 Signed "32-bit signed integers; arithmetic wraps.";
        i64 I64 Signed "64-bit signed integers; arithmetic wraps.";
    }
    floats {
        f32 F32 Float "IEEE 754 binary32.";
        f64 F64 Float "IEEE 754 binary64.";
    }
}

/// The kind of the values of an element type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// True or false.
    Truth,
    /// Integers from 0 on.
    Unsigned,
    /// Integers including negative ones.
    Signed,
    /// Numbers with fractions.
    Float,
}

impl DType {
    /// The numeric element types.
    pub const NUMERIC: [Self; Self::ALL.len() - 1] = {
        let mut numbers = [Self::F64; Self::ALL.len() - 1];
        let (mut position, mut count) = (0, 0);
        while position < Self::ALL.len() {
            if !Self::ALL[position].is(Self::Bool) {
                numbers[count] = Self::ALL[position];
                count += 1;
            }
            position += 1;
        }
        numbers
    };

    /// The type with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|dtype| dtype.name() == name)
    }

    /// Whether the elements have fractions.
    #[must_use]
    pub const fn is_float(self) -> bool {
        matches!(self.kind(), Kind::Float)
    }

    /// Whether the elements are integers.
    #[must_use]
    pub const fn is_integer(self) -> bool {
        matches!(self.kind(), Kind::Signed | Kind::Unsigned)
    }

    /// Whether both types are the same; `==` does not work in `const fn`.
    #[must_use]
    pub const fn is(self, other: Self) -> bool {
        self as u8 == other as u8
    }
}

impl core::fmt::Display for DType {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.pad(self.name())
    }
}

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
        /// The type of a tensor's elements. Displays as in the language: `f32`.
        ///
        /// A type holds more of the other types' values than those before it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum DType {
            $(#[doc = $doc] $variant,)*
        }

        impl DType {
            /// Every element type.
            pub const ALL: [Self; [$(Self::$variant),*].len()] = [$(Self::$variant),*];

            /// As written in every form of the language.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => stringify!($element),)*
                }
            }

            /// What its values are.
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
        /// Names of element types as messages list them.
        pub mod names {
            /// Every one.
            pub const ALL: &str = listed!(", ": $($truth)* $($integer)* $($float)*);
            /// Those of integers and truth values.
            pub const BITS: &str = listed!(", ": $($truth)* $($integer)*);
            /// Those of truth values.
            pub const TRUTHS: &str = listed!(", ": $($truth)*);
            /// Those of integers.
            pub const INTEGERS: &str = listed!(", ": $($integer)*);
            /// Those of integers, one of which is needed.
            pub const ANY_INTEGER: &str = listed!(" or ": $($integer)*);
            /// Those of floats.
            pub const FLOATS: &str = listed!(", ": $($float)*);
            /// Those of numbers.
            pub const NUMBERS: &str = listed!(", ": $($integer)* $($float)*);
            /// Those of numbers, one of which is needed.
            pub const ANY_NUMBER: &str = listed!(" or ": $($float)* $($integer)*);
            /// Those of numbers, all of which there are.
            pub const NUMBERS_THERE_ARE: &str = listed!(" and ": $($float)* $($integer)*);
            /// Every one that there is.
            pub const ALL_THERE_ARE: &str = listed!(" and ": $($float)* $($integer)* $($truth)*);
        }
    };
    (@rows ($d:tt)
        [$($truth:ident $of_truth:ident $_truth:ident $truth_doc:literal;)*]
        [$($integer:ident $of_integer:ident $_integer:ident $integer_doc:literal;)*]
        [$($float:ident $of_float:ident $_float:ident $float_doc:literal;)*]
    ) => {
        /// Calls a macro with rows of the table of element types, behind what is given: `element_types!(floats => name! given)`
        /// becomes `name! { given f32 F32; f64 F64; }`. Rows are a type and the name of its variants. Besides `floats` there are
        /// `integers`, `numbers`, which are both, and `all`, truth values among them.
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

        /// A value for the variant that an enum with a variant for each element type has:
        /// `match_elements!(data, TensorData(elements) => elements.len())`. Kinds of element types may differ, in this order:
        /// `{ truths => …, integers => …, floats => … }`, with `numbers` for both latter or `others` for both former.
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
                // An arm is written for every type, so one of them may convert a type to itself or not read its elements.
                #[allow(unused_variables, clippy::useless_conversion, clippy::unnecessary_cast)]
                match $d value {
                    $($d list::$of_truth($d elements) => $d truths,)*
                    $($d list::$of_integer($d elements) => $d integers,)*
                    $($d list::$of_float($d elements) => $d floats,)*
                }
            }};
        }

        /// A value for an element type, whose Rust type has a name in it: `match_dtype!(dtype, T => size_of::<T>())`. Kinds of
        /// element types may differ as in [`match_elements`].
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
                // As in `match_elements`; the type itself may have no use.
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

/// Names, with this between the last two and commas between the others.
macro_rules! listed {
    ($last:literal: $name:ident) => { stringify!($name) };
    ($last:literal: $name:ident $end:ident) => { concat!(stringify!($name), $last, stringify!($end)) };
    ($last:literal: $name:ident $($rest:ident)+) => {
        concat!(stringify!($name), ", ", listed!($last: $($rest)+))
    };
}

// A type in Rust, which is its name in the language, the name of its variants, its kind, and what it is.
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

/// What the values of an element type are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// True or false.
    Truth,
    /// Integers from 0.
    Unsigned,
    /// Integers, negative ones among them.
    Signed,
    /// Numbers with fractions.
    Float,
}

impl DType {
    /// The element types of numbers.
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

    /// Whether its elements have fractions.
    #[must_use]
    pub const fn is_float(self) -> bool {
        matches!(self.kind(), Kind::Float)
    }

    /// Whether its elements are integers.
    #[must_use]
    pub const fn is_integer(self) -> bool {
        matches!(self.kind(), Kind::Signed | Kind::Unsigned)
    }

    /// Whether both are the same one; `==` is not for `const fn`.
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

//! Explanations of codes, for the command and the page of codes: the meaning, an example, the fix.
//!
//! A test checks that every example reports exactly its code, and that the fixed example reports none.

mod explanation;
mod gradients;
mod modules;
mod runs;
mod shapes;
mod syntax;
mod types;

pub use explanation::{Example, ExampleInput, Explanation};

use super::Code;

impl Code {
    /// The explanation of the code, beyond its row in the table.
    pub const fn explanation(self) -> Explanation {
        match self {
            Self::E1001 => syntax::E1001,
            Self::E1002 => syntax::E1002,
            Self::E1003 => syntax::E1003,
            Self::E1004 => syntax::E1004,
            Self::E1005 => syntax::E1005,
            Self::E1006 => syntax::E1006,
            Self::E1007 => syntax::E1007,
            Self::E1008 => syntax::E1008,
            Self::E1009 => syntax::E1009,
            Self::E2001 => types::E2001,
            Self::E2002 => types::E2002,
            Self::E2003 => types::E2003,
            Self::E2004 => types::E2004,
            Self::E2005 => types::E2005,
            Self::E2006 => types::E2006,
            Self::E2007 => types::E2007,
            Self::E2008 => types::E2008,
            Self::E2009 => types::E2009,
            Self::E2010 => types::E2010,
            Self::E2011 => types::E2011,
            Self::E3001 => shapes::E3001,
            Self::E3002 => shapes::E3002,
            Self::E3003 => shapes::E3003,
            Self::E3004 => shapes::E3004,
            Self::E3005 => shapes::E3005,
            Self::E3006 => shapes::E3006,
            Self::E3007 => shapes::E3007,
            Self::E3008 => shapes::E3008,
            Self::E3009 => shapes::E3009,
            Self::E3010 => shapes::E3010,
            Self::E3011 => shapes::E3011,
            Self::E4001 => modules::E4001,
            Self::E4002 => modules::E4002,
            Self::E4003 => modules::E4003,
            Self::E4004 => modules::E4004,
            Self::E4005 => modules::E4005,
            Self::E4006 => modules::E4006,
            Self::E4007 => modules::E4007,
            Self::E4008 => modules::E4008,
            Self::E4009 => modules::E4009,
            Self::E4010 => modules::E4010,
            Self::E4011 => modules::E4011,
            Self::E4012 => modules::E4012,
            Self::E4013 => modules::E4013,
            Self::E4014 => modules::E4014,
            Self::E5001 => gradients::E5001,
            Self::E5002 => gradients::E5002,
            Self::E5003 => gradients::E5003,
            Self::E5004 => gradients::E5004,
            Self::E5005 => gradients::E5005,
            Self::E6001 => runs::E6001,
            Self::E6002 => runs::E6002,
            Self::E6003 => runs::E6003,
            Self::E6004 => runs::E6004,
            Self::E6005 => runs::E6005,
            Self::E6009 => runs::E6009,
            Self::E6010 => runs::E6010,
            Self::E6011 => runs::E6011,
        }
    }
}

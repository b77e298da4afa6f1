//! With a library, trybuild hands the features of this package on to the programs that it compiles.

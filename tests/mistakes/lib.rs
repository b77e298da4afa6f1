//! An empty library. Without it, trybuild would not pass the features of this package on to the programs that it
//! compiles.

mod decompositions;
mod factors;

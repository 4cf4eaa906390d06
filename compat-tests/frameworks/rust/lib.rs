//! Nothing: the programs are tests.

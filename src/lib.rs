//! Shared by the examples and the tests.

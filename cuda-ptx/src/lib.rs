//! PTX as data: parser, entries and their parameters.

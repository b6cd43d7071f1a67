//! Gradients, fields and masses through the public face.

mod fields;
mod gradient;
mod mass;

//! Dual numbers against closed forms, and work spread over threads.

mod dual;
mod lanes;
mod parallel;

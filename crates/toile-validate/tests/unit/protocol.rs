//! Parts of `protocol` with their own tests.

use toile_validate::protocol::ProtocolError;

#[path = "../../src/protocol/progress.rs"]
mod progress;

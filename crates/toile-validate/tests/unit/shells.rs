//! Parts of `shells` with their own tests.

use case::{Case, Point, Run, Settings, ShellCaseError};
use toile_validate::shells::{ClampedStrip, MirroredShell};

#[path = "../../src/shells/case.rs"]
mod case;
#[path = "../../src/shells/end_moment.rs"]
mod end_moment;
#[path = "../../src/shells/hemisphere.rs"]
mod hemisphere;

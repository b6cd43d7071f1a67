//! Parts of a time step with their own tests.

#[path = "../../src/dynamics/blocked.rs"]
mod blocked;
#[path = "../../src/dynamics/layout.rs"]
mod layout;
#[path = "../../src/dynamics/many.rs"]
mod many;
#[path = "../../src/dynamics/proximal.rs"]
mod proximal;
#[path = "../../src/dynamics/rows.rs"]
mod rows;
#[path = "../../src/dynamics/system.rs"]
mod system;
#[path = "../../src/dynamics/touches.rs"]
mod touches;
#[path = "../../src/dynamics/zones.rs"]
mod zones;

//! What elastic energies measure on a mesh: lengths, areas, altitudes, dihedral angles, fundamental
//! forms, each with exact first and second derivatives.
//!
//! Everything about a triangle seen from one of its edges is in [`Wing`]; a hinge is two wings
//! ([`Hinge`]); the two fundamental forms of a face with its neighbours are in [`FaceForms`].

mod face_hessian;
mod forms;
mod hinge;
mod wing;

pub use face_hessian::FormDerivatives;
pub use forms::{EdgeRule, FORM_COORDINATES, FaceForms, FaceStencil, NormalRule, forms};
pub use hinge::{Hinge, dihedral_angle};
pub use wing::Wing;

use toile_num::{Scalar, Vector};

/// A point or vector of space, of any scalar.
pub type Point<T = f64> = Vector<3, T>;

/// Length |b − a| and unit tangent from `a` to `b`; the tangent is not finite when they coincide.
pub fn edge<T: Scalar>(a: &Point<T>, b: &Point<T>) -> (T, Point<T>) {
    let d = b - a;
    let length = norm(&d);
    (length, d.map(|c| c / length))
}

/// Area of a triangle.
pub fn triangle_area<T: Scalar>(p: &[Point<T>; 3]) -> T {
    norm(&(p[1] - p[0]).cross(&(p[2] - p[0]))) * 0.5
}

/// ∂A/∂pᵢ = ½ n × (edge opposite to i), with the unit normal n.
pub fn triangle_area_gradient(p: &[Point; 3]) -> [Point; 3] {
    let n = (p[1] - p[0]).cross(&(p[2] - p[0])).normalize();
    std::array::from_fn(|i| n.cross(&(p[(i + 2) % 3] - p[(i + 1) % 3])) * 0.5)
}

/// Euclidean norm of a vector of any scalar.
pub fn norm<T: Scalar>(v: &Point<T>) -> T {
    dot(v, v).sqrt()
}

/// Scalar product of vectors of any scalar.
pub(crate) fn dot<T: Scalar>(a: &Point<T>, b: &Point<T>) -> T {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

//! Derivatives of generic functions by dual numbers: the oracle of every derivative test.

use crate::{Dual, Matrix, Scalar, Vector};

/// A function of `N` variables written for any scalar.
pub trait ScalarFunction<const N: usize> {
    /// f(x).
    fn call<T: Scalar>(&self, x: &Vector<N, T>) -> T;
}

/// A vector function of `N` variables with `K` values written for any scalar.
pub trait VectorFunction<const N: usize, const K: usize> {
    /// f(x).
    fn call<T: Scalar>(&self, x: &Vector<N, T>) -> Vector<K, T>;
}

/// x with a derivative of one in direction `i`.
///
/// One direction at a time: a function then exists for plain numbers and for two kinds of dual numbers whatever
/// `N` is, and compiles in no time.
fn along<T: Scalar, const N: usize>(x: &Vector<N, T>, i: usize) -> Vector<N, Dual<T, 1>> {
    Vector::from_fn(|k, _| Dual {
        value: x[k],
        partials: [if k == i { T::one() } else { T::zero() }],
    })
}

/// ∂f/∂x by dual numbers.
pub fn gradient_of<const N: usize>(f: &impl ScalarFunction<N>, x: &Vector<N>) -> Vector<N> {
    Vector::from_fn(|i, _| f.call(&along(x, i)).partials[0])
}

/// ∂²f/∂x² by nested dual numbers.
pub fn hessian_of<const N: usize>(f: &impl ScalarFunction<N>, x: &Vector<N>) -> Matrix<N, N> {
    let mut h = Matrix::<N, N>::zeros();
    for j in 0..N {
        let once = along(x, j);
        for i in j..N {
            let second = f.call(&along(&once, i)).partials[0].partials[0];
            h[(i, j)] = second;
            h[(j, i)] = second;
        }
    }
    h
}

/// ∂f/∂x of a vector function, one row a value.
pub fn jacobian_of<const N: usize, const K: usize>(
    f: &impl VectorFunction<N, K>,
    x: &Vector<N>,
) -> Matrix<K, N> {
    let mut jacobian = Matrix::<K, N>::zeros();
    for i in 0..N {
        jacobian.set_column(i, &f.call(&along(x, i)).map(|v| v.partials[0]));
    }
    jacobian
}

/// Panics unless the two agree to `tolerance` of the size of the larger, which must not be zero:
/// a comparison of numbers that all vanish proves nothing.
#[track_caller]
pub fn assert_close<const R: usize, const C: usize>(
    what: &str,
    found: &Matrix<R, C>,
    expected: &Matrix<R, C>,
    tolerance: f64,
) {
    let size = expected.amax();
    assert!(size > 0.0 && size.is_finite(), "{what}: expected values of size {size} test nothing");
    let error = (found - expected).amax();
    assert!(
        error <= tolerance * size,
        "{what}: error {error:.3e} of size {size:.3e}\nfound {found:.6}expected {expected:.6}"
    );
}

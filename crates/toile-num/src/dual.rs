//! Forward-mode dual numbers of any order, by nesting.

use std::fmt::Debug;
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

use num_traits::{One, Zero};

/// What a kernel may do with a number: arithmetic and the functions geometry needs.
///
/// Implemented by `f64` and by [`Dual`] over any scalar, so derivatives of any order come by nesting.
pub trait Scalar:
    Copy
    + Debug
    + PartialEq
    + 'static
    + Zero
    + One
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + DivAssign
    + Add<f64, Output = Self>
    + Sub<f64, Output = Self>
    + Mul<f64, Output = Self>
    + Div<f64, Output = Self>
{
    /// The number without derivatives.
    fn constant(value: f64) -> Self;
    /// Its plain value, derivatives dropped.
    fn real(&self) -> f64;
    /// Square root; derivatives are infinite at 0.
    fn sqrt(self) -> Self;
    /// Natural logarithm.
    fn ln(self) -> Self;
    /// Sine.
    fn sin(self) -> Self;
    /// Cosine.
    fn cos(self) -> Self;
    /// Tangent.
    fn tan(self) -> Self {
        self.sin() / self.cos()
    }
    /// Angle of the vector (`other`, `self`) in (−π, π].
    fn atan2(self, other: Self) -> Self;
    /// Square.
    fn squared(self) -> Self {
        self * self
    }
}

impl Scalar for f64 {
    fn constant(value: f64) -> Self {
        value
    }
    fn real(&self) -> f64 {
        *self
    }
    fn sqrt(self) -> Self {
        f64::sqrt(self)
    }
    fn ln(self) -> Self {
        f64::ln(self)
    }
    fn sin(self) -> Self {
        f64::sin(self)
    }
    fn cos(self) -> Self {
        f64::cos(self)
    }
    fn tan(self) -> Self {
        f64::tan(self)
    }
    fn atan2(self, other: Self) -> Self {
        f64::atan2(self, other)
    }
}

/// A number and its partial derivatives with respect to `N` variables: v + Σ dᵢ εᵢ, εᵢεⱼ = 0.
///
/// `Dual<Dual<f64, N>, N>` carries second derivatives. Check: `second_derivatives_by_nesting`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dual<T, const N: usize> {
    /// The value.
    pub value: T,
    /// ∂/∂ each variable.
    pub partials: [T; N],
}

impl<T: Scalar, const N: usize> Dual<T, N> {
    /// The `index`-th variable, with derivative one in its own direction.
    pub fn variable(value: T, index: usize) -> Self {
        let mut partials = [T::zero(); N];
        partials[index] = T::one();
        Self { value, partials }
    }

    /// Chain rule: f(v) + f′(v) Σ dᵢ εᵢ.
    fn chain(self, value: T, slope: T) -> Self {
        Self { value, partials: self.partials.map(|d| d * slope) }
    }

    fn zip(self, other: Self, value: T, f: impl Fn(T, T) -> T) -> Self {
        let partials = std::array::from_fn(|i| f(self.partials[i], other.partials[i]));
        Self { value, partials }
    }
}

impl<T: Scalar, const N: usize> Add for Dual<T, N> {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        self.zip(o, self.value + o.value, |a, b| a + b)
    }
}
impl<T: Scalar, const N: usize> Sub for Dual<T, N> {
    type Output = Self;
    fn sub(self, o: Self) -> Self {
        self.zip(o, self.value - o.value, |a, b| a - b)
    }
}
// The derivative of a product is a sum, of a quotient a difference.
#[allow(clippy::suspicious_arithmetic_impl)]
impl<T: Scalar, const N: usize> Mul for Dual<T, N> {
    type Output = Self;
    fn mul(self, o: Self) -> Self {
        self.zip(o, self.value * o.value, |a, b| a * o.value + b * self.value)
    }
}
#[allow(clippy::suspicious_arithmetic_impl)]
impl<T: Scalar, const N: usize> Div for Dual<T, N> {
    type Output = Self;
    fn div(self, o: Self) -> Self {
        let q = self.value / o.value;
        self.zip(o, q, |a, b| (a - b * q) / o.value)
    }
}
impl<T: Scalar, const N: usize> Neg for Dual<T, N> {
    type Output = Self;
    fn neg(self) -> Self {
        self.chain(-self.value, -T::one())
    }
}
macro_rules! assign_from_binary {
    ($($trait:ident $method:ident $op:tt),*) => {$(
        impl<T: Scalar, const N: usize> $trait for Dual<T, N> {
            fn $method(&mut self, o: Self) {
                *self = *self $op o;
            }
        }
    )*};
}
assign_from_binary!(AddAssign add_assign +, SubAssign sub_assign -, MulAssign mul_assign *, DivAssign div_assign /);

impl<T: Scalar, const N: usize> Add<f64> for Dual<T, N> {
    type Output = Self;
    fn add(self, o: f64) -> Self {
        Self { value: self.value + o, ..self }
    }
}
impl<T: Scalar, const N: usize> Sub<f64> for Dual<T, N> {
    type Output = Self;
    fn sub(self, o: f64) -> Self {
        Self { value: self.value - o, ..self }
    }
}
impl<T: Scalar, const N: usize> Mul<f64> for Dual<T, N> {
    type Output = Self;
    fn mul(self, o: f64) -> Self {
        Self { value: self.value * o, partials: self.partials.map(|d| d * o) }
    }
}
impl<T: Scalar, const N: usize> Div<f64> for Dual<T, N> {
    type Output = Self;
    fn div(self, o: f64) -> Self {
        Self { value: self.value / o, partials: self.partials.map(|d| d / o) }
    }
}
impl<T: Scalar, const N: usize> Zero for Dual<T, N> {
    fn zero() -> Self {
        Self { value: T::zero(), partials: [T::zero(); N] }
    }
    fn is_zero(&self) -> bool {
        self.value.is_zero() && self.partials.iter().all(T::is_zero)
    }
}
impl<T: Scalar, const N: usize> One for Dual<T, N> {
    fn one() -> Self {
        Self::constant(1.0)
    }
}

impl<T: Scalar, const N: usize> Scalar for Dual<T, N> {
    fn constant(value: f64) -> Self {
        Self { value: T::constant(value), partials: [T::zero(); N] }
    }
    fn real(&self) -> f64 {
        self.value.real()
    }
    fn sqrt(self) -> Self {
        let root = self.value.sqrt();
        self.chain(root, T::constant(0.5) / root)
    }
    fn ln(self) -> Self {
        self.chain(self.value.ln(), T::one() / self.value)
    }
    fn sin(self) -> Self {
        self.chain(self.value.sin(), self.value.cos())
    }
    fn cos(self) -> Self {
        self.chain(self.value.cos(), -self.value.sin())
    }
    fn atan2(self, o: Self) -> Self {
        let r2 = self.value * self.value + o.value * o.value;
        self.zip(o, self.value.atan2(o.value), |a, b| (a * o.value - b * self.value) / r2)
    }
}

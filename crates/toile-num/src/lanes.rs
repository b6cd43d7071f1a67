//! Several numbers worked on together.
//!
//! A kernel written for any [`Lanes`] runs on one `f64`, or through [`Wide`] on as many stencils at once as the processor's
//! registers hold. Everything here is inlined into the caller: only there is it known which instructions may be used.

use std::ops::{Add, Div, Index, Mul, Neg, Sub};

pub use pulp::{Simd, WithSimd};

/// How many numbers [`wide`] works on at once.
pub const LANES: usize = 4;

/// One number, or several side by side.
pub trait Lanes:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// `value` in every lane.
    fn like(self, value: f64) -> Self;
    /// Square root.
    fn sqrt(self) -> Self;
    /// `self · factor + term`, rounded once or twice, whichever is quicker.
    fn mul_add(self, factor: Self, term: Self) -> Self;
    /// Lane by lane `yes` where `self` ≥ 0, else `no`.
    fn choose(self, yes: Self, no: Self) -> Self;
    /// f of every lane, one after the other.
    fn each(self, f: impl Fn(f64) -> f64) -> Self;
    /// Magnitude.
    fn abs(self) -> Self;
}

impl Lanes for f64 {
    #[inline(always)]
    fn like(self, value: f64) -> Self {
        value
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        f64::sqrt(self)
    }
    #[inline(always)]
    fn mul_add(self, factor: Self, term: Self) -> Self {
        self * factor + term
    }
    #[inline(always)]
    fn choose(self, yes: Self, no: Self) -> Self {
        if self >= 0.0 { yes } else { no }
    }
    #[inline(always)]
    fn each(self, f: impl Fn(f64) -> f64) -> Self {
        f(self)
    }
    #[inline(always)]
    fn abs(self) -> Self {
        f64::abs(self)
    }
}

/// The numbers of one register, [`LANES`] of them.
#[derive(Clone, Copy, Debug)]
pub struct Wide<S: Simd>(S, S::f64s);

impl<S: Simd> Wide<S> {
    /// One number a lane.
    #[inline(always)]
    pub fn load(simd: S, values: &[f64; LANES]) -> Self {
        Self(simd, S::as_simd_f64s(values).0[0])
    }

    /// `value` in every lane.
    #[inline(always)]
    pub fn splat(simd: S, value: f64) -> Self {
        Self(simd, simd.splat_f64s(value))
    }

    /// The number of each lane.
    #[inline(always)]
    pub fn store(self) -> [f64; LANES] {
        let mut out = [0.0; LANES];
        S::as_mut_simd_f64s(&mut out).0[0] = self.1;
        out
    }
}

macro_rules! operator {
    ($operator:ident, $method:ident, $lanes:ident) => {
        impl<S: Simd> $operator for Wide<S> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                Self(self.0, self.0.$lanes(self.1, other.1))
            }
        }
    };
}

operator!(Add, add, add_f64s);
operator!(Sub, sub, sub_f64s);
operator!(Mul, mul, mul_f64s);
operator!(Div, div, div_f64s);

impl<S: Simd> Neg for Wide<S> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self(self.0, self.0.neg_f64s(self.1))
    }
}

impl<S: Simd> Lanes for Wide<S> {
    #[inline(always)]
    fn like(self, value: f64) -> Self {
        Self::splat(self.0, value)
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Self(self.0, self.0.sqrt_f64s(self.1))
    }
    #[inline(always)]
    fn mul_add(self, factor: Self, term: Self) -> Self {
        Self(self.0, self.0.mul_add_e_f64s(self.1, factor.1, term.1))
    }
    #[inline(always)]
    fn choose(self, yes: Self, no: Self) -> Self {
        let mask = self.0.greater_than_or_equal_f64s(self.1, self.0.splat_f64s(0.0));
        Self(self.0, self.0.select_f64s(mask, yes.1, no.1))
    }
    #[inline(always)]
    fn each(self, f: impl Fn(f64) -> f64) -> Self {
        let [a, b, c, d] = self.store();
        Self::load(self.0, &[f(a), f(b), f(c), f(d)])
    }
    #[inline(always)]
    fn abs(self) -> Self {
        Self(self.0, self.0.abs_f64s(self.1))
    }
}

/// Three coordinates of lanes.
#[derive(Clone, Copy, Debug)]
pub struct Triple<T>(pub [T; 3]);

impl<T: Lanes> Triple<T> {
    /// Scalar product.
    #[inline(always)]
    pub fn dot(self, other: Self) -> T {
        let ([a, b, c], [d, e, f]) = (self.0, other.0);
        c.mul_add(f, b.mul_add(e, a * d))
    }

    /// Vector product.
    #[inline(always)]
    pub fn cross(self, other: Self) -> Self {
        let ([a, b, c], [d, e, f]) = (self.0, other.0);
        Self([b.mul_add(f, -(c * e)), c.mul_add(d, -(a * f)), a.mul_add(e, -(b * d))])
    }

    /// `self · factor + term`.
    #[inline(always)]
    pub fn mul_add(self, factor: T, term: Self) -> Self {
        let ([a, b, c], [d, e, f]) = (self.0, term.0);
        Self([a.mul_add(factor, d), b.mul_add(factor, e), c.mul_add(factor, f)])
    }

    /// Length.
    #[inline(always)]
    pub fn norm(self) -> T {
        self.dot(self).sqrt()
    }
}

impl<T: Lanes> Add for Triple<T> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self([self[0] + other[0], self[1] + other[1], self[2] + other[2]])
    }
}

impl<T: Lanes> Sub for Triple<T> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self([self[0] - other[0], self[1] - other[1], self[2] - other[2]])
    }
}

impl<T: Lanes> Neg for Triple<T> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self([-self[0], -self[1], -self[2]])
    }
}

impl<T: Lanes> Mul<T> for Triple<T> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, factor: T) -> Self {
        Self([self[0] * factor, self[1] * factor, self[2] * factor])
    }
}

impl<T> Index<usize> for Triple<T> {
    type Output = T;
    #[inline(always)]
    fn index(&self, i: usize) -> &T {
        &self.0[i]
    }
}

/// Numbers in memory, one or several side by side at each place.
pub trait Entries<T> {
    /// How many places.
    fn count(&self) -> usize;
    /// What is at place `i`.
    fn at(&self, i: usize) -> T;
    /// Writes to place `i`.
    fn put(&mut self, i: usize, value: T);
}

impl Entries<f64> for [f64] {
    #[inline(always)]
    fn count(&self) -> usize {
        self.len()
    }
    #[inline(always)]
    fn at(&self, i: usize) -> f64 {
        self[i]
    }
    #[inline(always)]
    fn put(&mut self, i: usize, value: f64) {
        self[i] = value;
    }
}

/// [`LANES`] numbers at each place.
pub struct WideEntries<'a, S: Simd>(S, &'a mut [S::f64s]);

impl<'a, S: Simd> WideEntries<'a, S> {
    /// Places of [`LANES`] consecutive numbers.
    #[inline(always)]
    pub fn new(simd: S, values: &'a mut [f64]) -> Self {
        Self(simd, S::as_mut_simd_f64s(values).0)
    }
}

impl<S: Simd> Entries<Wide<S>> for WideEntries<'_, S> {
    #[inline(always)]
    fn count(&self) -> usize {
        self.1.len()
    }
    #[inline(always)]
    fn at(&self, i: usize) -> Wide<S> {
        Wide(self.0, self.1[i])
    }
    #[inline(always)]
    fn put(&mut self, i: usize, value: Wide<S>) {
        self.1[i] = value.1;
    }
}

/// Runs `op` with registers of [`LANES`] numbers, or gives it back where the processor has none.
#[inline(always)]
pub fn wide<Op: WithSimd>(op: Op) -> Result<Op::Output, Op> {
    #[cfg(target_arch = "x86_64")]
    if let Some(simd) = pulp::x86::V3::try_new() {
        return Ok(Simd::vectorize(simd, op));
    }
    Err(op)
}

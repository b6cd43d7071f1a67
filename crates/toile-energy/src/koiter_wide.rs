//! Koiter faces several at a time.
//!
//! Lane by lane the same arithmetic as for one face, up to the rounding of fused products.

use toile_geometry::measure::{FaceForms, FaceStencil, NormalRule};
use toile_num::lanes::{Entries, LANES, Lanes, Simd, Triple, Wide, WideEntries, WithSimd, wide};

use crate::koiter_law::{KoiterRest, linear_metric};
use crate::{Curvature, KoiterFace, Membrane, StencilEnergy, Together};

/// Faces that can be worked on together: of one rule, St Venant–Kirchhoff.
struct Faces<'a, const N: usize> {
    faces: [&'a KoiterFace; LANES],
    rests: [&'a KoiterRest; LANES],
    x: &'a [[f64; LANES]; N],
    before: Option<&'a [[f64; LANES]; N]>,
    normals: NormalRule,
}

impl<'a, const N: usize> Faces<'a, N> {
    fn new(all: &Together<'a, KoiterFace, N>) -> Option<Self>
    where
        KoiterFace: StencilEnergy<N, Rest = KoiterRest>,
    {
        let Together { energies: faces, rests, x, before } = *all;
        let normals = faces[0].normals;
        let alike =
            |f: &&KoiterFace| f.normals == normals && f.membrane == Membrane::StVenantKirchhoff;
        faces.iter().all(alike).then_some(Self { faces, rests, x, before, normals })
    }

    /// One number of the rest of each face.
    #[inline(always)]
    fn of_rest<S: Simd>(&self, simd: S, number: impl Fn(&KoiterRest) -> f64) -> Wide<S> {
        let [a, b, c, d] = self.rests;
        Wide::load(simd, &[number(a), number(b), number(c), number(d)])
    }

    /// One number of each face.
    #[inline(always)]
    fn of_face<S: Simd>(&self, simd: S, number: impl Fn(&KoiterFace) -> f64) -> Wide<S> {
        let [a, b, c, d] = self.faces;
        Wide::load(simd, &[number(a), number(b), number(c), number(d)])
    }

    /// A corner, or a vertex across.
    #[inline(always)]
    fn point<S: Simd>(simd: S, x: &[[f64; LANES]; N], i: usize) -> Triple<Wide<S>> {
        Triple([
            Wide::load(simd, &x[3 * i]),
            Wide::load(simd, &x[3 * i + 1]),
            Wide::load(simd, &x[3 * i + 2]),
        ])
    }

    #[inline(always)]
    fn forms<S: Simd>(&self, simd: S) -> FaceForms<Wide<S>> {
        let zero = Wide::splat(simd, 0.0);
        let mut stencil = FaceStencil {
            points: [Triple([zero; 3]); 6],
            fold: [zero; 3],
            turn: [zero; 3],
            turned: None,
        };
        for i in 0..6 {
            stencil.points[i] = Self::point(simd, self.x, i);
        }
        for m in 0..3 {
            stencil.fold[m] = self.of_face(simd, |f| f.edges[m].fold);
        }
        if N > 18 {
            let mut turned = [[zero; 2]; 3];
            for m in 0..3 {
                stencil.turn[m] = self.of_face(simd, |f| f.edges[m].turn);
                let angle = stencil.turn[m] * Wide::load(simd, &self.x[18 + m]);
                turned[m] = [angle.each(f64::sin), angle.each(f64::cos)];
            }
            stencil.turned = Some(turned);
        }
        stencil.close_borders();
        FaceForms::of(&stencil, self.normals)
    }

    #[inline(always)]
    fn rest<S: Simd>(&self, simd: S) -> KoiterRest<Wide<S>> {
        let zero = Wide::splat(simd, 0.0);
        let mut rest = KoiterRest {
            a_bar: [zero; 3],
            b_bar: [zero; 3],
            membrane: [[zero; 3]; 3],
            bending: [[zero; 3]; 3],
            area: zero, // the quadratic law does not need it
        };
        for i in 0..3 {
            rest.a_bar[i] = self.of_rest(simd, |r| r.a_bar[i]);
            rest.b_bar[i] = self.of_rest(simd, |r| r.b_bar[i]);
            for j in 0..=i {
                rest.membrane[i][j] = self.of_rest(simd, |r| r.membrane[i][j]);
                rest.membrane[j][i] = rest.membrane[i][j];
                rest.bending[i][j] = self.of_rest(simd, |r| r.bending[i][j]);
                rest.bending[j][i] = rest.bending[i][j];
            }
        }
        rest
    }
}

struct Energy<'a, const N: usize>(Faces<'a, N>);

impl<const N: usize> WithSimd for Energy<'_, N> {
    type Output = [f64; LANES];

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
        let (f, rest) = (self.0.forms(simd), self.0.rest(simd));
        rest.energy(&f).store()
    }
}

struct Gradient<'a, const N: usize>(Faces<'a, N>, &'a mut [f64]);

impl<const N: usize> WithSimd for Gradient<'_, N> {
    type Output = [f64; LANES];

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
        let (f, rest) = (self.0.forms(simd), self.0.rest(simd));
        let gradient = f.gradient::<N>(&rest.membrane_stress(&f.metric_lanes()), &rest.moment(&f));
        let mut out = WideEntries::new(simd, self.1);
        assert_eq!(out.count(), N);
        for i in 0..N {
            out.put(i, gradient[i]);
        }
        rest.energy(&f).store()
    }
}

struct Hessian<'a, const N: usize>(Faces<'a, N>, Curvature, &'a mut [f64]);

impl<const N: usize> WithSimd for Hessian<'_, N> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self(faces, curvature, out) = self;
        let (f, rest) = (faces.forms(simd), faces.rest(simd));
        let mut metric = f.metric_lanes();
        if let Some(before) = faces.before {
            let x = faces.x;
            let point = Faces::<N>::point;
            let now = [point(simd, x, 0), point(simd, x, 1), point(simd, x, 2)];
            let then = [point(simd, before, 0), point(simd, before, 1), point(simd, before, 2)];
            metric = linear_metric(&now, &then);
        }
        let (stress, moment) = (rest.membrane_stress(&metric), rest.moment(&f));
        let mut out = WideEntries::new(simd, out);
        rest.write_hessian::<N>(&f, stress, moment, rest.membrane, curvature, &mut out);
    }
}

/// The three of [`StencilEnergy`] that work on several faces together.
impl KoiterFace {
    pub(crate) fn energies<const N: usize>(faces: &Together<'_, Self, N>) -> Option<[f64; LANES]>
    where
        Self: StencilEnergy<N, Rest = KoiterRest>,
    {
        wide(Energy(Faces::new(faces)?)).ok()
    }

    pub(crate) fn gradients<const N: usize>(
        faces: &Together<'_, Self, N>,
        out: &mut [f64],
    ) -> Option<[f64; LANES]>
    where
        Self: StencilEnergy<N, Rest = KoiterRest>,
    {
        wide(Gradient(Faces::new(faces)?, out)).ok()
    }

    pub(crate) fn hessians<const N: usize>(
        faces: &Together<'_, Self, N>,
        curvature: Curvature,
        out: &mut [f64],
    ) -> bool
    where
        Self: StencilEnergy<N, Rest = KoiterRest>,
    {
        Faces::new(faces).is_some_and(|faces| wide(Hessian(faces, curvature, out)).is_ok())
    }
}

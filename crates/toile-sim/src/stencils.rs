//! Many stencils of one energy, and how the assembly sees them.

use std::ops::Range;

use toile_energy::{Curvature, StencilEnergy, Together};
use toile_num::lanes::LANES;
use toile_num::parallel::map;
use toile_num::{Dual, Matrix, Vector};

use crate::State;
use crate::assembly::{GradientSink, HessianSink};
use crate::mixed::MixedSink;

/// Marks a node a stencil does not have (the neighbour across a border).
pub const NO_NODE: u32 = u32::MAX;

/// What a group of stencils is for: loads are scaled by the load factor, elastic energies are not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Stores energy in the material or in a support.
    Elastic,
    /// Weight and other loads.
    Load,
}

/// A group of stencils with the energy hidden.
pub(crate) trait Stencils: Send + Sync {
    fn len(&self) -> usize;
    fn nodes(&self, element: usize) -> &[u32];
    /// Coordinates of each node of a stencil.
    fn node_sizes(&self) -> &'static [u8];
    fn is_linear(&self) -> bool;
    /// How many nodes the stiff part joins.
    fn core(&self) -> usize;
    fn energy(&self, state: &State, first: &[usize], elements: Range<usize>) -> f64;
    fn gradient(
        &self,
        state: &State,
        first: &[usize],
        elements: &[u32],
        sink: &mut GradientSink<'_>,
    );
    fn hessian(
        &self,
        state: &State,
        first: &[usize],
        elements: &[u32],
        before: Option<&State>,
        curvature: Curvature,
        sink: &mut HessianSink<'_>,
    );
    /// Recomputes what depends on the rest shape.
    fn set_rest(&mut self, rest: &State, first: &[usize]);
    /// ∂²E/∂x∂x̄ of the given stencils.
    fn mixed_hessian(
        &self,
        state: &State,
        rest: &State,
        first: &[usize],
        elements: &[u32],
        sink: &mut MixedSink<'_>,
    );
    /// Adds `scale` times the third derivative, contracted as in [`crate::Model::third_derivative`].
    fn third_derivative(
        &self,
        at: &Contraction<'_>,
        scale: f64,
        in_x: &mut [f64],
        in_rest: &mut [f64],
    );
    /// Names of the material parameters.
    fn material_names(&self) -> &'static [&'static str];
    /// λᵀ ∂²E/∂x∂p over the stencils whose first node is one of `among`, a number per parameter.
    fn material_product(
        &self,
        state: &State,
        rest: &State,
        first: &[usize],
        lambda: &[f64],
        among: &Range<u32>,
    ) -> Vec<f64>;
}

/// Where a third derivative is taken, and along what.
pub(crate) struct Contraction<'a> {
    pub(crate) state: &'a State,
    pub(crate) rest: &'a State,
    pub(crate) first: &'a [usize],
    /// Direction in x of the first derivative.
    pub(crate) p: &'a [f64],
    /// Directions in x and in x̄ of the second.
    pub(crate) along: (&'a [f64], &'a [f64]),
}

/// Three derivatives, one inside the other.
type Third = Dual<Dual<Dual<f64, 1>, 1>, 1>;

/// A number with its derivatives along three directions.
fn third(value: f64, [a, b, c]: [f64; 3]) -> Third {
    let flat = |v: f64, d: f64| Dual { value: v, partials: [d] };
    let inner = |v: f64, d: f64, e: f64| Dual { value: flat(v, d), partials: [flat(e, 0.0)] };
    Dual { value: inner(value, a, b), partials: [inner(c, 0.0, 0.0)] }
}

/// Stencils of one energy with `N` coordinates over `K` nodes.
pub(crate) struct Group<E: StencilEnergy<N>, const N: usize, const K: usize> {
    energies: Vec<E>,
    nodes: Vec<[u32; K]>,
    rests: Vec<E::Rest>,
}

impl<E: StencilEnergy<N>, const N: usize, const K: usize> Group<E, N, K> {
    pub(crate) fn new(energies: Vec<E>, nodes: Vec<[u32; K]>) -> Self {
        assert_eq!(energies.len(), nodes.len(), "one energy per stencil");
        assert_eq!(E::NODES.len(), K, "one size per node");
        Self { energies, nodes, rests: Vec::new() }
    }

    fn gather(state: &State, first: &[usize], nodes: &[u32; K]) -> Vector<N> {
        let mut x = Vector::<N>::zeros();
        let origin = first[nodes[0] as usize];
        let mut at = 0;
        for (k, &node) in nodes.iter().enumerate() {
            let size = E::NODES[k] as usize;
            if node != NO_NODE {
                let begin = first[node as usize];
                let out = &mut x.as_mut_slice()[at..at + size];
                if E::TRANSLATION_INVARIANT && size == 3 {
                    out.copy_from_slice(&state.relative(begin, origin));
                } else {
                    out.copy_from_slice(&state.coordinates()[begin..begin + size]);
                }
            }
            at += size;
        }
        x
    }

    /// Coordinates of the stencils of one group of lanes. The last group may be short: its lanes are filled up, so that a stencil is
    /// computed by the same arithmetic wherever it stands.
    fn gather_lanes(
        &self,
        state: &State,
        first: &[usize],
        group: &[u32; LANES],
        x: &mut [[f64; LANES]; N],
    ) {
        for (l, &e) in group.iter().enumerate() {
            let nodes = &self.nodes[e as usize];
            let origin = first[nodes[0] as usize];
            let mut at = 0;
            for (k, &node) in nodes.iter().enumerate() {
                let size = E::NODES[k] as usize;
                if node == NO_NODE {
                    x[at..at + size].iter_mut().for_each(|x| x[l] = 0.0);
                } else if E::TRANSLATION_INVARIANT && size == 3 {
                    let p = state.relative(first[node as usize], origin);
                    for c in 0..3 {
                        x[at + c][l] = p[c];
                    }
                } else {
                    let begin = first[node as usize];
                    for c in 0..size {
                        x[at + c][l] = state.coordinates()[begin + c];
                    }
                }
                at += size;
            }
        }
    }

    fn together<'a>(
        &'a self,
        group: &[u32; LANES],
        x: &'a [[f64; LANES]; N],
        before: Option<&'a [[f64; LANES]; N]>,
    ) -> Together<'a, E, N> {
        Together {
            energies: group.map(|e| &self.energies[e as usize]),
            rests: group.map(|e| &self.rests[e as usize]),
            x,
            before,
        }
    }
}

/// A group of lanes; where there are fewer, the last fills the others.
fn filled(group: &[u32]) -> [u32; LANES] {
    std::array::from_fn(|l| group[l.min(group.len() - 1)])
}

impl<E, const N: usize, const K: usize> Stencils for Group<E, N, K>
where
    E: StencilEnergy<N> + Send + Sync,
{
    fn len(&self) -> usize {
        self.nodes.len()
    }

    fn nodes(&self, element: usize) -> &[u32] {
        &self.nodes[element]
    }

    fn node_sizes(&self) -> &'static [u8] {
        E::NODES
    }

    fn is_linear(&self) -> bool {
        E::LINEAR
    }

    fn core(&self) -> usize {
        E::CORE
    }

    fn energy(&self, state: &State, first: &[usize], elements: Range<usize>) -> f64 {
        let one = |e: usize| {
            let x = Self::gather(state, first, &self.nodes[e]);
            self.energies[e].energy(&x, &self.rests[e])
        };
        if !E::TOGETHER {
            return elements.map(one).sum();
        }
        let mut x = [[0.0; LANES]; N];
        let mut sum = 0.0;
        for begin in elements.clone().step_by(LANES) {
            let end = (begin + LANES).min(elements.end);
            let group = std::array::from_fn(|l| (begin + l).min(end - 1) as u32);
            self.gather_lanes(state, first, &group, &mut x);
            sum += match E::energy_together(&self.together(&group, &x, None)) {
                Some(energies) => energies[..end - begin].iter().sum::<f64>(),
                None => (begin..end).map(one).sum::<f64>(),
            };
        }
        sum
    }

    fn gradient(
        &self,
        state: &State,
        first: &[usize],
        elements: &[u32],
        sink: &mut GradientSink<'_>,
    ) {
        let one = |e: usize, sink: &mut GradientSink<'_>| {
            let x = Self::gather(state, first, &self.nodes[e]);
            let gradient = self.energies[e].gradient(&x, &self.rests[e]);
            sink.take::<K, 1>(&self.nodes[e], E::NODES, gradient.as_slice());
            if sink.counts(self.nodes[e][0]) {
                sink.count(self.energies[e].energy(&x, &self.rests[e]));
            }
        };
        if !E::TOGETHER {
            return elements.iter().for_each(|&e| one(e as usize, sink));
        }
        let mut x = [[0.0; LANES]; N];
        let mut entries = [[0.0; LANES]; N];
        for elements in elements.chunks(LANES) {
            let group = filled(elements);
            self.gather_lanes(state, first, &group, &mut x);
            let together = self.together(&group, &x, None);
            let done = E::gradient_together(&together, entries.as_flattened_mut());
            for (l, &e) in elements.iter().enumerate() {
                let e = e as usize;
                if let Some(energies) = &done {
                    let entries = &entries.as_flattened()[l..];
                    sink.take::<K, LANES>(&self.nodes[e], E::NODES, entries);
                    if sink.counts(self.nodes[e][0]) {
                        sink.count(energies[l]);
                    }
                } else {
                    one(e, sink);
                }
            }
        }
    }

    fn hessian(
        &self,
        state: &State,
        first: &[usize],
        elements: &[u32],
        before: Option<&State>,
        curvature: Curvature,
        sink: &mut HessianSink<'_>,
    ) {
        let mut h = Matrix::<N, N>::zeros();
        let mut one = |e: usize, sink: &mut HessianSink<'_>| {
            let (energy, rest) = (&self.energies[e], &self.rests[e]);
            let x = Self::gather(state, first, &self.nodes[e]);
            let before = before.map(|before| Self::gather(before, first, &self.nodes[e]));
            energy.hessian_into(&x, before.as_ref(), rest, curvature, &mut h);
            sink.take::<N, K, 1>(e, &self.nodes[e], E::NODES, h.as_slice());
        };
        if !E::TOGETHER {
            return elements.iter().for_each(|&e| one(e as usize, sink));
        }
        let (mut x, mut x_before) = ([[0.0; LANES]; N], [[0.0; LANES]; N]);
        let mut entries = vec![0.0; N * N * LANES];
        for elements in elements.chunks(LANES) {
            let group = filled(elements);
            self.gather_lanes(state, first, &group, &mut x);
            if let Some(before) = before {
                self.gather_lanes(before, first, &group, &mut x_before);
            }
            let together = self.together(&group, &x, before.map(|_| &x_before));
            let done = E::hessian_together(&together, curvature, &mut entries);
            for (l, &e) in elements.iter().enumerate() {
                let e = e as usize;
                if done {
                    let nodes = &self.nodes[e];
                    sink.take::<N, K, LANES>(e, nodes, E::NODES, &entries[l..]);
                } else {
                    one(e, sink);
                }
            }
        }
    }

    fn set_rest(&mut self, rest: &State, first: &[usize]) {
        let one = |e: usize| self.energies[e].rest(&Self::gather(rest, first, &self.nodes[e]));
        self.rests = map(self.nodes.len(), 256, one);
    }

    fn mixed_hessian(
        &self,
        state: &State,
        rest: &State,
        first: &[usize],
        elements: &[u32],
        sink: &mut MixedSink<'_>,
    ) {
        for &e in elements {
            let e = e as usize;
            let x = Self::gather(state, first, &self.nodes[e]);
            let x_bar = Self::gather(rest, first, &self.nodes[e]);
            sink.take(e, self.energies[e].mixed_hessian(&x, &x_bar).as_slice());
        }
    }

    fn third_derivative(
        &self,
        at: &Contraction<'_>,
        scale: f64,
        in_x: &mut [f64],
        in_rest: &mut [f64],
    ) {
        let direction = |v: &[f64], nodes: &[u32; K]| {
            let mut out = Vector::<N>::zeros();
            let mut k = 0;
            for (&node, &size) in nodes.iter().zip(E::NODES) {
                for c in 0..size as usize {
                    if node != NO_NODE {
                        out[k] = v[at.first[node as usize] + c];
                    }
                    k += 1;
                }
            }
            out
        };
        for (nodes, energy) in self.nodes.iter().zip(&self.energies) {
            let x = Self::gather(at.state, at.first, nodes);
            let x_bar = Self::gather(at.rest, at.first, nodes);
            let p = direction(at.p, nodes);
            let [u, v] = [at.along.0, at.along.1].map(|d| direction(d, nodes));
            if p.amax() == 0.0 || (u.amax() == 0.0 && v.amax() == 0.0) {
                continue;
            }
            let mut k = 0;
            for (&node, &size) in nodes.iter().zip(E::NODES) {
                for c in 0..size as usize {
                    let own = k;
                    k += 1;
                    if node == NO_NODE {
                        continue;
                    }
                    let to = at.first[node as usize] + c;
                    for (rest, out) in [(false, &mut *in_x), (true, &mut *in_rest)] {
                        let unit =
                            |i: usize, side: bool| f64::from(u8::from(i == own && side == rest));
                        let lifted = Vector::<N, Third>::from_fn(|i, _| {
                            third(x[i], [p[i], u[i], unit(i, false)])
                        });
                        let lifted_bar = Vector::<N, Third>::from_fn(|i, _| {
                            third(x_bar[i], [0.0, v[i], unit(i, true)])
                        });
                        let e = energy.value(&lifted, &lifted_bar);
                        out[to] += scale * e.partials[0].partials[0].partials[0];
                    }
                }
            }
        }
    }

    fn material_names(&self) -> &'static [&'static str] {
        E::material_names()
    }

    fn material_product(
        &self,
        state: &State,
        rest: &State,
        first: &[usize],
        lambda: &[f64],
        among: &Range<u32>,
    ) -> Vec<f64> {
        let mut out = vec![0.0; E::material_names().len()];
        for (energy, nodes) in self.energies.iter().zip(&self.nodes) {
            if out.is_empty() || !among.contains(&nodes[0]) {
                continue;
            }
            let x = Self::gather(state, first, nodes);
            let x_bar = Self::gather(rest, first, nodes);
            let mut l = Vector::<N>::zeros();
            let mut at = 0;
            for (&node, &size) in nodes.iter().zip(E::NODES) {
                let size = size as usize;
                if node != NO_NODE {
                    let begin = first[node as usize];
                    l.as_mut_slice()[at..at + size].copy_from_slice(&lambda[begin..begin + size]);
                }
                at += size;
            }
            energy.add_material_product(&x, &x_bar, &l, &mut out);
        }
        out
    }
}

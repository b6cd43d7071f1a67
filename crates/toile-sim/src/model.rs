//! A model: unknowns, stencils, masses and supports, ready to be evaluated.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use toile_energy::{Curvature, StencilEnergy};
use toile_num::{Vector, parallel};
use toile_solve::{NodeGraph, Ordering, SymmetricPattern};

use crate::assembly::Assembly;
use crate::stencils::{Contraction, Group, Role, Stencils};
use crate::{MixedPattern, SimError, State};

/// Collects what a model is made of; [`ModelBuilder::build`] turns it into a [`Model`].
///
/// A node is a vertex (three coordinates) or an angle (one). Nodes are numbered in the order in which
/// they are added.
#[derive(Default)]
pub struct ModelBuilder {
    sizes: Vec<u8>,
    start: Vec<Vector<3>>,
    rest: Vec<Vector<3>>,
    masses: Vec<f64>,
    metric: Vec<f64>,
    levers: Vec<f64>,
    fixed: Vec<[bool; 3]>,
    groups: Vec<Box<dyn Stencils>>,
    roles: Vec<Role>,
    damping: Vec<f64>,
    ordering: Option<Ordering>,
}

impl ModelBuilder {
    /// An empty builder.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a vertex that starts at `start` and rests at `rest`; returns its node.
    pub fn vertex(&mut self, start: Vector<3>, rest: Vector<3>) -> u32 {
        self.node(3, start, rest)
    }

    /// Adds an angle that starts and rests at zero; returns its node.
    ///
    /// `inertia` \[kg·m²\] only weighs the angle against lengths when a step is limited; it stores
    /// no kinetic energy. `lever` \[m\] turns its moment into a force for the residual.
    pub fn angle(&mut self, inertia: f64, lever: f64) -> u32 {
        let node = self.node(1, Vector::zeros(), Vector::zeros());
        self.metric[node as usize] = inertia;
        self.levers[node as usize] = lever;
        node
    }

    fn node(&mut self, size: u8, start: Vector<3>, rest: Vector<3>) -> u32 {
        let node = self.sizes.len() as u32;
        self.sizes.push(size);
        self.start.push(start);
        self.rest.push(rest);
        self.masses.push(0.0);
        self.metric.push(0.0);
        self.levers.push(1.0);
        self.fixed.push([false; 3]);
        node
    }

    /// Adds mass \[kg\] to a vertex.
    pub fn add_mass(&mut self, node: u32, mass: f64) {
        self.masses[node as usize] += mass;
        self.metric[node as usize] += mass;
    }

    /// Lets a vertex start elsewhere.
    pub fn place(&mut self, node: u32, start: Vector<3>) {
        self.start[node as usize] = start;
    }

    /// Fixes a node where it starts.
    pub fn fix(&mut self, node: u32) {
        self.fixed[node as usize] = [true; 3];
    }

    /// Fixes single coordinates of a vertex where they start.
    pub fn fix_axes(&mut self, node: u32, axes: [bool; 3]) {
        for k in 0..3 {
            self.fixed[node as usize][k] |= axes[k];
        }
    }

    /// Adds stencils of one energy over `K` nodes each, [`crate::NO_NODE`] where a stencil has none.
    pub fn add<E, const N: usize, const K: usize>(
        &mut self,
        role: Role,
        energies: Vec<E>,
        nodes: Vec<[u32; K]>,
    ) where
        E: StencilEnergy<N> + Send + Sync + 'static,
    {
        if !energies.is_empty() {
            self.groups.push(Box::new(Group::<E, N, K>::new(energies, nodes)));
            self.roles.push(role);
            self.damping.push(0.0);
        }
    }

    /// How many groups of stencils there are so far.
    pub fn groups(&self) -> usize {
        self.groups.len()
    }

    /// Gives the groups from number `since` on an internal damping: their stresses gain so many seconds of the rate at which they change
    /// (Kelvin and Voigt). See [`Model::viscosity`].
    pub fn damp(&mut self, since: usize, seconds: f64) {
        self.damping[since..].fill(seconds);
    }

    /// Chooses the elimination order; by default the solver decides by size.
    pub fn ordering(&mut self, ordering: Ordering) {
        self.ordering = Some(ordering);
    }

    /// Analyses the pattern and prepares the rest quantities.
    ///
    /// Nodes no stencil touches are fixed: nothing says where they should go.
    pub fn build(mut self) -> Result<Model, SimError> {
        let mut touched = vec![false; self.sizes.len()];
        for group in self.groups.iter().filter(|g| !g.is_linear()) {
            for e in 0..group.len() {
                for &node in group.nodes(e) {
                    if node != crate::NO_NODE {
                        touched[node as usize] = true;
                    }
                }
            }
        }
        for (node, touched) in touched.iter().enumerate() {
            if !touched {
                self.fixed[node] = [true; 3];
            }
        }
        let vertices =
            (0..self.sizes.len() as u32).filter(|&v| self.sizes[v as usize] == 3).collect();
        let ordering = self.ordering.unwrap_or(Ordering::Auto);
        let assembly = Assembly::new(self.sizes.clone(), &self.groups, ordering)?;
        let n = assembly.pattern.n;
        let mut start = vec![0.0; n];
        let mut rest = vec![0.0; n];
        let mut masses = vec![0.0; n];
        let mut metric = vec![0.0; n];
        let mut levers = vec![1.0; n];
        let mut fixed = vec![false; n];
        for (node, &size) in self.sizes.iter().enumerate() {
            for k in 0..size as usize {
                let i = assembly.first[node] + k;
                start[i] = self.start[node][k];
                rest[i] = self.rest[node][k];
                masses[i] = self.masses[node];
                metric[i] = self.metric[node];
                levers[i] = self.levers[node];
                fixed[i] = self.fixed[node][k];
            }
        }
        let mut model = Model {
            assembly,
            groups: self.groups,
            roles: self.roles,
            damping: self.damping,
            start: State::new(start),
            rest: State::new(rest),
            masses,
            metric,
            levers,
            fixed,
            external: vec![0.0; n],
            load: 1.0,
            vertices,
        };
        model.refresh_rest();
        Ok(model)
    }
}

/// Unknowns, energies, loads and supports: everything a solver needs to know.
///
/// Unknowns are numbered in elimination order; [`Model::unknown`] tells where a node went.
pub struct Model {
    assembly: Assembly,
    groups: Vec<Box<dyn Stencils>>,
    roles: Vec<Role>,
    /// Of each group \[s\].
    damping: Vec<f64>,
    start: State,
    rest: State,
    masses: Vec<f64>,
    metric: Vec<f64>,
    levers: Vec<f64>,
    fixed: Vec<bool>,
    external: Vec<f64>,
    load: f64,
    vertices: Vec<u32>,
}

impl Model {
    /// Number of unknowns, fixed ones included.
    pub fn len(&self) -> usize {
        self.fixed.len()
    }

    /// Whether there is nothing to solve for.
    pub fn is_empty(&self) -> bool {
        self.fixed.iter().all(|f| *f)
    }

    /// The unknown that holds coordinate 0 of a node; its others follow.
    pub fn unknown(&self, node: u32) -> usize {
        self.assembly.first[node as usize]
    }

    /// The state in which the model was built.
    pub fn start(&self) -> &State {
        &self.start
    }

    /// Position of a vertex \[m\].
    pub fn position(&self, state: &State, node: u32) -> Vector<3> {
        let i = self.unknown(node);
        Vector::from_column_slice(&state.coordinates()[i..i + 3])
    }

    /// Positions of all vertices, in the order of [`Model::vertices`] \[m\].
    pub fn positions(&self, state: &State) -> Vec<Vector<3>> {
        self.vertices.iter().map(|&v| self.position(state, v)).collect()
    }

    /// Mass of each unknown \[kg\]; zero for angles.
    pub fn masses(&self) -> &[f64] {
        &self.masses
    }

    /// Weight of each unknown when steps are limited: its mass, or the inertia of an angle.
    pub fn metric(&self) -> &[f64] {
        &self.metric
    }

    /// What turns the gradient at each unknown into a force: one, or the lever of an angle \[m\].
    pub fn levers(&self) -> &[f64] {
        &self.levers
    }

    /// Number of vertices with mass or energy.
    pub fn vertex_count(&self) -> usize {
        self.vertices.len()
    }

    /// Nodes that are vertices.
    pub fn vertices(&self) -> &[u32] {
        &self.vertices
    }

    /// Diagonal of the box around all vertices \[m\].
    pub fn size(&self, state: &State) -> f64 {
        let mut bounds =
            [Vector::<3>::repeat(f64::INFINITY), Vector::<3>::repeat(f64::NEG_INFINITY)];
        for &node in &self.vertices {
            let p = self.position(state, node);
            bounds = [bounds[0].inf(&p), bounds[1].sup(&p)];
        }
        if self.vertices.is_empty() { 0.0 } else { (bounds[1] - bounds[0]).norm() }
    }

    /// Which unknowns do not move.
    pub fn fixed(&self) -> &[bool] {
        &self.fixed
    }

    /// Sets to zero what belongs to unknowns that do not move.
    pub fn clear_fixed(&self, values: &mut [f64]) {
        for (value, fixed) in values.iter_mut().zip(&self.fixed) {
            if *fixed {
                *value = 0.0;
            }
        }
    }

    /// Fixes or frees an unknown.
    pub fn set_fixed(&mut self, unknown: usize, fixed: bool) {
        self.fixed[unknown] = fixed;
    }

    /// Dead force on each unknown, at load factor one \[N\].
    pub fn external_mut(&mut self) -> &mut [f64] {
        &mut self.external
    }

    /// Sum of the loads at all unknowns, weight and external forces, at load factor one \[N\].
    pub fn load_vector(&self) -> Vec<f64> {
        let scales: Vec<f64> =
            self.roles.iter().map(|r| if *r == Role::Load { -1.0 } else { 0.0 }).collect();
        let mut out = vec![0.0; self.len()];
        // Loads are linear in x unless they follow the shape; at the start they are what they are.
        self.assembly.gradient(&self.groups, &scales, &self.start, false, &mut out);
        for (f, external) in out.iter_mut().zip(&self.external) {
            *f += external;
        }
        out
    }

    /// Factor on weight and external forces, 1 when built.
    pub fn set_load(&mut self, factor: f64) {
        self.load = factor;
    }

    /// The load factor.
    pub fn load(&self) -> f64 {
        self.load
    }

    /// Pattern of the Hessian.
    pub fn pattern(&self) -> &Arc<SymmetricPattern> {
        &self.assembly.pattern
    }

    /// Which nodes share a stencil.
    pub fn graph(&self) -> &NodeGraph {
        &self.assembly.graph
    }

    /// Which nodes the stiff part of a stencil joins: fewer than share one.
    pub fn core(&self) -> &NodeGraph {
        &self.assembly.core
    }

    /// First unknown of each node.
    pub fn first_unknowns(&self) -> &[usize] {
        &self.assembly.first
    }

    fn scales(&self) -> Vec<f64> {
        let scale = |role: &Role| if *role == Role::Load { self.load } else { 1.0 };
        self.roles.iter().map(scale).collect()
    }

    /// Moves the rest shape of a vertex; call [`Model::refresh_rest`] when all are moved.
    pub fn set_rest_position(&mut self, node: u32, position: Vector<3>) {
        let i = self.unknown(node);
        for k in 0..3 {
            self.rest.set(i + k, position[k]);
        }
    }

    /// The rest shape, in the order of the unknowns; rest angles are zero.
    pub fn rest(&self) -> &State {
        &self.rest
    }

    /// Replaces the whole rest shape; the pattern stays. Panics when it has not one entry per unknown.
    pub fn set_rest(&mut self, rest: &State) {
        assert_eq!(rest.len(), self.len(), "one rest coordinate per unknown");
        self.rest.clone_from(rest);
        self.refresh_rest();
    }

    /// Recomputes what the stencils derive from the rest shape.
    pub fn refresh_rest(&mut self) {
        for group in &mut self.groups {
            group.set_rest(&self.rest, &self.assembly.first);
        }
    }

    /// E(x) \[J\].
    pub fn energy(&self, state: &State) -> f64 {
        let mut total = 0.0;
        for (group, scale) in self.groups.iter().zip(self.scales()) {
            let first = &self.assembly.first;
            total += scale
                * parallel::ordered_sum(group.len(), |range| group.energy(state, first, range));
        }
        let work: f64 = self.external.iter().zip(state.coordinates()).map(|(f, x)| f * x).sum();
        total - self.load * work
    }

    /// ∂E/∂x \[N\] at all unknowns; at fixed ones it is minus the reaction of the support.
    pub fn gradient(&self, state: &State, out: &mut [f64]) {
        self.assembly.gradient(&self.groups, &self.scales(), state, false, out);
        for (g, f) in out.iter_mut().zip(&self.external) {
            *g -= self.load * f;
        }
    }

    /// [`Model::gradient`], and [`Model::energy`], which costs little beside it. The two sums of the energy differ by rounding:
    /// compare only what comes from one of them.
    pub fn energy_and_gradient(&self, state: &State, out: &mut [f64]) -> f64 {
        let energy = self.assembly.gradient(&self.groups, &self.scales(), state, true, out);
        let mut work = 0.0;
        for ((g, f), x) in out.iter_mut().zip(&self.external).zip(state.coordinates()) {
            *g -= self.load * f;
            work += f * x;
        }
        energy - self.load * work
    }

    /// ∂²E/∂x² \[N/m\] in the values of [`Model::pattern`]; fixed unknowns have rows of the identity.
    pub fn hessian(&self, state: &State, curvature: Curvature, values: &mut [f64]) {
        self.assemble_hessian(state, None, curvature, values);
    }

    /// [`Model::hessian`] with the membrane stress extrapolated from the state `before` the last move; see
    /// [`StencilEnergy::secant_hessian`].
    pub fn secant_hessian(
        &self,
        state: &State,
        before: &State,
        curvature: Curvature,
        values: &mut [f64],
    ) {
        self.assemble_hessian(state, Some(before), curvature, values);
    }

    fn assemble_hessian(
        &self,
        state: &State,
        before: Option<&State>,
        curvature: Curvature,
        values: &mut [f64],
    ) {
        let (scales, fixed) = (self.scales(), &self.fixed);
        self.assembly.hessian(&self.groups, &scales, state, before, curvature, fixed, values);
    }

    /// Whether the material resists being strained fast.
    pub fn is_viscous(&self) -> bool {
        self.damping.iter().any(|d| *d > 0.0)
    }

    /// Internal damping: the matrix C of the viscous forces −C ẋ \[N·s/m\], in the values of [`Model::pattern`]. Each material contributes
    /// its time of damping times its stiffness against strain, so C is positive semi-definite and does not resist rigid motions. Fixed unknowns
    /// have no rows.
    pub fn viscosity(&self, state: &State, values: &mut [f64]) {
        let (fixed, pattern) = (&self.fixed, &self.assembly.pattern);
        let material = Curvature::Material;
        self.assembly.hessian(&self.groups, &self.damping, state, None, material, fixed, values);
        for (unknown, _) in fixed.iter().enumerate().filter(|(_, fixed)| **fixed) {
            values[pattern.col_ptr[unknown]] = 0.0;
        }
    }

    /// Where the entries of ∂²E/∂x∂x̄ are: one column per rest coordinate.
    pub fn mixed_pattern(&self) -> MixedPattern {
        MixedPattern::new(&self.assembly.graph, &self.assembly.first)
    }

    /// ∂²E/∂x∂x̄ \[N/m\], row x, column x̄, in the values of [`Model::mixed_pattern`]; rows and columns of fixed
    /// unknowns included.
    pub fn mixed_hessian(&self, state: &State, pattern: &MixedPattern, values: &mut [f64]) {
        let (scales, rest) = (self.scales(), &self.rest);
        self.assembly.mixed_hessian(&self.groups, &scales, state, rest, pattern, values);
    }

    /// ∇²ψ (u, v) of ψ(x, x̄) = pᵀ ∂E/∂x: the third derivative of the energy contracted with p in x and with the direction (u, v) in
    /// (x, x̄), its part in x and its part in x̄.
    ///
    /// By dual numbers, stencil after stencil: for second-order inversion of small models, not for speed.
    pub fn third_derivative(
        &self,
        state: &State,
        p: &[f64],
        u: &[f64],
        v: &[f64],
        in_x: &mut [f64],
        in_rest: &mut [f64],
    ) {
        in_x.fill(0.0);
        in_rest.fill(0.0);
        let at =
            Contraction { state, rest: &self.rest, first: &self.assembly.first, p, along: (u, v) };
        for (group, scale) in self.groups.iter().zip(self.scales()) {
            group.third_derivative(&at, scale, in_x, in_rest);
        }
    }

    /// ∂²E/∂x² \[N/m\] as if nothing were fixed: its rows at fixed unknowns tell how supports pull at the rest.
    pub fn unsupported_hessian(&self, state: &State, values: &mut [f64]) {
        let free = vec![false; self.len()];
        let scales = self.scales();
        let exact = Curvature::Exact;
        self.assembly.hessian(&self.groups, &scales, state, None, exact, &free, values);
    }

    /// λᵀ ∂²E/∂x∂p for the material parameters p of the stencils whose first node is one of `among` (the vertices of
    /// a shell), by name. Stencils of one material in several groups add up.
    pub fn material_product(
        &self,
        state: &State,
        lambda: &[f64],
        among: Range<u32>,
    ) -> BTreeMap<&'static str, f64> {
        let mut sums = BTreeMap::new();
        for (group, scale) in self.groups.iter().zip(self.scales()) {
            let first = &self.assembly.first;
            let parts = group.material_product(state, &self.rest, first, lambda, &among);
            for (name, part) in group.material_names().iter().zip(parts) {
                *sums.entry(*name).or_insert(0.0) += scale * part;
            }
        }
        sums
    }
}

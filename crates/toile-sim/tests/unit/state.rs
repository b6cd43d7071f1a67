use toile_sim::State;

#[test]
fn steps_below_the_last_place_are_not_lost() {
    let mut state = State::new(vec![1.0; 6]);
    let mut next = state.clone();
    for _ in 0..1000 {
        state.advanced_into(&[1e-18, 0.0, 0.0, 0.0, 0.0, 0.0], 1.0, &mut next);
        std::mem::swap(&mut state, &mut next);
    }
    let difference = state.relative(0, 3);
    assert!((difference[0] - 1e-15).abs() < 1e-20, "{difference:?}");
}

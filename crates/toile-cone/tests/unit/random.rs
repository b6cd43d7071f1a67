pub(crate) use toile_cone::Random;

#[test]
fn moments_are_those_of_the_laws() {
    let mut random = Random::new(1);
    let n = 200_000;
    let (mut mean, mut square, mut even) = (0.0, 0.0, 0.0);
    for _ in 0..n {
        let x = random.normal();
        mean += x;
        square += x * x;
        even += random.uniform();
    }
    let n = f64::from(n);
    assert!((mean / n).abs() < 0.01 && (square / n - 1.0).abs() < 0.02);
    assert!((even / n - 0.5).abs() < 0.005);
}

use crate::random::Random;
use toile_contact::{Bounds, Bvh};

fn boxes(random: &mut Random, n: usize) -> Vec<Bounds> {
    let make = |random: &mut Random| {
        let p = random.point(1.0);
        Bounds::around([&p, &(p + random.point(0.1))])
    };
    (0..n).map(|_| make(random)).collect()
}

#[test]
fn every_overlapping_pair_is_found_once_before_and_after_a_refit() {
    let mut random = Random::new(3);
    for n in [0, 1, 4, 5, 9, 130, 517] {
        let mut all = boxes(&mut random, n);
        let mut tree = Bvh::new(&all);
        for _ in 0..2 {
            let mut found = Vec::new();
            for leaf in 0..tree.leaf_count() {
                tree.pairs_of_leaf(leaf, |i, j| found.push((i.min(j), i.max(j))));
            }
            found.sort_unstable();
            let mut expected = Vec::new();
            for i in 0..n {
                for j in i + 1..n {
                    if all[i].overlaps(&all[j]) {
                        expected.push((i as u32, j as u32));
                    }
                }
            }
            assert_eq!(found, expected, "{n} boxes");
            all = boxes(&mut random, n);
            tree.refit(|e| all[e as usize]);
        }
    }
}

#[test]
fn box_queries_and_nearest_elements_agree_with_looking_at_all() {
    let mut random = Random::new(5);
    let all = boxes(&mut random, 300);
    let tree = Bvh::new(&all);
    for _ in 0..50 {
        let p = random.point(1.5);
        let query = Bounds::around([&p, &(p + random.point(0.3))]);
        let mut found = Vec::new();
        tree.overlapping(&query, |e| found.push(e));
        found.sort_unstable();
        let expected: Vec<u32> = (0..300).filter(|&e| all[e as usize].overlaps(&query)).collect();
        assert_eq!(found, expected);

        let (_, d) = tree.nearest(&p, 100.0, |e| all[e as usize].distance_squared(&p)).unwrap();
        let least = all.iter().map(|b| b.distance_squared(&p)).fold(f64::MAX, f64::min);
        assert_eq!(d, least);
    }
}

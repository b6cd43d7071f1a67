use toile_solve::GeneralPattern;

#[test]
fn structural_rank_finds_the_longest_matching() {
    let rank = |n, col_ptr: &[usize], rows: &[usize]| {
        GeneralPattern::new(n, col_ptr.to_vec(), rows.to_vec()).unwrap().structural_rank()
    };
    assert_eq!(rank(0, &[0], &[]), 0);
    assert_eq!(rank(2, &[0, 0, 2], &[0, 1]), 1); // empty column
    assert_eq!(rank(3, &[0, 1, 2, 3], &[2, 0, 1]), 3); // permutation
    // Columns 0 and 1 both start on row 0 and only rearranging frees it for column 2.
    assert_eq!(rank(3, &[0, 2, 4, 5], &[0, 1, 0, 2, 0]), 3);
    // Three columns compete for rows 0 and 1.
    assert_eq!(rank(3, &[0, 2, 4, 6], &[0, 1, 0, 1, 0, 1]), 2);
}

#[test]
fn structural_rank_equals_exhaustive_search_on_every_four_by_four_pattern() {
    for bits in 0..1u32 << 16 {
        let column = |j: u32| (bits >> (4 * j)) & 15;
        // Sets of rows that the columns so far can occupy, one column after the other.
        let mut reachable = 1u32; // only the empty set
        for j in 0..4 {
            for taken in (0..16u32).rev().filter(|&t| reachable >> t & 1 == 1).collect::<Vec<_>>() {
                for row in (0..4).filter(|&i| column(j) & !taken & (1 << i) != 0) {
                    reachable |= 1 << (taken | 1 << row);
                }
            }
        }
        let best = (0..16u32).filter(|&t| reachable >> t & 1 == 1);
        let expected = best.map(u32::count_ones).max().unwrap() as usize;
        let (mut col_ptr, mut row_idx) = (vec![0], Vec::new());
        for j in 0..4 {
            row_idx.extend((0..4usize).filter(|&i| column(j) >> i & 1 == 1));
            col_ptr.push(row_idx.len());
        }
        let pattern = GeneralPattern::new(4, col_ptr, row_idx).unwrap();
        assert_eq!(pattern.structural_rank(), expected, "{pattern:?}");
    }
}

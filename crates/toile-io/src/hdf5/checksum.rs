//! The checksum of structures since format 2: Jenkins' lookup3.

/// Of bytes, from an initial value of zero. Reference: B. Jenkins, lookup3, 2006; in the public domain.
pub(super) fn lookup3(bytes: &[u8]) -> u32 {
    let start = 0xdead_beef_u32.wrapping_add(bytes.len() as u32);
    let mut state = [start; 3];
    let mut pieces = bytes.chunks(12).peekable();
    while let Some(piece) = pieces.next() {
        for (k, byte) in piece.iter().enumerate() {
            let part = u32::from(*byte) << (8 * (k % 4));
            state[k / 4] = state[k / 4].wrapping_add(part);
        }
        if pieces.peek().is_some() {
            mix(&mut state);
        } else {
            last(&mut state);
        }
    }
    state[2]
}

/// Six rounds: (target, other, turn).
fn mix([a, b, c]: &mut [u32; 3]) {
    for (turn_c, turn_a, turn_b) in [(4, 6, 8), (16, 19, 4)] {
        *a = a.wrapping_sub(*c) ^ c.rotate_left(turn_c);
        *c = c.wrapping_add(*b);
        *b = b.wrapping_sub(*a) ^ a.rotate_left(turn_a);
        *a = a.wrapping_add(*c);
        *c = c.wrapping_sub(*b) ^ b.rotate_left(turn_b);
        *b = b.wrapping_add(*a);
    }
}

fn last([a, b, c]: &mut [u32; 3]) {
    *c = (*c ^ *b).wrapping_sub(b.rotate_left(14));
    *a = (*a ^ *c).wrapping_sub(c.rotate_left(11));
    *b = (*b ^ *a).wrapping_sub(a.rotate_left(25));
    *c = (*c ^ *b).wrapping_sub(b.rotate_left(16));
    *a = (*a ^ *c).wrapping_sub(c.rotate_left(4));
    *b = (*b ^ *a).wrapping_sub(a.rotate_left(14));
    *c = (*c ^ *b).wrapping_sub(b.rotate_left(24));
}

// The colours of fields, the same as in the pictures of the report.

export type MapName = 'amount' | 'balance';

const STOPS: Record<MapName, [number, number, number][]> = {
  amount: [[0.25, 0.10, 0.40], [0.22, 0.35, 0.58], [0.14, 0.58, 0.56], [0.45, 0.80, 0.34], [0.98, 0.90, 0.20]],
  balance: [[0.13, 0.29, 0.62], [0.45, 0.65, 0.83], [0.90, 0.90, 0.89], [0.91, 0.60, 0.48], [0.68, 0.13, 0.17]],
};

export function stops(map: MapName) { return STOPS[map]; }

export function gradient(map: MapName): string {
  const css = STOPS[map].map(c => `rgb(${c.map(v => Math.round(255 * v)).join(' ')})`);
  return `linear-gradient(to right, ${css.join(', ')})`;
}

/** Three significant digits, without an exponent where that reads well. */
export function digits(value: number): string {
  if (value === 0 || !Number.isFinite(value)) return String(value);
  const size = Math.abs(value);
  if (size < 1e-3 || size >= 1e6) return value.toExponential(2);
  return value.toFixed(Math.max(0, 2 - Math.floor(Math.log10(size))));
}

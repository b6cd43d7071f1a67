// The record of a result: an index as JSON and arrays that are fetched when they are shown.

export interface FieldEntry { name: string; label: string; map: 'amount' | 'balance'; file?: string; range: [number | null, number | null] }
export interface LayerEntry {
  name: string; count: number; positions: string; fields: FieldEntry[];
  faces?: string; triangles?: number; starts?: string; strands?: number; radius?: number;
}
export interface BodyEntry { name: string; count: number; positions: string; faces: string }
export interface FramesEntry {
  label: string; layer: number; times: number[]; contacts: number[]; fields: FieldEntry[];
  bodies: { body: number; kind: 'rigid' | 'deforming' }[]; result_follows: boolean;
}
export interface Figure { key: string; value: string; ok: boolean | null; limit: string; meaning: string }
export interface Index {
  format: string; version: number; title: string; command: string; toile: string;
  state: 'running' | 'done'; doing: string;
  verdict?: { ok: boolean; word: string; reason: string } | null;
  figures?: Figure[]; plots?: { title: string; svg: string }[];
  timings?: [string, number][]; asked?: [string, string][]; notes?: string[];
  layers: LayerEntry[]; bodies: BodyEntry[];
  touches: { file: string; count: number } | null;
  metres_per_newton: number | null; largest_force: number | null;
  frames: FramesEntry | null;
}

/** Floats of one contact: point, normal, force, friction, slips. */
export const TOUCH = 11;

/** One moment, taken apart. */
export interface Frame {
  positions: Float32Array; fields: Float32Array[]; touches: Float32Array;
  bodies: { body: number; rows?: Float32Array; positions?: Float32Array }[];
}

const VERSION = 1;

export async function fetchIndex(): Promise<Index> {
  const answer = await fetch('api/index', { cache: 'no-store' });
  if (!answer.ok) throw new Error(await answer.text() || `the server answered ${answer.status}`);
  const index = await answer.json() as Index;
  if (index.format !== 'toile-view' || index.version !== VERSION) {
    throw new Error(`this page reads records of version ${VERSION}, the result has ${index.format} ${index.version}; run the command again`);
  }
  return index;
}

async function bytes(name: string): Promise<ArrayBuffer> {
  const answer = await fetch(`api/array/${name}`, { cache: 'no-store' });
  if (!answer.ok) throw new Error(`${name}: ${await answer.text() || answer.status}`);
  return answer.arrayBuffer();
}

export const floats = async (name: string) => new Float32Array(await bytes(name));
export const words = async (name: string) => new Uint32Array(await bytes(name));

/** Frames, fetched on demand; the latest used are kept. */
export class Frames {
  private kept = new Map<number, Promise<Frame>>();
  private static readonly MOST_BYTES = 256e6;

  get(index: Index, k: number): Promise<Frame> {
    const old = this.kept.get(k);
    if (old) {
      this.kept.delete(k);
      this.kept.set(k, old);
      return old;
    }
    const frame = this.fetch(index, k);
    frame.catch(() => this.kept.delete(k));
    this.kept.set(k, frame);
    const size = 4 * (3 + (index.frames?.fields.length ?? 0)) * (index.layers[index.frames?.layer ?? 0]?.count ?? 1);
    const most = Math.max(4, Math.floor(Frames.MOST_BYTES / size));
    for (const key of this.kept.keys()) {
      if (this.kept.size <= most) break;
      this.kept.delete(key);
    }
    return frame;
  }

  /** Begins to fetch a frame that will be wanted soon. */
  prepare(index: Index, k: number) {
    if (index.frames && k >= 0 && k < index.frames.times.length && !this.kept.has(k)) this.get(index, k).catch(() => {});
  }

  private async fetch(index: Index, k: number): Promise<Frame> {
    const frames = index.frames!;
    const data = await floats(`frame_${String(k).padStart(5, '0')}.bin`);
    const count = index.layers[frames.layer].count;
    let at = 0;
    const take = (n: number) => data.subarray(at, at += n);
    const positions = take(3 * count);
    const fields = frames.fields.map(() => take(count));
    const touches = take(TOUCH * frames.contacts[k]);
    const bodies = frames.bodies.map(({ body, kind }) => kind === 'rigid'
      ? { body, rows: take(12) }
      : { body, positions: take(3 * index.bodies[body].count) });
    if (at !== data.length) throw new Error(`frame ${k} has ${data.length} numbers where ${at} were expected`);
    return { positions, fields, touches, bodies };
  }
}

// One shape of the thing: a surface, or fibres as tubes.

import { Box3, BufferAttribute, BufferGeometry, Color, DynamicDrawUsage, Group, LineBasicMaterial, LineSegments, Mesh, Vector3, type Raycaster } from 'three';
import { edges, normals, shade, type Shade } from './material';
import type { LayerEntry } from './record';
import type { MapName } from './colour';

/** Front colours of layers, the first for the one that matters. */
export const TINTS = ['#4578a8', '#5b8f52', '#8d68a3', '#b8604f', '#8a8a3c'];
const BACK = new Color('#cc8f5c');
const SIDES = 6;
/** Beyond this many points fibres are lines. */
const MOST_TUBE_POINTS = 120_000;

export class Layer {
  readonly group = new Group();
  readonly tint: string;
  private shade: Shade;
  private geometry = new BufferGeometry();
  private wire: LineSegments | null = null;
  private wireShown = false;
  /** Positions per strand point, before they become tubes. */
  private starts: Uint32Array | null = null;
  private lines = false;
  positions: Float32Array;
  /** The field that is shown, one number per position. */
  shown: Float32Array | null = null;

  constructor(readonly entry: LayerEntry, place: number, positions: Float32Array, indices: Uint32Array, private radius: number) {
    this.tint = TINTS[place % TINTS.length];
    const front = new Color(this.tint);
    this.positions = positions;
    const isSurface = entry.faces !== undefined;
    this.shade = shade(front.clone(), isSurface ? front.clone().lerp(BACK, place === 0 ? 1 : 0.7) : front.clone());
    if (isSurface) {
      this.geometry.setIndex(new BufferAttribute(indices, 1));
      this.group.add(new Mesh(this.geometry, this.shade.material));
    } else {
      this.starts = indices;
      this.lines = entry.count > MOST_TUBE_POINTS;
      if (this.lines) this.group.add(new LineSegments(this.geometry, new LineBasicMaterial({ color: front })));
      else this.group.add(new Mesh(this.geometry, this.shade.material));
      this.buildStrandIndex();
    }
    for (const child of this.group.children) child.frustumCulled = false;
    this.move(positions);
    this.values(null);
  }

  private strands(): [number, number][] {
    const starts = this.starts!, out: [number, number][] = [];
    for (let i = 0; i < starts.length; i++) out.push([starts[i], i + 1 < starts.length ? starts[i + 1] : this.entry.count]);
    return out;
  }

  private buildStrandIndex() {
    const index: number[] = [];
    for (const [from, to] of this.strands()) {
      for (let i = from; i + 1 < to; i++) {
        if (this.lines) { index.push(i, i + 1); continue; }
        for (let k = 0; k < SIDES; k++) {
          const l = (k + 1) % SIDES, a = i * SIDES, b = (i + 1) * SIDES;
          index.push(a + k, a + l, b + l, a + k, b + l, b + k);
        }
      }
    }
    this.geometry.setIndex(new BufferAttribute(new Uint32Array(index), 1));
  }

  /** New positions. */
  move(positions: Float32Array) {
    this.positions = positions;
    const shown = this.starts && !this.lines ? this.tubes(positions) : positions;
    const old = this.geometry.getAttribute('position') as BufferAttribute | undefined;
    if (old && old.array.length === shown.length) {
      (old.array as Float32Array).set(shown);
      old.needsUpdate = true;
    } else {
      const attribute = new BufferAttribute(new Float32Array(shown), 3);
      attribute.setUsage(DynamicDrawUsage);
      this.geometry.setAttribute('position', attribute);
      if (this.wire) { this.group.remove(this.wire); this.wire.geometry.dispose(); this.wire = null; }
    }
    // Rays ask it where the layer is.
    this.geometry.boundingSphere = null;
    if (!this.lines) normals(this.geometry);
    if (this.wireShown) this.wireframe(true);
  }

  private tubes(p: Float32Array): Float32Array {
    const out = new Float32Array(p.length * SIDES);
    for (const [from, to] of this.strands()) {
      let sx = 1, sy = 0, sz = 0;
      for (let i = from; i < to; i++) {
        const a = 3 * Math.max(from, i - 1), b = 3 * Math.min(to - 1, i + 1);
        let tx = p[b] - p[a], ty = p[b + 1] - p[a + 1], tz = p[b + 2] - p[a + 2];
        const l = Math.hypot(tx, ty, tz) || 1; tx /= l; ty /= l; tz /= l;
        // The side follows the curve without turning about it.
        let d = sx * tx + sy * ty + sz * tz;
        let x = sx - d * tx, y = sy - d * ty, z = sz - d * tz;
        let m = Math.hypot(x, y, z);
        if (m < 1e-3) { const [hx, hy] = Math.abs(tx) < 0.6 ? [1, 0] : [0, 1]; d = hx * tx + hy * ty; x = hx - d * tx; y = hy - d * ty; z = -d * tz; m = Math.hypot(x, y, z) || 1; }
        sx = x / m; sy = y / m; sz = z / m;
        const ox = ty * sz - tz * sy, oy = tz * sx - tx * sz, oz = tx * sy - ty * sx;
        for (let k = 0; k < SIDES; k++) {
          const c = this.radius * Math.cos(2 * Math.PI * k / SIDES), s = this.radius * Math.sin(2 * Math.PI * k / SIDES);
          const at = 3 * (i * SIDES + k);
          out[at] = p[3 * i] + c * sx + s * ox;
          out[at + 1] = p[3 * i + 1] + c * sy + s * oy;
          out[at + 2] = p[3 * i + 2] + c * sz + s * oz;
        }
      }
    }
    return out;
  }

  /** Colours by a field, or plain with null. */
  values(values: Float32Array | null, map: MapName = 'amount', low = 0, high = 1) {
    this.shown = values;
    const count = this.geometry.getAttribute('position').count;
    const each = this.starts && !this.lines ? SIDES : 1;
    let attribute = this.geometry.getAttribute('value') as BufferAttribute | undefined;
    if (!attribute || attribute.count !== count) {
      attribute = new BufferAttribute(new Float32Array(count), 1);
      this.geometry.setAttribute('value', attribute);
    }
    if (values) {
      const array = attribute.array as Float32Array;
      if (each === 1) array.set(values);
      else for (let i = 0; i < count; i++) array[i] = values[Math.floor(i / each)];
      attribute.needsUpdate = true;
      this.shade.field(true, map, low, high);
    } else {
      this.shade.field(false);
    }
  }

  /** The vertex nearest to where a ray meets the layer, and how far along the ray that is. */
  pick(ray: Raycaster): { vertex: number; distance: number } | null {
    ray.params.Line.threshold = 2 * this.radius;
    const [hit] = ray.intersectObject(this.group.children[0], false);
    if (!hit) return null;
    const index = this.geometry.getIndex()!, each = this.starts && !this.lines ? SIDES : 1, p = new Vector3();
    const around = hit.face ? [hit.face.a, hit.face.b, hit.face.c] : [index.getX(hit.index ?? 0), index.getX((hit.index ?? 0) + 1)];
    let vertex = -1, least = Infinity;
    for (const corner of around) {
      const v = Math.floor(corner / each), away = p.fromArray(this.positions, 3 * v).distanceToSquared(hit.point);
      if (away < least) { least = away; vertex = v; }
    }
    return { vertex, distance: hit.distance };
  }

  wireframe(on: boolean) {
    this.wireShown = on;
    if (!on || this.starts) { if (this.wire) this.wire.visible = false; return; }
    if (!this.wire) {
      const lines = new BufferGeometry();
      lines.setAttribute('position', this.geometry.getAttribute('position'));
      lines.setIndex(new BufferAttribute(edges(this.geometry.getIndex()!.array, this.entry.count), 1));
      this.wire = new LineSegments(lines, new LineBasicMaterial({ color: 0x101418, transparent: true, opacity: 0.35 }));
      this.wire.frustumCulled = false;
      this.group.add(this.wire);
    }
    this.wire.visible = true;
  }

  box(): Box3 {
    const box = new Box3(), p = this.positions;
    const { min, max } = box;
    for (let i = 0; i < p.length; i += 3) {
      if (!Number.isFinite(p[i] + p[i + 1] + p[i + 2])) continue;
      min.x = Math.min(min.x, p[i]); max.x = Math.max(max.x, p[i]);
      min.y = Math.min(min.y, p[i + 1]); max.y = Math.max(max.y, p[i + 1]);
      min.z = Math.min(min.z, p[i + 2]); max.z = Math.max(max.z, p[i + 2]);
    }
    return box;
  }

  dispose() {
    this.geometry.dispose();
    this.shade.material.dispose();
    if (this.wire) { this.wire.geometry.dispose(); (this.wire.material as LineBasicMaterial).dispose(); }
  }
}

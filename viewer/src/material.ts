// How surfaces are shaded: two sides, one light at the eye's shoulder, and a field as colour.

import { BufferAttribute, BufferGeometry, ClampToEdgeWrapping, Color, DataTexture, DoubleSide, LinearFilter, RGBAFormat, ShaderMaterial } from 'three';
import { stops, type MapName } from './colour';

const textures = new Map<MapName, DataTexture>();

function texture(map: MapName): DataTexture {
  let found = textures.get(map);
  if (!found) {
    const wide = 256, colours = stops(map), data = new Uint8Array(4 * wide);
    for (let i = 0; i < wide; i++) {
      const at = i / (wide - 1) * (colours.length - 1), k = Math.min(Math.floor(at), colours.length - 2), f = at - k;
      for (let c = 0; c < 3; c++) data[4 * i + c] = Math.round(255 * (colours[k][c] * (1 - f) + colours[k + 1][c] * f));
      data[4 * i + 3] = 255;
    }
    found = new DataTexture(data, wide, 1, RGBAFormat);
    found.minFilter = found.magFilter = LinearFilter;
    found.wrapS = ClampToEdgeWrapping;
    found.needsUpdate = true;
    textures.set(map, found);
  }
  return found;
}

const VERTEX = `
attribute float value;
varying vec3 vNormal;
varying float vValue;
void main() {
  vNormal = normalMatrix * normal;
  vValue = value;
  gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
}`;

const FRAGMENT = `
uniform vec3 front, back;
uniform bool coloured;
uniform vec2 range;
uniform sampler2D map;
uniform float opacity;
varying vec3 vNormal;
varying float vValue;
void main() {
  vec3 n = normalize(vNormal) * (gl_FrontFacing ? 1.0 : -1.0);
  vec3 base = gl_FrontFacing ? front : back;
  if (coloured) base = texture2D(map, vec2((vValue - range.x) / max(range.y - range.x, 1e-30), 0.5)).rgb;
  vec3 light = normalize(vec3(-0.55, 0.65, 0.75));
  float lambert = max(dot(n, light), 0.0), fill = 0.5 + 0.5 * n.y;
  float shine = pow(max(dot(n, normalize(light + vec3(0.0, 0.0, 1.0))), 0.0), 40.0) * 0.12;
  gl_FragColor = vec4(base * (0.42 + 0.16 * fill + 0.52 * lambert) + shine, opacity);
}`;

export interface Shade { material: ShaderMaterial; field(on: false): void; field(on: true, map: MapName, low: number, high: number): void }

export function shade(front: Color, back: Color, opacity = 1): Shade {
  const material = new ShaderMaterial({
    vertexShader: VERTEX,
    fragmentShader: FRAGMENT,
    side: DoubleSide,
    transparent: opacity < 1,
    polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1,
    uniforms: {
      front: { value: front }, back: { value: back }, coloured: { value: false },
      range: { value: [0, 1] }, map: { value: texture('amount') }, opacity: { value: opacity },
    },
  });
  return {
    material,
    field(on: boolean, map?: MapName, low?: number, high?: number) {
      material.uniforms.coloured.value = on;
      if (on) {
        material.uniforms.map.value = texture(map!);
        material.uniforms.range.value = [low!, high!];
      }
    },
  };
}

/** Normals at vertices, weighted by the areas of the faces around. */
export function normals(geometry: BufferGeometry) {
  const p = geometry.getAttribute('position').array as Float32Array;
  const index = geometry.getIndex()!.array;
  let attribute = geometry.getAttribute('normal') as BufferAttribute | undefined;
  if (!attribute || attribute.array.length !== p.length) {
    attribute = new BufferAttribute(new Float32Array(p.length), 3);
    geometry.setAttribute('normal', attribute);
  }
  const n = attribute.array as Float32Array;
  n.fill(0);
  for (let i = 0; i < index.length; i += 3) {
    const a = 3 * index[i], b = 3 * index[i + 1], c = 3 * index[i + 2];
    const ux = p[b] - p[a], uy = p[b + 1] - p[a + 1], uz = p[b + 2] - p[a + 2];
    const vx = p[c] - p[a], vy = p[c + 1] - p[a + 1], vz = p[c + 2] - p[a + 2];
    const x = uy * vz - uz * vy, y = uz * vx - ux * vz, z = ux * vy - uy * vx;
    n[a] += x; n[a + 1] += y; n[a + 2] += z;
    n[b] += x; n[b + 1] += y; n[b + 2] += z;
    n[c] += x; n[c + 1] += y; n[c + 2] += z;
  }
  attribute.needsUpdate = true;
}

/** Every edge once, as pairs of vertices. */
export function edges(index: ArrayLike<number>, count: number): Uint32Array {
  const keys = new Float64Array(index.length);
  for (let i = 0; i < index.length; i += 3) {
    for (let k = 0; k < 3; k++) {
      const a = index[i + k], b = index[i + (k + 1) % 3];
      keys[i + k] = a < b ? a * count + b : b * count + a;
    }
  }
  keys.sort();
  const out = new Uint32Array(2 * keys.length);
  let n = 0;
  for (let i = 0; i < keys.length; i++) {
    if (i > 0 && keys[i] === keys[i - 1]) continue;
    out[n++] = Math.floor(keys[i] / count);
    out[n++] = keys[i] % count;
  }
  return out.slice(0, n);
}

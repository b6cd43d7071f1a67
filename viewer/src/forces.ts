// Contact forces as arrows; the cone of friction of the one under the pointer.

import { Color, ConeGeometry, CylinderGeometry, DoubleSide, Group, InstancedMesh, Matrix4, Mesh, MeshBasicMaterial, MeshLambertMaterial, Quaternion, Raycaster, Vector3 } from 'three';
import { digits } from './colour';
import { TOUCH } from './record';

const STICK = new Color('#2fa36b'), SLIP = new Color('#e8641f');
const Z = new Vector3(0, 0, 1);

function alongZ<G extends CylinderGeometry>(geometry: G): G {
  // Standing on z = 0.
  geometry.translate(0, 0.5, 0);
  geometry.rotateX(Math.PI / 2);
  return geometry;
}

export class Forces {
  readonly group = new Group();
  private shafts: InstancedMesh | null = null;
  private heads: InstancedMesh | null = null;
  private touches: Float32Array = new Float32Array();
  private scale = 0;
  private readonly shaft = alongZ(new CylinderGeometry(1, 1, 1, 8));
  private readonly head = alongZ(new ConeGeometry(2.4, 1, 10));
  private readonly material = new MeshLambertMaterial();
  private readonly cone: Mesh;
  private shownCone = -1;

  constructor() {
    const material = new MeshBasicMaterial({ color: 0xe0a020, transparent: true, opacity: 0.35, side: DoubleSide, depthWrite: false });
    const geometry = new ConeGeometry(1, 1, 48, 1, true);
    // Tip at the origin, opening along z.
    geometry.rotateX(-Math.PI / 2);
    geometry.translate(0, 0, 0.5);
    this.cone = new Mesh(geometry, material);
    this.cone.visible = false;
    this.group.add(this.cone);
  }

  get count() { return this.touches.length / TOUCH; }

  /** Shows contacts; `scale` in metres per newton, `width` of an arrow in metres. */
  show(touches: Float32Array, scale: number, width: number) {
    this.touches = touches;
    this.scale = scale;
    this.clear();
    this.hover(-1);
    const count = this.count;
    if (count === 0) return;
    this.shafts = new InstancedMesh(this.shaft, this.material, count);
    this.heads = new InstancedMesh(this.head, this.material, count);
    const matrix = new Matrix4(), turn = new Quaternion(), point = new Vector3(), force = new Vector3(), size = new Vector3();
    for (let i = 0; i < count; i++) {
      const t = TOUCH * i;
      point.set(touches[t], touches[t + 1], touches[t + 2]);
      force.set(touches[t + 6], touches[t + 7], touches[t + 8]).multiplyScalar(scale);
      const length = force.length();
      turn.setFromUnitVectors(Z, length > 0 ? force.clone().divideScalar(length) : Z);
      const head = Math.min(6 * width, 0.6 * length);
      const thin = length > 0 ? width : 0;
      matrix.compose(point, turn, size.set(thin, thin, Math.max(length - head, 1e-9)));
      this.shafts.setMatrixAt(i, matrix);
      point.addScaledVector(force, length > 0 ? (length - head) / length : 0);
      matrix.compose(point, turn, size.set(thin, thin, Math.max(head, 1e-9)));
      this.heads.setMatrixAt(i, matrix);
      const colour = touches[t + 10] > 0.5 ? SLIP : STICK;
      this.shafts.setColorAt(i, colour);
      this.heads.setColorAt(i, colour);
    }
    for (const mesh of [this.shafts, this.heads]) {
      mesh.frustumCulled = false;
      mesh.computeBoundingSphere();
      this.group.add(mesh);
    }
  }

  private clear() {
    for (const mesh of [this.shafts, this.heads]) {
      if (mesh) { this.group.remove(mesh); mesh.dispose(); }
    }
    this.shafts = this.heads = null;
  }

  /** Number of the arrow a ray meets, or −1. */
  pick(ray: Raycaster): number {
    const meshes = [this.shafts, this.heads].filter(m => m !== null);
    const hits = meshes.length ? ray.intersectObjects(meshes, false) : [];
    return hits.length ? hits[0].instanceId ?? -1 : -1;
  }

  /** Shows the cone of a contact and tells about it; whether something changed. */
  hover(i: number): boolean {
    if (i === this.shownCone) return false;
    this.shownCone = i;
    this.cone.visible = i >= 0;
    if (i >= 0) {
      const t = TOUCH * i, a = this.touches;
      const normal = new Vector3(a[t + 3], a[t + 4], a[t + 5]);
      // A little longer than the force, whose tip is then seen inside.
      const along = 1.25 * Math.max(0, this.parts(i)[0]) * this.scale;
      const wide = Math.max(a[t + 9] * along, 1e-9);
      this.cone.position.set(a[t], a[t + 1], a[t + 2]);
      this.cone.quaternion.setFromUnitVectors(Z, normal);
      this.cone.scale.set(wide, wide, Math.max(along, 1e-9));
    }
    return true;
  }

  /** Normal and tangential force in newtons. */
  parts(i: number): [number, number] {
    const t = TOUCH * i, a = this.touches;
    const along = a[t + 3] * a[t + 6] + a[t + 4] * a[t + 7] + a[t + 5] * a[t + 8];
    return [along, Math.hypot(...[0, 1, 2].map(k => a[t + 6 + k] - along * a[t + 3 + k]))];
  }

  /** Middle of an arrow. */
  middle(i: number): Vector3 {
    const t = TOUCH * i, a = this.touches;
    return new Vector3(...[0, 1, 2].map(k => a[t + k] + 0.5 * this.scale * a[t + 6 + k]) as [number, number, number]);
  }

  /** Number of the contact whose cone is shown, or −1. */
  get shown() { return this.shownCone; }

  words(i: number): string {
    const [along, across] = this.parts(i), mu = this.touches[TOUCH * i + 9];
    const used = mu > 0 && along > 0 ? `${(100 * across / (mu * along)).toFixed(1)} % of the friction (μ = ${digits(mu)}) is used: ${digits(mu * along - across)} N within the cone` : `μ = ${digits(mu)}`;
    return `contact ${i}: ${this.touches[TOUCH * i + 10] > 0.5 ? 'slips' : 'sticks'}\nnormal ${digits(along)} N, along the surface ${digits(across)} N\n${used}`;
  }
}

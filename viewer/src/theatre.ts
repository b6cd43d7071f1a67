// Camera, lights and drawing: one picture, or one for each layer side by side.

import { Box3, Color, DirectionalLight, Group, HemisphereLight, LinearSRGBColorSpace, MOUSE, PerspectiveCamera, Raycaster, Scene, Sphere, Spherical, Vector2, Vector3, WebGLRenderer } from 'three';
import { OrbitControls } from 'three/examples/jsm/controls/OrbitControls.js';

/** What is drawn in one cell: the layers to show there. */
export interface Cell { name: string; show: () => void }

/** Wide angle and nearly parallel, in degrees. */
const WIDE = 35, PARALLEL = 1.5;

export class Theatre {
  readonly scene = new Scene();
  readonly world = new Group();
  readonly camera = new PerspectiveCamera(WIDE, 1, 0.01, 100);
  readonly controls: OrbitControls;
  readonly renderer: WebGLRenderer;
  private cells: Cell[] = [];
  private wanted = false;
  private radius = 1;
  private readonly eyeLight = new DirectionalLight(0xffffff, 1.7);
  /** Called after every picture. */
  onDrawn: (() => void) | null = null;
  drawn = 0;
  /** Whether nobody has turned or shifted the view yet. */
  untouched = true;

  constructor(readonly canvas: HTMLCanvasElement) {
    this.renderer = new WebGLRenderer({ canvas, antialias: true });
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio, 2));
    this.renderer.outputColorSpace = LinearSRGBColorSpace;
    this.renderer.autoClear = false;
    this.camera.up.set(0, 0, 1);
    this.scene.add(this.world, new HemisphereLight(0xffffff, 0xa0a0a0, 1.9), this.eyeLight, this.eyeLight.target);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.mouseButtons = { LEFT: MOUSE.ROTATE, MIDDLE: MOUSE.ROTATE, RIGHT: MOUSE.PAN };
    this.controls.zoomSpeed = 1.4;
    this.controls.addEventListener('change', () => this.invalidate());
    this.controls.addEventListener('start', () => { this.untouched = false; });
    // Blender's habit: shift and the middle button shift the view.
    canvas.addEventListener('pointerdown', e => {
      this.controls.mouseButtons.MIDDLE = e.shiftKey ? MOUSE.PAN : e.ctrlKey ? MOUSE.DOLLY : MOUSE.ROTATE;
    }, { capture: true });
    new ResizeObserver(() => this.invalidate()).observe(canvas);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.invalidate());
  }

  setCells(cells: Cell[]) { this.cells = cells; this.invalidate(); }

  invalidate() {
    if (this.wanted) return;
    this.wanted = true;
    requestAnimationFrame(() => { this.wanted = false; this.draw(); });
  }

  /** Columns and rows of the cells. */
  private layout(): [number, number] {
    const n = Math.max(1, this.cells.length), wide = this.canvas.clientWidth, high = this.canvas.clientHeight;
    let best: [number, number] = [n, 1], most = 0;
    for (let columns = 1; columns <= n; columns++) {
      const rows = Math.ceil(n / columns), side = Math.min(wide / columns, high / rows);
      if (side > most * 1.05) { most = side; best = [columns, rows]; }
    }
    return best;
  }

  /** Places of the cells in CSS pixels, from the top left. */
  places(): { x: number; y: number; width: number; height: number }[] {
    const [columns, rows] = this.layout();
    const width = this.canvas.clientWidth / columns, height = this.canvas.clientHeight / rows;
    return this.cells.map((_, i) => ({ x: (i % columns) * width, y: Math.floor(i / columns) * height, width, height }));
  }

  draw() {
    const wide = this.canvas.clientWidth, high = this.canvas.clientHeight;
    if (wide === 0 || high === 0) return;
    const size = this.renderer.getSize(new Vector2());
    if (size.x !== wide || size.y !== high) this.renderer.setSize(wide, high, false);
    const paper = getComputedStyle(this.canvas.parentElement!).backgroundColor;
    const distance = this.camera.position.distanceTo(this.controls.target);
    this.camera.near = Math.max(distance - 6 * this.radius, distance * 1e-3);
    this.camera.far = distance + 12 * this.radius;
    this.eyeLight.position.copy(this.camera.position).addScaledVector(this.camera.up, 0.4 * distance);
    this.eyeLight.target.position.copy(this.controls.target);
    this.renderer.setScissorTest(false);
    this.renderer.setClearColor(new Color(paper));
    this.renderer.clear();
    this.renderer.setScissorTest(true);
    this.places().forEach((place, i) => {
      this.cells[i].show();
      this.camera.aspect = place.width / place.height;
      this.camera.updateProjectionMatrix();
      // three.js counts from the bottom.
      const y = high - place.y - place.height;
      this.renderer.setViewport(place.x, y, place.width, place.height);
      this.renderer.setScissor(place.x, y, place.width, place.height);
      this.renderer.clearDepth();
      this.renderer.render(this.scene, this.camera);
    });
    this.drawn++;
    this.onDrawn?.();
  }

  /** The cell under a point of the page and the ray through it. */
  ray(clientX: number, clientY: number): { cell: number; ray: Raycaster } | null {
    const box = this.canvas.getBoundingClientRect(), x = clientX - box.left, y = clientY - box.top;
    const places = this.places();
    const cell = places.findIndex(p => x >= p.x && x < p.x + p.width && y >= p.y && y < p.y + p.height);
    if (cell < 0) return null;
    const p = places[cell], ray = new Raycaster();
    this.camera.aspect = p.width / p.height;
    this.camera.updateProjectionMatrix();
    ray.setFromCamera(new Vector2(2 * (x - p.x) / p.width - 1, 1 - 2 * (y - p.y) / p.height), this.camera);
    return { cell, ray };
  }

  /** Where a place in the world is on the page, in the first cell. */
  project(point: Vector3): { x: number; y: number } {
    const p = this.places()[0], box = this.canvas.getBoundingClientRect();
    this.camera.aspect = p.width / p.height;
    this.camera.updateProjectionMatrix();
    const q = point.clone().project(this.camera);
    return { x: box.left + p.x + (q.x + 1) / 2 * p.width, y: box.top + p.y + (1 - q.y) / 2 * p.height };
  }

  /** Makes a box fill the view, from where the eye is. */
  frame(box: Box3, keepDirection = true) {
    if (box.isEmpty()) return;
    const sphere = box.getBoundingSphere(new Sphere());
    this.radius = Math.max(sphere.radius, 1e-6);
    const direction = keepDirection ? this.camera.position.clone().sub(this.controls.target) : new Vector3(0.42, -0.84, 0.36);
    if (direction.lengthSq() === 0) direction.set(0.42, -0.84, 0.36);
    this.controls.target.copy(sphere.center);
    this.camera.position.copy(sphere.center).addScaledVector(direction.normalize(), this.fitting());
    this.controls.update();
    this.invalidate();
  }

  private fitting(): number {
    const p = this.places()[0], half = Math.tan(this.camera.fov * Math.PI / 360);
    const narrow = p && p.height > 0 ? Math.min(1, p.width / p.height) : 1;
    return 1.02 * this.radius / (half * narrow);
  }

  /** While nobody minds: keeps a box in view. */
  keep(box: Box3) {
    if (!this.untouched || box.isEmpty() || this.kept.containsBox(box)) return;
    this.kept.union(box);
    this.frame(this.kept);
  }

  private readonly kept = new Box3();

  /** Looks along an axis: azimuth from +x towards +y, elevation above the horizon. */
  look(azimuth: number, elevation: number) {
    const distance = this.camera.position.distanceTo(this.controls.target);
    // Straight up or down the azimuth must not be lost.
    const e = Math.max(-Math.PI / 2 + 1e-4, Math.min(Math.PI / 2 - 1e-4, elevation));
    this.camera.position.copy(this.controls.target)
      .add(new Vector3(Math.cos(e) * Math.cos(azimuth), Math.cos(e) * Math.sin(azimuth), Math.sin(e)).multiplyScalar(distance));
    this.controls.update();
    this.invalidate();
  }

  /** Turns by angles, in radians. */
  orbit(azimuth: number, elevation: number) {
    const d = this.camera.position.clone().sub(this.controls.target);
    // Spherical measures from +y; up is z.
    const s = new Spherical().setFromVector3(new Vector3(d.x, d.z, -d.y));
    const az = Math.atan2(d.y, d.x) + azimuth, el = Math.PI / 2 - s.phi + elevation;
    this.look(az, el);
  }

  toggleParallel() {
    const before = Math.tan(this.camera.fov * Math.PI / 360);
    this.camera.fov = this.camera.fov === WIDE ? PARALLEL : WIDE;
    const after = Math.tan(this.camera.fov * Math.PI / 360);
    const d = this.camera.position.clone().sub(this.controls.target);
    this.camera.position.copy(this.controls.target).addScaledVector(d, before / after);
    this.controls.update();
    this.invalidate();
  }
}

// The viewer: from the record of a result to what is on the screen.

import './setup';
import './style.css';
import { Box3, Color, Matrix4, Mesh, BufferAttribute, BufferGeometry, Points, PointsMaterial, Vector3, type Raycaster } from 'three';
import { digits, gradient } from './colour';
import { Forces } from './forces';
import { Layer } from './layer';
import { normals, shade } from './material';
import { cursor, message, tell } from './panel';
import { fetchIndex, floats, Frames, words, type FieldEntry, type Index } from './record';
import { Theatre, type Cell } from './theatre';

const $ = <T extends HTMLElement>(id: string) => document.getElementById(id) as T;

class Viewer {
  private theatre = new Theatre($<HTMLCanvasElement>('canvas'));
  private index!: Index;
  private layers: Layer[] = [];
  private shown: boolean[] = [];
  private bodies: Mesh[] = [];
  private forces = new Forces();
  /** The vertex under the pointer. */
  private mark = new Points(new BufferGeometry().setAttribute('position', new BufferAttribute(new Float32Array(3), 3)),
    new PointsMaterial({ color: 0xff3d7f, size: 8, sizeAttenuation: false, depthTest: false }));
  private entry: FieldEntry | null = null;
  private frames = new Frames();
  private fieldCache = new Map<string, Float32Array>();
  private staticTouches: Float32Array = new Float32Array();
  /** Frame that is shown; the number of frames means the result after them. */
  private moment = 0;
  /** Whether somebody chose layers. */
  private chosen = false;
  private following = true;
  private playing = false;
  private field = '';
  private version = '';
  private busy = false;
  private again = false;
  firstPicture = 0;
  problems: string[] = [];

  async start() {
    this.mark.visible = false;
    this.mark.frustumCulled = false;
    this.mark.renderOrder = 1;
    this.theatre.world.add(this.forces.group, this.mark);
    this.theatre.onDrawn = () => this.drawn();
    this.controls();
    try {
      await this.load(await fetchIndex());
    } catch (error) {
      this.fail(error);
      return;
    }
    void this.follow();
  }

  private fail(error: unknown) {
    const text = error instanceof Error ? error.message : String(error);
    this.problems.push(text);
    message(text);
  }

  // ---- What there is ----

  /** Takes an index: everything anew if the shapes are others, else only what has grown. */
  private async load(index: Index) {
    const version = JSON.stringify([index.layers, index.bodies.map(b => b.count), index.state]);
    const first = this.index === undefined;
    this.index = index;
    tell(index);
    $<HTMLAnchorElement>('report').href = 'report.html';
    if (index.state === 'done') {
      void fetch('api/about').then(a => a.json()).then((about: { report: boolean }) => { $('report').hidden = !about.report; });
    }
    if (version !== this.version) {
      await this.shapes();
      this.version = version;
      if (first) this.theatre.frame(this.box(), false);
    }
    this.timeline();
    await this.show();
  }

  private async shapes() {
    const index = this.index;
    for (const layer of this.layers) { this.theatre.world.remove(layer.group); layer.dispose(); }
    for (const body of this.bodies) { this.theatre.world.remove(body); body.geometry.dispose(); }
    this.fieldCache.clear();
    const old = this.layers.map((l, i) => [l.entry.name, this.shown[i]] as const);
    const shared = new Map<string, Promise<Uint32Array>>();
    const indices = (name: string) => { if (!shared.has(name)) shared.set(name, words(name)); return shared.get(name)!; };
    const loaded = await Promise.all(index.layers.map(async entry => {
      const [positions, lists] = await Promise.all([floats(entry.positions), indices((entry.faces ?? entry.starts)!)]);
      if (positions.length !== 3 * entry.count) throw new Error(`${entry.positions} is damaged: run the command again`);
      return { entry, positions, lists };
    }));
    const size = this.sizeOf(loaded.map(l => l.positions));
    this.layers = loaded.map(({ entry, positions, lists }, i) =>
      new Layer(entry, i, positions, lists, Math.max(entry.radius ?? 0, 2e-3 * size)));
    this.shown = this.layers.map((l, i) => (this.chosen ? old.find(([name]) => name === l.entry.name)?.[1] : undefined) ?? i === 0);
    if (!this.shown.includes(true) && this.shown.length) this.shown[0] = true;
    this.bodies = await Promise.all(index.bodies.map(async body => {
      const [positions, faces] = await Promise.all([floats(body.positions), words(body.faces)]);
      const geometry = new BufferGeometry();
      geometry.setAttribute('position', new BufferAttribute(positions, 3));
      geometry.setAttribute('value', new BufferAttribute(new Float32Array(positions.length / 3), 1));
      geometry.setIndex(new BufferAttribute(faces, 1));
      normals(geometry);
      const mesh = new Mesh(geometry, shade(new Color('#a3a19d'), new Color('#8b8987')).material);
      mesh.frustumCulled = false;
      mesh.matrixAutoUpdate = false;
      return mesh;
    }));
    this.staticTouches = index.touches ? await floats(index.touches.file) : new Float32Array();
    for (const layer of this.layers) { this.theatre.world.add(layer.group); layer.wireframe($<HTMLInputElement>('wire').checked); }
    for (const body of this.bodies) this.theatre.world.add(body);
    this.layerList();
    this.fieldList();
    $('bodies-row').hidden = this.bodies.length === 0;
    this.cells();
  }

  private sizeOf(all: Float32Array[]): number {
    const box = new Box3(), p = new Vector3();
    for (const a of all) for (let i = 0; i < a.length; i += 3) box.expandByPoint(p.set(a[i], a[i + 1], a[i + 2]));
    return box.isEmpty() ? 1 : box.getSize(new Vector3()).length();
  }

  private box(): Box3 {
    const box = new Box3();
    this.layers.forEach((layer, i) => { if (this.shown[i]) box.union(layer.box()); });
    return box;
  }

  // ---- Lists ----

  private layerList() {
    const list = $('layers').querySelector('.list')!;
    list.replaceChildren(...this.layers.map((layer, i) => {
      const row = document.createElement('label'), box = document.createElement('input');
      row.className = 'check';
      box.type = 'checkbox';
      box.checked = this.shown[i];
      box.dataset.layer = layer.entry.name;
      box.onchange = () => { this.chosen = true; this.shown[i] = box.checked; this.fieldList(); this.cells(); void this.show(); };
      const swatch = document.createElement('span');
      swatch.className = 'swatch';
      swatch.style.background = layer.tint;
      const name = document.createElement('span');
      name.textContent = layer.entry.name;
      const count = document.createElement('span');
      count.className = 'count';
      count.textContent = layer.entry.strands !== undefined ? `${layer.entry.strands} ${layer.entry.strands === 1 ? 'fibre' : 'fibres'}` : `${layer.entry.count} vertices`;
      row.append(box, swatch, name, count);
      return row;
    }));
  }

  /** Fields of a layer at the moment that is shown. */
  private fieldsOf(i: number): FieldEntry[] {
    const frames = this.index.frames;
    return frames && frames.layer === i && this.moment < frames.times.length ? frames.fields : this.index.layers[i].fields;
  }

  private fieldList() {
    const select = $<HTMLSelectElement>('field'), names = new Map<string, string>();
    this.index.layers.forEach((layer, i) => {
      if (!this.shown[i]) return;
      const all = [...layer.fields, ...(this.index.frames?.layer === i ? this.index.frames.fields : [])];
      for (const f of all) names.set(f.name, f.label);
    });
    if (!names.has(this.field)) this.field = '';
    const option = (value: string, text: string) => { const o = document.createElement('option'); o.value = value; o.textContent = text; return o; };
    select.replaceChildren(option('', 'sides of the cloth'), ...[...names].map(([n, l]) => { const o = option(n, n); o.title = l; return o; }));
    select.value = this.field;
    $('colour').hidden = names.size === 0;
  }

  private cells() {
    const bodies = $<HTMLInputElement>('bodies'), forces = $<HTMLInputElement>('forces');
    const set = (visible: (i: number) => boolean) => {
      this.layers.forEach((layer, i) => { layer.group.visible = visible(i); });
      for (const body of this.bodies) body.visible = bodies.checked;
      this.forces.group.visible = forces.checked && visible(0);
    };
    const chosen = this.layers.map((_, i) => i).filter(i => this.shown[i]);
    const beside = $<HTMLInputElement>('beside').checked && chosen.length > 1;
    const cells: Cell[] = beside
      ? chosen.map(i => ({ name: this.layers[i].entry.name, show: () => set(k => k === i) }))
      : [{ name: '', show: () => set(i => this.shown[i]) }];
    this.theatre.setCells(cells);
    $('labels').replaceChildren(...cells.filter(c => c.name).map(cell => {
      const label = document.createElement('span');
      label.textContent = cell.name;
      return label;
    }));
  }

  /** Puts the names of the cells where the cells are. */
  private labels() {
    const places = this.theatre.places();
    [...$('labels').children].forEach((label, i) => {
      (label as HTMLElement).style.left = `${places[i].x + 10}px`;
      (label as HTMLElement).style.top = `${places[i].y + 8}px`;
    });
  }

  // ---- Time ----

  private last(): number {
    const frames = this.index.frames;
    if (!frames) return 0;
    return frames.result_follows && this.index.state === 'done' ? frames.times.length : frames.times.length - 1;
  }

  private timeline() {
    const frames = this.index.frames;
    $('time').hidden = !frames || this.last() < 1;
    if (!frames) { this.moment = 0; return; }
    if (this.following || this.moment > this.last()) this.moment = this.last();
    // A motion that is over is best seen from its start on, at its end.
    const scrub = $<HTMLInputElement>('scrub');
    scrub.max = String(this.last());
    scrub.value = String(this.moment);
  }

  goTo(moment: number) {
    this.moment = Math.max(0, Math.min(this.last(), Math.round(moment)));
    this.following = this.moment === this.last();
    $<HTMLInputElement>('scrub').value = String(this.moment);
    return this.show();
  }

  private async play() {
    this.playing = !this.playing;
    $('play').textContent = this.playing ? '❚❚' : '▶';
    if (!this.playing) return;
    if (this.moment >= this.last()) this.moment = 0;
    let clock = performance.now(), at = this.moment;
    while (this.playing) {
      await this.goTo(at);
      await new Promise(requestAnimationFrame);
      const frames = this.index.frames!, now = performance.now();
      const speed = Number($<HTMLSelectElement>('speed').value);
      const isTime = frames.label.startsWith('time');
      // In true time, frames that come too late are left out; without a clock ten a second.
      const span = isTime && frames.times.length > 1 ? (frames.times[frames.times.length - 1] - frames.times[0]) / (frames.times.length - 1) : 0.1;
      const steps = (now - clock) / 1e3 * speed / Math.max(span, 1e-6);
      if (steps >= 1) { at = this.moment + Math.floor(steps); clock = now - (steps % 1) * span * 1e3 / speed; }
      if (at > this.last()) {
        if (this.index.state === 'running') { at = this.last(); continue; }
        await this.goTo(this.last());
        this.playing = false;
        $('play').textContent = '▶';
      }
    }
  }

  // ---- Showing ----

  /** Brings what is chosen to the screen; calls that come meanwhile are served once at the end. */
  private async show(): Promise<void> {
    if (this.busy) { this.again = true; return; }
    this.busy = true;
    try {
      do { this.again = false; await this.showNow(); } while (this.again);
      message(this.layers.length ? null : 'Nothing to see yet.');
    } catch (error) {
      this.fail(error);
    } finally {
      this.busy = false;
    }
  }

  private async showNow() {
    const index = this.index, frames = index.frames, moment = this.moment;
    let touches: Float32Array = this.staticTouches;
    const moving = frames && frames.times.length > 0 && moment < frames.times.length ? frames : null;
    const frame = moving ? await this.frames.get(index, moment) : null;
    if (frames) {
      const layer = this.layers[frames.layer];
      if (frame) { layer.move(frame.positions); touches = frame.touches; }
      else layer.move(await this.array(index.layers[frames.layer].positions));
      for (let k = 1; k <= 3; k++) this.frames.prepare(index, moment + k);
    }
    for (const body of frame?.bodies ?? []) {
      const mesh = this.bodies[body.body];
      if (body.rows) {
        const r = body.rows;
        mesh.matrix = new Matrix4().set(r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7], r[8], r[9], r[10], r[11], 0, 0, 0, 1);
        mesh.matrixWorldNeedsUpdate = true;
      } else if (body.positions) {
        const attribute = mesh.geometry.getAttribute('position') as BufferAttribute;
        (attribute.array as Float32Array).set(body.positions);
        attribute.needsUpdate = true;
        normals(mesh.geometry);
      }
    }
    await this.paint(frame?.fields ?? null, moving ? frames!.layer : -1);
    const size = this.sizeOf([this.layers[0]?.positions ?? new Float32Array()]);
    const largest = index.largest_force;
    const scale = largest ? 0.2 * size / largest : index.metres_per_newton ?? 0;
    this.forces.show(touches, scale, 2.5e-3 * size);
    const any = index.touches !== null || (frames?.contacts.some(c => c > 0) ?? false);
    $('forces-row').hidden = !any;
    if (frames) {
      const label = frames.label.split(',');
      $('moment').textContent = moving
        ? `${label[0]} ${digits(moving.times[moment])}${label[1] ?? ''} · ${moment + 1}/${this.last() + 1}`
        : 'result';
    }
    cursor(moving ? frames!.label : '', moving ? moving.times[moment] : 0);
    this.unpoint();
    this.theatre.keep(this.box());
    this.theatre.invalidate();
  }

  private async array(name: string): Promise<Float32Array> {
    let found = this.fieldCache.get(name);
    if (!found) { found = await floats(name); this.fieldCache.set(name, found); }
    return found;
  }

  /** Colours the layers by the chosen field, all on one scale, and tells what the colours mean. */
  private async paint(moving: Float32Array[] | null, movingLayer: number) {
    let low = Infinity, high = -Infinity, entry: FieldEntry | null = null;
    const values: (Float32Array | null)[] = [];
    for (let i = 0; i < this.layers.length; i++) {
      const fields = this.fieldsOf(i), k = fields.findIndex(f => f.name === this.field);
      values[i] = null;
      if (k < 0 || !this.shown[i]) continue;
      entry = fields[k];
      values[i] = i === movingLayer && moving ? moving[k] : entry.file ? await this.array(entry.file) : null;
      low = Math.min(low, entry.range[0] ?? 0);
      high = Math.max(high, entry.range[1] ?? 1);
    }
    this.layers.forEach((layer, i) => layer.values(values[i], entry?.map, low, high));
    this.entry = entry;
    const legend = $('legend');
    legend.hidden = entry === null;
    if (entry) {
      legend.querySelector('.name')!.textContent = entry.label;
      legend.querySelector<HTMLElement>('.ramp')!.style.background = gradient(entry.map);
      const ends = legend.querySelectorAll('.ends span');
      [low, (low + high) / 2, high].forEach((v, k) => { ends[k].textContent = digits(v); });
    }
  }

  private drawn() {
    this.labels();
    if (this.firstPicture === 0 && this.layers.length) this.firstPicture = performance.now();
  }

  // ---- Hands ----

  private controls() {
    const redo = () => { this.cells(); void this.show(); };
    for (const id of ['beside', 'bodies', 'forces']) $(id).onchange = redo;
    $('wire').onchange = () => { for (const l of this.layers) l.wireframe($<HTMLInputElement>('wire').checked); this.theatre.invalidate(); };
    $('field').onchange = () => { this.field = $<HTMLSelectElement>('field').value; void this.show(); };
    $('scrub').oninput = () => { this.playing = false; $('play').textContent = '▶'; void this.goTo(Number($<HTMLInputElement>('scrub').value)); };
    $('play').onclick = () => void this.play();
    $('picture').onclick = () => void this.picture();
    $('stop').onclick = async () => {
      $<HTMLButtonElement>('stop').disabled = true;
      $('doing').textContent = 'stopping after this step …';
      await fetch('api/stop', { method: 'POST' }).catch(e => this.fail(e));
    };
    $('panel-toggle').onclick = () => this.panel();
    window.addEventListener('keydown', e => this.key(e));
    this.pointer();
  }

  private panel() { $('app').classList.toggle('narrow'); }

  private pointer() {
    let waiting = false;
    $('canvas').addEventListener('pointermove', e => {
      if (waiting || e.buttons) return;
      waiting = true;
      requestAnimationFrame(() => { waiting = false; this.point(e.clientX, e.clientY); });
    });
    $('canvas').addEventListener('pointerleave', () => this.unpoint());
    $('canvas').addEventListener('pointerdown', () => this.unpoint());
  }

  private point(x: number, y: number) {
    const on = this.theatre.ray(x, y);
    const forces = $<HTMLInputElement>('forces').checked && this.forces.count > 0;
    const i = on && forces ? this.forces.pick(on.ray) : -1;
    const vertex = on && i < 0 && this.entry ? this.vertex(on.cell, on.ray) : null;
    if (this.forces.hover(i)) this.theatre.invalidate();
    this.marked(vertex?.layer.positions.subarray(3 * vertex.vertex, 3 * vertex.vertex + 3) ?? null);
    const tip = $('tip');
    tip.hidden = i < 0 && !vertex;
    if (tip.hidden) return;
    const box = $('view').getBoundingClientRect();
    tip.textContent = vertex ? this.valueWords(vertex.layer, vertex.vertex) : this.forces.words(i);
    tip.style.left = `${Math.min(x - box.left + 40, box.width - 270)}px`;
    tip.style.top = `${Math.min(y - box.top + 24, box.height - 90)}px`;
  }

  /** The vertex with a value that a ray through a cell meets first, unless something is in front. */
  private vertex(cell: number, ray: Raycaster): { layer: Layer; vertex: number } | null {
    const chosen = this.layers.filter((_, i) => this.shown[i]);
    const beside = $<HTMLInputElement>('beside').checked && chosen.length > 1;
    let found: { layer: Layer; vertex: number } | null = null, least = Infinity;
    for (const layer of beside ? [chosen[cell]] : chosen) {
      const hit = layer.pick(ray);
      if (hit && hit.distance < least) { least = hit.distance; found = { layer, vertex: hit.vertex }; }
    }
    if (!found?.layer.shown) return null;
    const bodies = $<HTMLInputElement>('bodies').checked && this.bodies.length ? ray.intersectObjects(this.bodies, false) : [];
    return bodies.length && bodies[0].distance < least ? null : found;
  }

  /** The value of the field at a vertex, with its unit. */
  private valueWords(layer: Layer, vertex: number): string {
    const label = this.entry!.label, cut = label.lastIndexOf(', '), hasUnit = cut > 0 && label.length - cut < 10;
    const value = digits(layer.shown![vertex]);
    return `${hasUnit ? `${label.slice(0, cut)}: ${value} ${label.slice(cut + 2)}` : `${label}: ${value}`}\n${layer.entry.name}, ${layer.entry.strands === undefined ? 'vertex' : 'point'} ${vertex}`;
  }

  /** Marks a place, or none. */
  private marked(place: Float32Array | null) {
    if (!place && !this.mark.visible) return;
    this.mark.visible = place !== null;
    if (place) {
      const attribute = this.mark.geometry.getAttribute('position') as BufferAttribute;
      (attribute.array as Float32Array).set(place);
      attribute.needsUpdate = true;
    }
    this.theatre.invalidate();
  }

  /** Nothing is under the pointer, or it is not known any more what. */
  private unpoint() {
    if (this.forces.hover(-1)) this.theatre.invalidate();
    this.marked(null);
    $('tip').hidden = true;
  }

  private key(e: KeyboardEvent) {
    const target = e.target as HTMLElement;
    if (e.altKey || e.metaKey || target.tagName === 'SELECT') return;
    if (target.tagName === 'INPUT' && e.key.startsWith('Arrow')) return;
    const flip = e.ctrlKey ? Math.PI : 0, turn = Math.PI / 12, digit = e.code.replace(/^(Numpad|Digit)/, '');
    const views: Record<string, () => void> = {
      1: () => this.theatre.look(-Math.PI / 2 + flip, 0),
      3: () => this.theatre.look(0 + flip, 0),
      7: () => this.theatre.look(-Math.PI / 2, e.ctrlKey ? -Math.PI / 2 : Math.PI / 2),
      9: () => this.theatre.orbit(Math.PI, 0),
      5: () => this.theatre.toggleParallel(),
      4: () => this.theatre.orbit(-turn, 0),
      6: () => this.theatre.orbit(turn, 0),
      8: () => this.theatre.orbit(0, turn),
      2: () => this.theatre.orbit(0, -turn),
    };
    if (/^(Numpad|Digit)\d$/.test(e.code) && views[digit]) { this.theatre.untouched = false; views[digit](); }
    else if (e.ctrlKey) return;
    else if (e.code === 'NumpadDecimal' || e.key === '.' || e.key === 'Home') this.theatre.frame(this.box());
    else if (e.key === 'z' || e.key === 'Z') $('wire').click();
    else if (e.key === 'n' || e.key === 'N') this.panel();
    else if (e.key === 'p' || e.key === 'P') void this.picture();
    else if (e.key === ' ' && target.tagName !== 'BUTTON' && this.index?.frames) void this.play();
    else if (e.key === 'ArrowLeft' && this.index?.frames) void this.goTo(this.moment - 1);
    else if (e.key === 'ArrowRight' && this.index?.frames) void this.goTo(this.moment + 1);
    else return;
    this.unpoint();
    e.preventDefault();
  }

  /** Saves what is shown, with its legend, as PNG. */
  private async picture() {
    const blob = await this.pictureBlob();
    const link = document.createElement('a');
    link.href = URL.createObjectURL(blob);
    link.download = `${this.index.title.replace(/[^\w.-]+/g, '_')}.png`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  }

  pictureBlob(): Promise<Blob> {
    this.theatre.draw();
    const source = $<HTMLCanvasElement>('canvas'), canvas = document.createElement('canvas');
    canvas.width = source.width;
    canvas.height = source.height;
    const c = canvas.getContext('2d')!;
    c.drawImage(source, 0, 0);
    const s = source.width / source.clientWidth, style = getComputedStyle(document.body);
    c.font = `${13 * s}px ${style.fontFamily}`;
    c.fillStyle = style.color;
    c.fillText(this.index.title, 12 * s, 22 * s);
    const legend = $('legend');
    if (!legend.hidden) {
      const [x, y, w] = [canvas.width - 260 * s, canvas.height - 46 * s, 240 * s];
      const ramp = c.createLinearGradient(x, 0, x + w, 0);
      const colours = legend.querySelector<HTMLElement>('.ramp')!.style.background.match(/rgb\([^)]*\)/g) ?? [];
      colours.forEach((colour, i) => ramp.addColorStop(i / (colours.length - 1), colour));
      c.fillText(legend.querySelector('.name')!.textContent!, x, y - 6 * s);
      c.fillStyle = ramp;
      c.fillRect(x, y, w, 10 * s);
      c.fillStyle = style.color;
      const ends = [...legend.querySelectorAll('.ends span')].map(e => e.textContent!);
      c.textAlign = 'left'; c.fillText(ends[0], x, y + 26 * s);
      c.textAlign = 'right'; c.fillText(ends[2], x + w, y + 26 * s);
    }
    return new Promise((done, failed) => canvas.toBlob(b => b ? done(b) : failed(new Error('no picture')), 'image/png'));
  }

  // ---- Live ----

  /** Waits for news while the command runs. */
  private async follow() {
    let revision = -1;
    while (this.index.state === 'running') {
      try {
        const answer = await fetch(`api/wait?revision=${revision}`, { cache: 'no-store' });
        if (!answer.ok) throw new Error(await answer.text());
        const news = await answer.json() as { revision: number };
        if (news.revision === revision) continue;
        revision = news.revision;
        await this.load(await fetchIndex());
      } catch {
        // The command has ended, or was ended.
        $('doing').textContent = 'the command is gone; this is the last that was seen';
        $('stop').hidden = true;
        return;
      }
    }
  }

  // ---- For tests and measurements ----

  /** What is on the screen. */
  state() {
    return {
      ready: this.firstPicture > 0 && !this.busy,
      title: this.index?.title, running: this.index?.state,
      layers: this.layers.map((l, i) => ({ name: l.entry.name, shown: this.shown[i], count: l.entry.count })),
      moment: this.moment, moments: this.index ? this.last() + 1 : 0, field: this.field, forces: this.forces.count, cone: this.forces.shown,
      pictures: this.theatre.drawn, firstPicture: this.firstPicture, problems: this.problems,
      azimuth: Math.atan2(this.theatre.camera.position.y - this.theatre.controls.target.y, this.theatre.camera.position.x - this.theatre.controls.target.x),
    };
  }

  /** Where a vertex of a layer is on the page. */
  place(layer: number, vertex: number) {
    const p = this.layers[layer].positions;
    return this.theatre.project(new Vector3(p[3 * vertex], p[3 * vertex + 1], p[3 * vertex + 2]));
  }

  /** Where the middle of a contact's arrow is on the page. */
  arrow(i: number) { return this.theatre.project(this.forces.middle(i)); }

  /** Pictures per second while turning, over some seconds; every picture is finished before the next. */
  async rate(seconds: number): Promise<number> {
    const gl = this.theatre.renderer.getContext(), begun = performance.now();
    let count = 0;
    while (performance.now() - begun < 1e3 * seconds) {
      this.theatre.orbit(0.05, 0);
      this.theatre.draw();
      gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
      count++;
      await new Promise(requestAnimationFrame);
    }
    return 1e3 * count / (performance.now() - begun);
  }
}

const viewer = new Viewer();
(window as unknown as { toile: Viewer }).toile = viewer;
void viewer.start();

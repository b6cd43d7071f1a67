// The viewer in a real browser: what is shown is what was found.
// `node test/run.mjs` tests; `node test/run.mjs --measure` also measures; `--pictures DIR` keeps screenshots.

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { browser as launch, colours, end, folder, open, serve, settled, state, toile, write } from './browser.mjs';
import { measure } from './measure.mjs';

const pictures = process.argv.includes('--pictures') ? process.argv[process.argv.indexOf('--pictures') + 1] : null;
if (pictures) mkdirSync(pictures, { recursive: true });
const begun = Date.now();
const say = text => console.log(`${((Date.now() - begun) / 1e3).toFixed(1).padStart(6)} s  ${text}`);

const keep = async (page, name) => { if (pictures) writeFileSync(join(pictures, `${name}.png`), await page.screenshot()); };
const pick = (page, selector) => page.click(selector);
const quiet = page => assert.deepEqual(page.complaints, [], 'the page complains of nothing');
const isBlue = ([r, , b]) => b > r + 15;
const isWarm = ([r, , b]) => r > b + 15;
const differ = (a, b) => Math.abs(a[0] - b[0]) + Math.abs(a[1] - b[1]) + Math.abs(a[2] - b[2]) > 60;

/** Columns of a binary PLY whose vertices are nothing but doubles, by name. */
function columns(file) {
  const end = file.indexOf('end_header\n') + 11, head = file.subarray(0, end).toString('latin1').split('element face')[0];
  const names = [...head.matchAll(/^property double (\w+)$/gm)].map(m => m[1]), count = Number(head.match(/element vertex (\d+)/)[1]);
  const column = k => Array.from({ length: count }, (_, v) => file.readDoubleLE(end + 8 * (v * names.length + k)));
  return Object.fromEntries(names.map((name, k) => [name, column(k)]));
}

const SHEET = 'thickness = 1e-3\nareal_density = 0.2\nmaterial = { model = "koiter", young = 1e6, poisson = 0.3 }\n';

async function inversion(browser) {
  toile('demo', '--n', '36', '--quiet', '--out', 'demo');
  const certificate = JSON.parse(readFileSync(join(folder, 'demo', 'certificate.json'), 'utf8'));
  const { child, address } = await serve('view', 'demo', '--no-open');
  const page = await open(browser, address);
  await settled(page);
  let now = await state(page);
  assert.deepEqual(now.layers.map(l => l.name), ['equilibrium', 'target', 'rest shape', 'made as drawn']);
  assert.deepEqual(now.layers.map(l => l.shown), [true, false, false, false]);
  // The verdict is that of the certificate.
  assert.equal(certificate.verdict, 'certified');
  assert.match(await page.innerText('#verdict'), /certified/i);
  assert.ok((await page.innerText('#verdict')).includes(certificate.reason));
  assert.match(await page.innerText('#badge'), /certified/);
  assert.match(await page.innerText('#figures'), /residual/);
  assert.ok(await page.locator('#plots svg.plot').count() >= 2, 'plots of the search');
  // Cloth where a vertex is, in front of what it lies on; nothing in the corner.
  await page.keyboard.press('Digit1');
  await settled(page);
  const front = await page.evaluate(() => {
    const n = window.toile.layers[0].positions;
    // The vertex farthest to the front, in the lower half.
    let best = -1, least = Infinity;
    for (let v = 0; v < n.length / 3; v++) if (n[3 * v + 1] < least) { least = n[3 * v + 1]; best = v; }
    return window.toile.place(0, best);
  });
  const box = await page.locator('#canvas').boundingBox();
  const corner = { x: box.x + box.width - 30, y: box.y + 40 };
  const [cloth, empty] = await colours(page, [front, corner]);
  assert.ok(isBlue(cloth), `cloth is blue: ${cloth}`);
  assert.ok(differ(cloth, empty) && Math.min(...empty) > 220, `the corner is empty: ${empty}`);
  await keep(page, 'inversion-light');
  // Switching layers changes the picture.
  await pick(page, '[data-layer="equilibrium"]');
  await settled(page);
  const [gone] = await colours(page, [front]);
  assert.ok(!isBlue(gone), `without the layer its colour is gone: ${gone}`);
  await pick(page, '[data-layer="target"]');
  await settled(page);
  const [target] = await colours(page, [front]);
  assert.ok(target[1] > target[0] && target[1] > target[2], `the target is green: ${target}`);
  // Side by side: one label each.
  for (const name of ['equilibrium', 'rest shape', 'made as drawn']) await pick(page, `[data-layer="${name}"]`);
  await pick(page, '#beside');
  await settled(page);
  assert.deepEqual(await page.locator('#labels span').allInnerTexts(), ['equilibrium', 'target', 'rest shape', 'made as drawn']);
  await keep(page, 'beside-light');
  await pick(page, '#beside');
  for (const name of ['target', 'rest shape', 'made as drawn']) await pick(page, `[data-layer="${name}"]`);
  // A field with its legend: the waist is stretched, and shows it.
  await page.selectOption('#field', 'stretch');
  await settled(page);
  assert.ok(await page.locator('#legend').isVisible());
  assert.match(await page.innerText('#legend'), /stretch/);
  const [painted] = await colours(page, [front]);
  assert.ok(differ(painted, cloth), `the field paints: ${painted}`);
  // The value of a vertex is told under the pointer: that of the files.
  const maps = columns(readFileSync(join(folder, 'demo', 'maps.ply')));
  for (const [field, unit] of [['stretch', ''], ['stress', ' N/m'], ['residual', ' N']]) {
    await page.selectOption('#field', field);
    await settled(page);
    await page.mouse.move(front.x, front.y - 4); // a vertex of the hem: a little above it
    await page.waitForFunction(() => !document.getElementById('tip').hidden);
    const said = (await page.innerText('#tip')).match(/: (-?[\d.e+-]+)( N\/m| N)?\nequilibrium, vertex (\d+)$/);
    assert.ok(said && (said[2] ?? '') === unit, `${field}: ${await page.innerText('#tip')}`);
    const value = maps[field][Number(said[3])];
    assert.ok(Math.abs(value - Number(said[1])) <= 6e-3 * Math.abs(value) + 1e-12, `${field}: ${said[1]} on the page, ${value} in the file`);
    if (field === 'stress') await keep(page, 'value-light');
  }
  await page.mouse.move(5, 300);
  await page.selectOption('#field', 'friction used');
  await settled(page);
  await keep(page, 'friction-light');
  // Forces as arrows, the cone and figures of the one under the pointer.
  await pick(page, '#forces');
  await page.keyboard.press('Digit7');
  await settled(page);
  now = await state(page);
  assert.equal(now.forces, certificate.contacts);
  // Arrows of the rim are seen from above; some may be behind others.
  let told = '';
  for (let i = 0; i < now.forces && !told; i++) {
    const at = await page.evaluate(k => window.toile.arrow(k), i);
    await page.mouse.move(at.x, at.y);
    await page.waitForTimeout(60);
    if (await page.locator('#tip').isVisible()) told = await page.innerText('#tip');
  }
  assert.ok((await state(page)).cone >= 0, 'the cone of friction is shown');
  await page.mouse.move(5, 300);
  assert.match(told, /sticks[\s\S]*normal .* N[\s\S]*% of the friction \(μ = 0.7.*\) is used: .* N within the cone/);
  await keep(page, 'forces-light');
  // Keys: three looks along −x, five makes lines parallel, the period frames.
  await page.keyboard.press('Digit3');
  await settled(page);
  assert.ok(Math.abs((await state(page)).azimuth) < 1e-3);
  const before = (await state(page)).pictures;
  for (const key of ['Numpad5', 'NumpadDecimal', 'z', 'Numpad8', 'Numpad6']) await page.keyboard.press(key);
  await settled(page);
  assert.ok((await state(page)).pictures > before);
  assert.ok(await page.isChecked('#wire'));
  await keep(page, 'wireframe-light');
  // A picture to keep.
  const [download] = await Promise.all([page.waitForEvent('download'), pick(page, '#picture')]);
  const png = readFileSync(await download.path());
  assert.ok(png.length > 10_000 && png.subarray(1, 4).toString() === 'PNG', 'a picture of some size');
  assert.match(download.suggestedFilename(), /^invert_scene\.toml\.png$/);
  // The report is behind its link.
  await page.waitForSelector('#report:not([hidden])');
  const report = await browser.newPage();
  await report.goto(new URL('report.html', address).href);
  assert.match(await report.innerText('.verdict'), /certified/i);
  await report.close();
  quiet(page);
  await page.close();
  await strangers(browser, address);
  child.kill('SIGINT');
  assert.equal(await child.ended, 0, 'Ctrl-C ends it');
}

/** Pages of other origins get nothing. */
async function strangers(browser, address) {
  const page = await browser.newPage();
  await page.goto('about:blank');
  const got = await page.evaluate(async a => {
    try { return (await fetch(a + 'api/index')).status; } catch { return 'refused'; }
  }, address);
  assert.equal(got, 'refused');
  const wrong = address.replace(/[0-9a-f]{32}/, '0'.repeat(32));
  assert.equal((await page.goto(wrong)).status(), 403);
  await page.close();
}

async function motion(browser) {
  write('fall.toml', `[[shell]]\nmesh = { generate = "sheet", n = 11, size = 0.6 }\n${SHEET}
[[collider]]\nsphere = { center = [0, 0, -0.25], radius = 0.2 }\nfriction = 0.4\nmotion = { angular_velocity = [0, 0, 3.0] }
[time]\nstep = 0.02\nduration = 0.4\n`);
  toile('simulate', 'fall.toml', '--quiet', '--out', 'motion');
  const { child, address } = await serve('view', 'motion', '--no-open');
  const page = await open(browser, address, { colorScheme: 'dark' });
  await settled(page);
  let now = await state(page);
  assert.equal(now.moments, 21);
  assert.equal(now.moment, 20, 'it opens at the end');
  assert.ok(now.forces > 0, 'the sheet lies on the ball');
  const lowest = () => page.evaluate(() => {
    let z = Infinity;
    const p = window.toile.layers[0].positions;
    for (let i = 2; i < p.length; i += 3) z = Math.min(z, p[i]);
    return z;
  });
  const end = await lowest();
  // Scrubbing moves the cloth.
  await page.locator('#scrub').fill('0');
  await settled(page);
  assert.equal((await state(page)).moment, 0);
  const first = await lowest();
  assert.ok(Math.abs(first) < 1e-6 && end < first - 0.05, `it fell from ${first} to ${end}`);
  assert.match(await page.innerText('#moment'), /time 0/);
  const cursors = () => page.locator('#plots line.cursor').evaluateAll(all => all.map(line => Number(line.getAttribute('x1'))));
  const early = await cursors();
  await page.keyboard.press('ArrowRight');
  await settled(page);
  assert.equal((await state(page)).moment, 1);
  const later = await cursors();
  assert.ok(early.length >= 2 && later.every((x, i) => x > early[i]), `the plots show the time: ${early}, ${later}`);
  // Playing goes through all of it.
  await pick(page, '#play');
  await page.waitForFunction(() => { const s = window.toile.state(); return s.moment === s.moments - 1; }, null, { timeout: 20_000 });
  await page.selectOption('#field', 'stress');
  await pick(page, '#forces');
  await settled(page);
  assert.match(await page.innerText('#plots'), /Energies/);
  // The dark page is dark.
  const box = await page.locator('#canvas').boundingBox();
  const [dark] = await colours(page, [{ x: box.x + 20, y: box.y + 20 }]);
  assert.ok(Math.max(...dark) < 80, `dark: ${dark}`);
  await keep(page, 'motion-dark');
  quiet(page);
  await page.close();
  child.kill('SIGINT');
  await child.ended;
}

async function fibresAndScenes(browser) {
  write('curl.toml', `[[rod]]\nmodel = "super-clothoid"\nelements = 20\nlength = 0.4\nbending_stiffness = [1.0e-6, 1.0e-6]
twisting_stiffness = 7.0e-7\nlinear_density = 2.0e-5\nnatural_curvature = { k1 = [30.0], k2 = [0.0], twist = [12.0] }
clamp = { position = [0, 0, 0], d1 = [1, 0, 0], d2 = [0, -1, 0], d3 = [0, 0, -1] }\n`);
  toile('drape', 'curl.toml', '--quiet', '--out', 'curl');
  let served = await serve('view', 'curl', '--no-open');
  let page = await open(browser, served.address);
  await settled(page);
  assert.deepEqual((await state(page)).layers.map(l => l.name), ['equilibrium', 'natural shape']);
  const middle = await page.evaluate(() => window.toile.place(0, 40));
  const [fibre] = await colours(page, [middle]);
  assert.ok(isBlue(fibre), `a fibre where it should be: ${fibre}`);
  await page.selectOption('#field', 'curvature');
  await pick(page, '[data-layer="natural shape"]');
  await settled(page);
  await keep(page, 'curl-light');
  quiet(page);
  await page.close();
  served.child.kill('SIGINT');
  // A scene that was not solved yet; its back shows from below.
  write('start.toml', `[[shell]]\nmesh = { generate = "sheet", n = 5, size = 1.0 }\n${SHEET}pins = { vertices = [0, 4] }\n`);
  served = await serve('view', 'start.toml', '--no-open');
  page = await open(browser, served.address);
  await settled(page);
  assert.match(await page.innerText('#verdict'), /not solved yet/i);
  const center = await page.evaluate(() => window.toile.place(0, 12));
  const [above] = await colours(page, [center]);
  await page.keyboard.press('Control+Numpad7');
  await settled(page);
  const [below] = await colours(page, [await page.evaluate(() => window.toile.place(0, 12))]);
  assert.ok(isBlue(above) && isWarm(below), `two sides: ${above} above, ${below} below`);
  quiet(page);
  await page.close();
  served.child.kill('SIGINT');
}

async function live(browser) {
  write('long.toml', `[[shell]]\nmesh = { generate = "sheet", n = 9, size = 0.6 }\n${SHEET}pins = { vertices = [0, 8] }
[time]\nstep = 0.005\nduration = 100.0\n`);
  const { child, address, said } = await serve('simulate', 'long.toml', '--out', 'long', '--view', '--no-open');
  const page = await open(browser, address);
  assert.match(await page.innerText('#badge'), /running/);
  await page.waitForFunction(() => window.toile.state().moments > 3, null, { timeout: 30_000 });
  const early = await state(page);
  await page.waitForFunction(n => window.toile.state().moments > n + 3, early.moments, { timeout: 30_000 });
  assert.ok((await state(page)).moment > early.moment, 'it follows the newest frame');
  await keep(page, 'live-light');
  await pick(page, '#stop');
  await page.waitForFunction(() => window.toile.state().running === 'done', null, { timeout: 30_000 });
  assert.match(await page.innerText('#verdict'), /stopped/i);
  assert.match(said(), /stopped on request/);
  // The command stays until the page has been looked at; Ctrl-C ends it, with the code of a run that was stopped.
  child.kill('SIGINT');
  assert.equal(await child.ended, 1);
  quiet(page);
  await page.close();
}

async function liveInversion(browser) {
  // Fine enough that somebody could watch.
  toile('demo', '--n', '36', '--quiet', '--out', 'drawn');
  const { child, address } = await serve('invert', 'drawn/scene.toml', '--out', 'made', '--view', '--no-open');
  const page = await open(browser, address);
  await page.waitForFunction(() => window.toile.state().running === 'done', null, { timeout: 60_000 });
  await settled(page);
  const now = await state(page);
  assert.match(await page.innerText('#verdict'), /certified/i);
  assert.deepEqual(now.layers.map(l => l.name), ['equilibrium', 'target', 'rest shape', 'made as drawn']);
  assert.ok(now.moments > 1, 'the rest shapes of the search are kept');
  assert.equal(await page.innerText('#moment'), 'result');
  // At the start of the search the target is its own rest shape; at its end it is not.
  await pick(page, '[data-layer="rest shape"]');
  const apart = () => page.evaluate(() => {
    const [a, b] = [window.toile.layers[1].positions, window.toile.layers[2].positions];
    return Math.max(...a.map((v, i) => Math.abs(v - b[i])));
  });
  const end = await apart();
  await page.locator('#scrub').fill('0');
  await settled(page);
  assert.ok(await apart() < end && end > 1e-3, `the rest shape moves: ${end}`);
  quiet(page);
  await page.close();
  child.kill('SIGINT');
  assert.equal(await child.ended, 0);
}

async function liveDrape(browser) {
  write('hang.toml', `[[shell]]\nmesh = { generate = "sheet", n = 41, size = 0.6 }\n${SHEET}pins = { vertices = [0, 40] }\n`);
  const { child, address } = await serve('drape', 'hang.toml', '--out', 'hang', '--view', '--no-open');
  const page = await open(browser, address, { colorScheme: 'dark' });
  await page.waitForFunction(() => window.toile.state().running === 'done', null, { timeout: 60_000 });
  await settled(page);
  assert.match(await page.innerText('#verdict'), /certified/i);
  assert.match(await page.innerText('#plots'), /Convergence/);
  assert.equal((await state(page)).layers[0].name, 'equilibrium');
  await page.selectOption('#field', 'stress');
  await settled(page);
  const middle = await page.evaluate(() => window.toile.place(0, 20 * 41 + 20));
  await page.mouse.move(middle.x, middle.y);
  await page.waitForFunction(() => !document.getElementById('tip').hidden);
  assert.match(await page.innerText('#tip'), /largest tension in the cloth: [\d.]+ N\/m/);
  await keep(page, 'drape-dark');
  quiet(page);
  await page.close();
  child.kill('SIGINT');
  assert.equal(await child.ended, 0);
}

let failed = false;
const window_ = await launch();
try {
  for (const test of [inversion, motion, fibresAndScenes, live, liveInversion, liveDrape]) {
    await test(window_);
    say(`${test.name}: ok`);
  }
  if (process.argv.includes('--measure')) await measure(window_, say);
} catch (error) {
  failed = true;
  console.error(error);
} finally {
  await window_.close();
  end();
}
process.exit(failed ? 1 : 0);

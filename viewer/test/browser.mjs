// Results, servers and a browser for the tests.

import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

export const TOILE = process.env.TOILE ?? new URL('../../target/release/toile', import.meta.url).pathname;
export const folder = mkdtempSync(join(tmpdir(), 'toile-viewer-'));
const running = new Set();

export function write(name, text) {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

/** Runs toile to its end; exit codes 0 and 1 are results. */
export function toile(...args) {
  const done = spawnSync(TOILE, args, { cwd: folder, encoding: 'utf8' });
  if (done.status === null || done.status > 1) throw new Error(`toile ${args.join(' ')}: ${done.stderr}`);
  return done;
}

/** Starts toile and waits for the address it prints. */
export function serve(...args) {
  const child = spawn(TOILE, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  child.ended = new Promise(done => child.on('exit', code => { running.delete(child); done(code); }));
  return new Promise((done, failed) => {
    let said = '';
    const look = data => {
      said += data;
      const found = said.match(/http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{32}\//);
      if (found) done({ child, address: found[0], said: () => said });
    };
    child.stdout.on('data', look);
    child.stderr.on('data', look);
    child.on('exit', code => failed(new Error(`toile ${args.join(' ')} ended with ${code}: ${said}`)));
  });
}

export async function browser() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist', '--disable-quic', '--no-first-run',
      '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  });
}

/** Opens an address and gathers everything the page complains of. */
export async function open(browser, address, options = {}) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 760 }, colorScheme: 'light', ...options });
  page.complaints = [];
  page.on('console', m => { if (m.type() === 'error' || m.type() === 'warning') page.complaints.push(m.text()); });
  page.on('pageerror', e => page.complaints.push(String(e)));
  // Polls are cut when a page closes.
  page.on('requestfailed', r => { if (!r.url().includes('/api/wait')) page.complaints.push(`${r.url()}: ${r.failure()?.errorText}`); });
  await page.goto(address);
  await page.waitForFunction(() => window.toile?.state().ready, null, { timeout: 60_000 });
  return page;
}

export const state = page => page.evaluate(() => window.toile.state());

/** Waits until nothing is being fetched and the last picture is drawn. */
export async function settled(page) {
  await page.waitForFunction(() => window.toile.state().ready);
  await page.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))));
}

/** Colours at places of the page, from a screenshot. */
export async function colours(page, places) {
  const shot = (await page.screenshot()).toString('base64');
  return page.evaluate(async ({ shot, places }) => {
    const image = new Image();
    image.src = `data:image/png;base64,${shot}`;
    await image.decode();
    const canvas = document.createElement('canvas');
    canvas.width = image.width;
    canvas.height = image.height;
    const c = canvas.getContext('2d', { willReadFrequently: true });
    c.drawImage(image, 0, 0);
    return places.map(({ x, y }) => [...c.getImageData(Math.round(x), Math.round(y), 1, 1).data.slice(0, 3)]);
  }, { shot, places });
}

export function end() {
  for (const child of running) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
}

// How long until the first picture, and how many a second, on whatever draws here.

import { open, serve, settled, write } from './browser.mjs';

const MATERIAL = 'thickness = 1e-3\nareal_density = 0.2\nmaterial = { model = "koiter", young = 1e6, poisson = 0.3 }\npins = { vertices = [0] }\n';

export async function measure(browser, say) {
  for (const n of [71, 317]) {
    write('size.toml', `[[shell]]\nmesh = { generate = "sheet", n = ${n}, size = 1.0 }\n${MATERIAL}`);
    const { child, address } = await serve('view', 'size.toml', '--no-open');
    const page = await open(browser, address);
    await settled(page);
    const first = await page.evaluate(() => window.toile.firstPicture);
    const rate = await page.evaluate(() => window.toile.rate(3));
    await page.check('#wire');
    await settled(page);
    const wired = await page.evaluate(() => window.toile.rate(3));
    const renderer = await page.evaluate(() => {
      const gl = document.createElement('canvas').getContext('webgl2'), info = gl.getExtension('WEBGL_debug_renderer_info');
      return info ? gl.getParameter(info.UNMASKED_RENDERER_WEBGL) : 'unknown';
    });
    say(`${n * n} vertices: first picture after ${first.toFixed(0)} ms, ${rate.toFixed(1)} pictures a second (${wired.toFixed(1)} with wireframe), by ${renderer}`);
    await page.close();
    child.kill('SIGINT');
    await child.ended;
  }
}

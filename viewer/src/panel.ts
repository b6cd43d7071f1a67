// Everything that is text: verdict, certificate, plots, details.

import type { Index } from './record';

const $ = <T extends HTMLElement>(id: string) => document.getElementById(id) as T;

function element(tag: string, className = '', text = ''): HTMLElement {
  const e = document.createElement(tag);
  if (className) e.className = className;
  if (text) e.textContent = text;
  return e;
}

function pair(name: string, value: string): HTMLElement {
  const row = element('div', 'pair');
  row.append(element('span', '', name), element('span', '', value));
  return row;
}

function seconds(s: number): string {
  return s < 1 ? `${(1e3 * s).toPrecision(3)} ms` : s < 120 ? `${s.toPrecision(3)} s` : `${(s / 60).toPrecision(3)} min`;
}

/** Fills the panel from an index. */
export function tell(index: Index) {
  document.title = `toile: ${index.title}`;
  $('title').textContent = index.title;
  $('doing').textContent = index.state === 'running' ? index.doing : '';
  $('stop').hidden = index.state !== 'running';
  const verdict = index.verdict, badge = $('badge');
  badge.hidden = !verdict && index.state !== 'running';
  badge.className = verdict ? (verdict.ok ? 'good' : 'bad') : '';
  badge.textContent = verdict ? verdict.word : 'running';
  const section = $('verdict');
  section.hidden = !verdict;
  section.className = verdict?.ok ? 'good' : 'bad';
  section.querySelector('p')!.replaceChildren(...(verdict ? [element('strong', '', verdict.word), ` ${verdict.reason}`] : []));
  const figures = index.figures ?? [];
  $('figures').hidden = figures.length === 0;
  $('figures').querySelector('dl')!.replaceChildren(...figures.map(f => {
    const row = element('div'), dt = element('dt');
    const mark = element('span', f.ok === true ? 'good' : f.ok === false ? 'bad' : '', f.ok === true ? '✓' : f.ok === false ? '✗' : '·');
    dt.append(mark, element('code', '', f.key), element('b', '', f.value));
    dt.title = f.limit;
    row.append(dt, element('dd', '', f.meaning));
    return row;
  }));
  plots(index);
  const details = [
    ...(index.notes ?? []).map(n => pair('note', n)),
    ...(index.asked ?? []).map(([k, v]) => pair(k, v)),
    ...(index.timings ?? []).map(([k, v]) => pair(k, seconds(v))),
    pair('made by', index.toile),
    element('div', 'command', index.command),
  ];
  $('details').hidden = false;
  $('details').querySelector('.list')!.replaceChildren(...details);
}

function plots(index: Index) {
  const all = index.plots ?? [];
  $('plots').hidden = all.length === 0;
  const parser = new DOMParser();
  $('plots').querySelector('.list')!.replaceChildren(...all.map(({ svg }) => {
    const parsed = parser.parseFromString(svg, 'image/svg+xml').documentElement;
    return document.importNode(parsed, true);
  }));
}

/** Shows where in the plots over `label` a value is; nowhere with an empty label. */
export function cursor(label: string, value: number) {
  for (const svg of document.querySelectorAll<SVGSVGElement>('#plots svg.plot')) {
    let line = svg.querySelector('line.cursor');
    const [left, top, right, bottom, low, high] = (svg.dataset.window ?? '').split(' ').map(Number);
    const at = left + (value - low) / (high - low) * (right - left);
    if (!label || svg.dataset.over !== label || !(at >= left - 0.5 && at <= right + 0.5)) { line?.remove(); continue; }
    if (!line) {
      line = document.createElementNS('http://www.w3.org/2000/svg', 'line');
      line.classList.add('cursor');
      svg.append(line);
    }
    for (const [name, number] of [['x1', at], ['x2', at], ['y1', top], ['y2', bottom]] as const) line.setAttribute(name, number.toFixed(1));
  }
}

/** Says something over the view, or nothing. */
export function message(text: string | null) {
  $('message').hidden = text === null;
  $('message').textContent = text ?? '';
}

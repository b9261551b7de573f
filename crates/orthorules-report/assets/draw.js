// Elements and small pictures. Whatever comes from a model or a table enters as text or attribute, never as markup.

function build(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === 'on') Object.entries(value).forEach(([event, call]) => node.addEventListener(event, call));
    else if (name === 'width%') node.style.width = `${value}%`;
    else node.setAttribute(name, value === true ? '' : value);
  }
  return fill(node, children);
}

// Puts children into a node, in lists or not; what is not there is left out.
function fill(node, ...children) {
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) node.append(child);
  }
  return node;
}

// The same in place of what the node holds.
function refill(node, ...children) {
  node.replaceChildren();
  return fill(node, ...children);
}

const el = (tag, attributes, ...children) => build(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) =>
  build(document.createElementNS('http' + '://www.w3.org/2000/svg', tag), attributes, children);

// A name from outside: its direction of writing stays its own.
const name = (text) => el('bdi', {}, text);

const linear = (from, to, start, end) => (x) =>
  to === from ? (start + end) / 2 : start + ((x - from) / (to - from)) * (end - start);

// About `count` round numbers from `low` to `high`.
function ticks(low, high, count) {
  if (!(high > low) || !Number.isFinite(high - low)) return [low];
  const rough = (high - low) / count;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * unit).find((s) => (high - low) / s <= count) || rough;
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) =>
    Number(((first + i) * step).toPrecision(12)),
  );
}

// How wide a picture may be.
const roomFor = (most) => Math.max(260, Math.min(most, document.documentElement.clientWidth - 56));

// An empty picture with axes: {svg, x, y, plot, width, height}. `x` and `y` turn values into places.
function chart({ width, height, x, y, label, margin = 46, bottom = 38, top = 26, right = 20 }) {
  const yTicks = y.ticks || ticks(y.from, y.to, 5);
  const xTicks = x.ticks || ticks(x.from, x.to, Math.max(2, Math.floor(width / 70)));
  const yTexts = (y.format || alongAxis)(yTicks);
  const xTexts = (x.format || alongAxis)(xTicks);
  const left = Math.max(margin, 12 + 7 * Math.max(...yTexts.map((text) => text.length)));
  const px = linear(x.from, x.to, left, width - right);
  const py = linear(y.from, y.to, height - bottom, top);
  const plot = svg('g', {});
  const node = svg(
    'svg',
    { viewBox: `0 0 ${width} ${height}`, width, height, role: 'img', 'aria-label': label, class: 'chart' },
    yTicks.map((t, i) => [
      svg('line', { class: 'grid', x1: left, x2: width - right, y1: py(t), y2: py(t) }),
      svg('text', { x: left - 6, y: py(t) + 4, 'text-anchor': 'end' }, yTexts[i]),
    ]),
    xTicks.map((t, i) => svg('text', { x: px(t), y: height - bottom + 16, 'text-anchor': 'middle' }, xTexts[i])),
    x.label &&
      svg('text', { class: 'label', x: (left + width - right) / 2, y: height - 4, 'text-anchor': 'middle' }, x.label),
    y.label && svg('text', { class: 'label', x: 2, y: 11, 'text-anchor': 'start' }, y.label),
    plot,
  );
  return { svg: node, x: px, y: py, plot, width, height, left, right, top, bottom };
}

const points = (list) => list.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(' ');

const tip = (text) => svg('title', {}, text);

const figure = (title, picture, ...caption) =>
  el(
    'figure',
    {},
    el('figcaption', { class: 'title' }, title),
    picture,
    caption.length > 0 && el('figcaption', {}, caption),
  );

// Colour keys below a picture.
const legend = (entries) =>
  el(
    'p',
    { class: 'legend' },
    entries.map(([kind, text]) => el('span', {}, el('i', { class: `key ${kind}` }), text)),
  );

// A bar to the left or right of a common axis.
function weightBar(weight, largest) {
  const width = largest > 0 ? (46 * Math.abs(weight)) / largest : 0;
  return svg(
    'svg',
    { viewBox: '0 0 100 14', class: 'bar', 'aria-hidden': 'true', preserveAspectRatio: 'none' },
    svg('rect', {
      class: weight < 0 ? 'down' : 'up',
      x: weight < 0 ? 50 - width : 50,
      y: 2,
      width,
      height: 10,
      rx: 1,
    }),
    svg('line', { class: 'axis', x1: 50, x2: 50, y1: 0, y2: 14 }),
  );
}

const shareBar = (part) =>
  el(
    'span',
    { class: 'meter', 'aria-hidden': 'true' },
    el('span', { 'width%': Math.max(0, Math.min(100, 100 * part)) }),
  );

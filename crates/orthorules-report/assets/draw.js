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

// A text whose words may be broken after a mark or before a capital letter, where a line has no room for a whole one.
const BREAKS = /(?<=[\p{L}\p{N}][_./:;,|)-])(?=[\p{L}\p{N}])|(?<=\p{Ll})(?=\p{Lu})/u;
function softly(text) {
  return String(text)
    .split(/(\s+)/)
    .map((word) => {
      const parts = word.split(BREAKS);
      return parts.length === 1
        ? word
        : el(
            'span',
            { class: 'soft' },
            parts.map((part, i) => [i > 0 && el('wbr'), part]),
          );
    });
}

// A name from outside: its direction of writing stays its own.
const name = (text) => el('bdi', {}, softly(text));

const linear = (from, to, start, end) => (x) =>
  to === from ? (start + end) / 2 : start + ((x - from) / (to - from)) * (end - start);

// About `count` round numbers from `low` to `high`, and at least three.
function ticks(low, high, count) {
  if (!(high > low) || !Number.isFinite(high - low)) return [low];
  const rough = (high - low) / count;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const ends = (s) => [Math.ceil(low / s - 1e-9), Math.floor(high / s + 1e-9)];
  const steps = [10, 5, 2, 1].map((m) => m * unit);
  const step = steps.filter((s) => (high - low) / s <= count).pop() || rough;
  const finer = steps.find((s) => s <= step && ends(s)[1] - ends(s)[0] >= 2) || step;
  return ticksAt(finer, ...ends(finer));
}

function ticksAt(step, first, last) {
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) =>
    Number(((first + i) * step).toPrecision(12)),
  );
}

// The same along a logarithmic scale.
function logTicks(low, high) {
  const all = [[1], [1, 3], [1, 2, 5], [1, 1.5, 2, 3, 5, 7], [1, 1.2, 1.4, 1.6, 1.8, 2, 2.5, 3, 4, 5, 6, 7, 8, 9]];
  const [first, last] = [low, high].map((x) => Math.floor(Math.log10(x)));
  const decades = Array.from({ length: last - first + 1 }, (_, i) => first + i);
  const within = (steps) =>
    decades.flatMap((d) => steps.map((step) => Number(`${step}e${d}`))).filter((x) => x >= low && x <= high);
  return all.map(within).find((found) => found.length >= 4) || within(all[all.length - 1]);
}

// How wide the page is; on paper narrower than in the window.
const PAPER = 700;
const page = { onPaper: false, width: () => (page.onPaper ? PAPER : document.documentElement.clientWidth) };

// How wide a picture may be; one on a card; one of two in a line.
const roomFor = (most) => Math.max(260, Math.min(most, page.width() - 56));
const cardRoom = () => roomFor(page.onPaper ? 310 : 440);
const halfRoom = () => {
  const whole = Math.min(976, page.width() - 48);
  return whole >= 600 ? (whole - 32) / 2 : roomFor(whole);
};

// A text in a picture, cut off where it has no room.
const clipped = (text, width) => {
  const most = Math.max(4, Math.floor(width / 6.3));
  return text.length > most ? [`${text.slice(0, most - 1)}…`, tip(text)] : text;
};

// So that texts in the middle of these places do not touch, every how many of them there is room for.
function sparing(places, texts) {
  const gap = Math.min(...places.slice(1).map((place, i) => place - places[i]));
  const widest = 8 + 7 * Math.max(...texts.map((text) => text.length));
  return gap > 0 && Number.isFinite(gap) ? Math.max(1, Math.ceil(widest / gap)) : 1;
}

// An empty picture with axes: {svg, x, y, plot, width, height}. `x` and `y` turn values into places.
function chart({ width, height, x, y, label, margin = 46, bottom = 38, top = 26, right = 20 }) {
  const yTicks = y.ticks || (y.log ? logTicks(y.from, y.to) : ticks(y.from, y.to, 5));
  const xTicks = x.ticks || ticks(x.from, x.to, Math.max(2, Math.floor(width / 70)));
  const yTexts = (y.format || alongAxis)(yTicks);
  const xTexts = (x.format || alongAxis)(xTicks);
  const left = Math.max(margin, 12 + 7 * Math.max(...yTexts.map((text) => text.length)));
  const px = linear(x.from, x.to, left, width - right);
  const every = sparing(xTicks.map(px), xTexts);
  const scale = y.log ? Math.log : (value) => value;
  const along = linear(scale(y.from), scale(y.to), height - bottom, top);
  const py = (value) => along(scale(value));
  const plot = svg('g', {});
  const node = svg(
    'svg',
    { viewBox: `0 0 ${width} ${height}`, width, height, role: 'img', 'aria-label': label, class: 'chart' },
    yTicks.map((t, i) => [
      svg('line', { class: 'grid', x1: left, x2: width - right, y1: py(t), y2: py(t) }),
      svg('text', { x: left - 6, y: py(t) + 4, 'text-anchor': 'end' }, yTexts[i]),
    ]),
    xTicks.map(
      (t, i) =>
        i % every === 0 && svg('text', { x: px(t), y: height - bottom + 16, 'text-anchor': 'middle' }, xTexts[i]),
    ),
    x.label &&
      svg(
        'text',
        { class: 'label', x: (left + width - right) / 2, y: height - 4, 'text-anchor': 'middle' },
        clipped(x.label, width - 20),
      ),
    y.label && svg('text', { class: 'label', x: 2, y: 11, 'text-anchor': 'start' }, clipped(y.label, width)),
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

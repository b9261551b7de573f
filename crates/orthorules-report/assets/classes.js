// How well classes are told apart: calibration, ranking and confusion.

function calibrationPicture(view, groups, e) {
  const p = (g) => g.prediction.probabilities[view.several ? e : 1];
  const found = parts(groups, 10, p, (g) => g.classes[view.several ? e : 1] || 0);
  const percent = (list) => list.map((t) => `${rounded(100 * t, 3)}%`);
  const c = chart({
    width: halfRoom(),
    height: 290,
    x: { from: 0, to: 1, ticks: [0, 0.25, 0.5, 0.75, 1], label: 'predicted probability', format: percent },
    y: { from: 0, to: 1, ticks: [0, 0.25, 0.5, 0.75, 1], format: percent, label: 'observed share' },
    label:
      `Calibration: ` +
      `${found.map((f) => `predicted ${chance(f.predicted)}, observed ${chance(f.observed)}`).join('; ')}`,
  });
  c.plot.append(
    svg('line', { class: 'zero', x1: c.x(0), y1: c.y(0), x2: c.x(1), y2: c.y(1) }),
    svg('polyline', { class: 'line train', points: points(found.map((f) => [c.x(f.predicted), c.y(f.observed)])) }),
    ...found.map((f) =>
      svg(
        'circle',
        { class: 'dot train', cx: c.x(f.predicted), cy: c.y(f.observed), r: 4 },
        tip(`${whole(f.rows)} rows: predicted ${chance(f.predicted)}, observed ${chance(f.observed)}`),
      ),
    ),
  );
  return figure(
    'Are probabilities right?',
    c.svg,
    'Rows in ten groups of about equal weight, by predicted probability. On the dashed line, as many rows are ' +
      'of the class as was predicted.',
  );
}

// Points of the ROC and PR curves, from the strictest threshold to the loosest.
function rankPoints(groups, p, isPositive) {
  const sorted = [...groups].sort((a, b) => p(b) - p(a));
  const totals = sorted.reduce(
    (t, g) => {
      const q = isPositive(g);
      return [t[0] + q, t[1] + g.weight - q];
    },
    [0, 0],
  );
  let [hit, wrong] = [0, 0];
  const found = [{ threshold: Infinity, recall: 0, fall: 0, precision: 1, hit: 0, wrong: 0 }];
  sorted.forEach((g, i) => {
    const q = isPositive(g);
    hit += q;
    wrong += g.weight - q;
    if (i + 1 < sorted.length && p(sorted[i + 1]) === p(g)) return;
    found.push({
      threshold: p(g),
      recall: hit / totals[0],
      fall: wrong / totals[1],
      precision: hit / (hit + wrong),
      hit,
      wrong,
    });
  });
  return { found, positives: totals[0], negatives: totals[1] };
}

// The area under the ROC curve, ties counted half.
const areaUnder = (found) =>
  found.slice(1).reduce((sum, f, i) => sum + ((f.fall - found[i].fall) * (f.recall + found[i].recall)) / 2, 0);

function rankPictures(view, data, groups) {
  const p = (g) => g.prediction.probabilities[1];
  const { found, positives, negatives } = rankPoints(groups, p, (g) => g.classes[1] || 0);
  const percent = (list) => list.map((t) => `${rounded(100 * t, 3)}%`);
  const axis = (text) => ({ from: 0, to: 1, ticks: [0, 0.25, 0.5, 0.75, 1], format: percent, label: text });
  const roc = chart({
    width: halfRoom(),
    height: 290,
    x: axis('false positive rate'),
    y: axis('true positive rate'),
    label: 'ROC curve',
  });
  const pr = chart({
    width: halfRoom(),
    height: 290,
    x: axis('found (recall)'),
    y: axis('of those flagged, right (precision)'),
    label: 'Precision and recall',
  });
  roc.plot.append(
    svg('line', { class: 'zero', x1: roc.x(0), y1: roc.y(0), x2: roc.x(1), y2: roc.y(1) }),
    svg('polyline', { class: 'line train', points: points(found.map((f) => [roc.x(f.fall), roc.y(f.recall)])) }),
  );
  // Of all rows, which may be more than those that are drawn.
  const measured = data.measures[view.size].auc;
  const area = measured === undefined ? areaUnder(found) : measured;
  const base = positives / (positives + negatives);
  pr.plot.append(
    svg('line', { class: 'zero', x1: pr.x(0), y1: pr.y(base), x2: pr.x(1), y2: pr.y(base) }),
    svg('polyline', {
      class: 'line train',
      points: points(found.slice(1).map((f) => [pr.x(f.recall), pr.y(f.precision)])),
    }),
  );
  const [one, two] = [svg('circle', { class: 'point', r: 6 }), svg('circle', { class: 'point', r: 6 })];
  roc.plot.append(one);
  pr.plot.append(two);
  const said = el('p', { 'aria-live': 'polite' });
  const cells = el('div', {});
  const slider = el('input', { type: 'range', id: 'threshold', min: 0, max: 1, step: 0.01, value: 0.5 });
  const label = view.className(0);
  const move = () => {
    const t = Number(slider.value);
    // A tie is predicted as the other class.
    const at = [...found].reverse().find((f) => f.threshold > t || f.threshold === Infinity);
    one.setAttribute('cx', roc.x(at.fall));
    one.setAttribute('cy', roc.y(at.recall));
    two.setAttribute('cx', pr.x(at.recall));
    two.setAttribute('cy', pr.y(at.hit + at.wrong > 0 ? at.precision : 1));
    refill(
      said,
      `If rows above ${fixed(100 * t, 0)}% count as `,
      name(label),
      `: ${chance(at.recall)} of all `,
      name(label),
      ` are found, ${chance(at.fall)} of the others are flagged by mistake, and ` +
        `${at.hit + at.wrong > 0 ? chance(at.precision) : '–'} of those flagged are right.`,
    );
    const [no, yes] = view.model.classes;
    const show = (x) => rounded(x, 6);
    refill(
      cells,
      el(
        'table',
        { class: 'small confusion' },
        el(
          'thead',
          {},
          el(
            'tr',
            {},
            el('td', {}),
            el('th', { scope: 'col' }, 'predicted ', name(no)),
            el('th', { scope: 'col' }, 'predicted ', name(yes)),
          ),
        ),
        el(
          'tbody',
          {},
          el(
            'tr',
            {},
            el('th', { scope: 'row' }, 'actual ', name(no)),
            el('td', { class: 'n right' }, show(negatives - at.wrong)),
            el('td', { class: 'n' }, show(at.wrong)),
          ),
          el(
            'tr',
            {},
            el('th', { scope: 'row' }, 'actual ', name(yes)),
            el('td', { class: 'n' }, show(positives - at.hit)),
            el('td', { class: 'n right' }, show(at.hit)),
          ),
        ),
      ),
    );
  };
  slider.addEventListener('input', move);
  move();
  return [
    figure(`ROC curve, AUC ${areaText(area)}`, roc.svg),
    figure('Precision and recall', pr.svg),
    el(
      'div',
      { class: 'card operating' },
      el('label', { for: 'threshold' }, 'Threshold of the probability ', slider),
      said,
      cells,
    ),
  ];
}

function confusionPicture(view, groups) {
  const { classes } = view.model;
  const table = classes.map(() => classes.map(() => 0));
  for (const g of groups)
    g.classes.forEach((w, real) => {
      table[real][g.prediction.label] += w;
    });
  const line = (c, real) => {
    const total = table[real].reduce((s, w) => s + w, 0);
    const heat = (w) => (total > 0 ? Math.round((8 * w) / total) : 0);
    return el(
      'tr',
      {},
      el('th', { scope: 'row' }, name(c)),
      table[real].map((w, k) => el('td', { class: `heat h${heat(w)}${k === real ? ' right' : ''}` }, rounded(w, 6))),
    );
  };
  const node = el(
    'div',
    { class: 'wide' },
    el(
      'table',
      { class: 'matrix' },
      el(
        'thead',
        {},
        el(
          'tr',
          {},
          el('td', {}, el('span', { class: 'dim' }, 'actual ↓ predicted →')),
          classes.map((c) => el('th', { scope: 'col' }, name(c))),
        ),
      ),
      el('tbody', {}, classes.map(line)),
    ),
  );
  const picture = figure(
    'Which classes are confused?',
    node,
    'Rows by their actual class (lines) and the class predicted (columns). The diagonal is right.',
  );
  picture.classList.toggle('full', classes.length > FEW);
  return picture;
}

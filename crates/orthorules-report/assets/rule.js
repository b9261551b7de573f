// A rule's own view: where it cuts each column, which other rules hold for the same rows, which rows it moves most.

// What is predicted, as one text: where classes share their rules, the class that is.
function predictedText(view, { probabilities, value, label }, e) {
  if (!probabilities) return short(value);
  if (view.model.shared) return [name(view.model.classes[label]), ` ${chance(probabilities[label])}`];
  return chance(probabilities[view.several ? e : 1]);
}

// A column's histogram with what `holds(value)` selects, thresholds, and the mean target of every bin above.
function columnPicture(view, column, { selected, cuts = [], e = 0 }) {
  const data = view.table;
  const summary = data ? data.columns.find((c) => c.name === column.name) : null;
  if (!summary) return el('p', { class: 'dim' }, 'No table was given, so there is no histogram.');
  const width = page.onPaper ? cardRoom() : roomFor(420);
  const [left, right, top, upper, gap, lower] = [44, 10, 16, 58, 12, 62];
  const height = top + upper + gap + lower + 36;
  // The last bins are of special codes, and the very last one of missing values; those without rows are not drawn.
  const codes = summary.special || [];
  const bins = summary.bins.slice(0, -1 - codes.length);
  const ofCodes = codes.map((text, k) => ({ text, value: column.special[k].value }));
  const beside = [...ofCodes, { text: 'missing', value: null }];
  const sides = beside
    .map((side, k) => ({ ...side, bin: summary.bins[bins.length + k] }))
    .filter((side) => side.bin.rows > 0);
  const roomSide = 58;
  const roomMissing = roomSide * sides.length;
  const inner = width - left - right - roomMissing;
  const edges = summary.edges || null;
  const numbers = summary.numbers || null;
  const most = Math.max(1, ...summary.bins.map((b) => b.rows));
  let place;
  let valueOf;
  let texts;
  let scale = null;
  if (edges) {
    const ends = [edges[0], edges[edges.length - 1], ...cuts.map((cut) => cut.value)];
    scale = linear(Math.min(...ends), Math.max(...ends), left, left + inner);
    place = (i) => [scale(edges[i]), scale(edges[i + 1])];
    valueOf = (i) => (edges[i] + edges[i + 1]) / 2;
  } else if (numbers && column.kind === 'numeric') {
    const step = inner / Math.max(1, numbers.length);
    place = (i) => [left + i * step + step * 0.08, left + (i + 1) * step - step * 0.08];
    valueOf = (i) => numbers[i];
    scale = (x, op) => left + step * numbers.filter((v) => (op === '>=' ? v < x : v <= x)).length;
    texts = numbers.map(plain);
  } else {
    const step = inner / Math.max(1, bins.length);
    place = (i) => [left + i * step + step * 0.08, left + (i + 1) * step - step * 0.08];
    valueOf = (i) => (summary.levels && i < summary.levels.length ? summary.levels[i] : null);
    texts = bins.map((_, i) =>
      summary.levels && i < summary.levels.length ? summary.levels[i] : `${summary.others} others`,
    );
  }
  const base = top + upper + gap + lower;
  const drawn = [...bins, ...sides.map((side) => side.bin)];
  const sideAt = (i) => width - right - roomMissing + roomSide * (i - bins.length);
  const means = drawn.map((b) => (b.means && b.means.length > e ? b.means[e] : null));
  const known = means.filter((m) => m !== null && Number.isFinite(m));
  const [least, largest] = [Math.min(...known), Math.max(...known)];
  const my = linear(least, largest, top + upper, top + 4);
  const at = (i) => (i < bins.length ? (place(i)[0] + place(i)[1]) / 2 : sideAt(i) + roomSide / 2);
  const isIn = (i) => (i < bins.length ? selected(valueOf(i), i) : selected(sides[i - bins.length].value, -1));
  const what = (i) => {
    if (i >= bins.length) return sides[i - bins.length].text;
    return edges ? `${rounded(edges[i], 4)} to ${rounded(edges[i + 1], 4)}` : texts[i];
  };
  const node = svg('svg', {
    viewBox: `0 0 ${width} ${height}`,
    width,
    height,
    class: 'chart',
    role: 'img',
    'aria-label': `Histogram of ${column.name}; the rows that the rule selects are marked`,
  });
  if (known.length > 0) {
    const shown = [least, largest].map((x) => (view.isClasses ? chance(x) : short(x, 3)));
    node.append(
      svg(
        'text',
        { class: 'label', x: 2, y: 10 },
        clipped(
          `${view.meanWord} of ${view.isClasses ? `${view.model.target} = ${view.className(e)}` : view.model.target}`,
          width,
        ),
      ),
    );
    if (least !== largest) {
      node.append(
        svg('text', { x: left - 5, y: my(largest) + 4, 'text-anchor': 'end' }, shown[1]),
        svg('line', { class: 'grid', x1: left, x2: width - right, y1: my(largest), y2: my(largest) }),
      );
    }
    node.append(
      svg('text', { x: left - 5, y: my(least) + 4, 'text-anchor': 'end' }, shown[0]),
      svg('line', { class: 'grid', x1: left, x2: width - right, y1: my(least), y2: my(least) }),
    );
    const line = means
      .slice(0, bins.length)
      .map((m, i) => [m, i])
      .filter(([m]) => m !== null);
    if (edges || (numbers && column.kind === 'numeric'))
      node.append(svg('polyline', { class: 'line other', points: points(line.map(([m, i]) => [at(i), my(m)])) }));
    means.forEach(
      (m, i) =>
        m !== null &&
        node.append(
          svg('circle', { class: 'dot other', cx: at(i), cy: my(m), r: 2.6 }, tip(`${what(i)}: ${view.mean(m)}`)),
        ),
    );
  }
  const bar = (rows) => (lower * rows) / most;
  drawn.forEach((b, i) => {
    const [x1, x2] = i < bins.length ? place(i) : [sideAt(i) + 16, sideAt(i) + roomSide - 6];
    node.append(
      svg(
        'rect',
        {
          class: isIn(i) ? 'selected' : 'plainbar',
          x: x1,
          y: base - bar(b.rows),
          width: Math.max(1, x2 - x1 - (edges && i < bins.length ? 0.8 : 0)),
          height: bar(b.rows),
        },
        tip(`${what(i)}: ${whole(b.rows)} rows${isIn(i) ? ', selected' : ''}`),
      ),
    );
  });
  node.append(
    svg('line', { class: 'axis', x1: left, x2: left + inner, y1: base, y2: base }),
    sides.length > 0 &&
      svg('line', { class: 'axis', x1: width - right - roomMissing + 14, x2: width - right - 4, y1: base, y2: base }),
  );
  if (scale) {
    cuts.forEach(({ op, value }) => {
      const x = scale(value, op);
      node.append(
        svg('line', { class: 'cut', x1: x, x2: x, y1: top, y2: base }),
        svg(
          'text',
          { class: 'cuttext', x, y: base + 28, 'text-anchor': 'middle' },
          `${SIGNS[op] || op} ${plain(value)}`,
        ),
      );
    });
  }
  const ends = edges
    ? [
        [left, 'start', rounded(edges[0], 3)],
        [left + inner, 'end', rounded(edges[edges.length - 1], 3)],
      ]
    : [];
  ends.forEach(([x, anchor, text]) => node.append(svg('text', { x, y: base + 13, 'text-anchor': anchor }, text)));
  if (texts) {
    const fits = inner / texts.length;
    texts.forEach((text, i) => {
      const most = Math.max(1, Math.floor(fits / 6.4));
      if (fits >= 18 || i % Math.ceil(18 / fits) === 0)
        node.append(
          svg(
            'text',
            { x: at(i), y: base + 13, 'text-anchor': 'middle' },
            text.length > most ? `${text.slice(0, Math.max(1, most - 1))}…` : text,
            tip(text),
          ),
        );
    });
  }
  sides.forEach(({ text }, k) => {
    const told = text.length > 8 ? `${text.slice(0, 7)}…` : text;
    const x = sideAt(bins.length + k) + roomSide / 2 + 5;
    node.append(svg('text', { x, y: base + 13, 'text-anchor': 'middle' }, told, tip(text)));
  });
  return node;
}

// How many rows of one rule also satisfy another.
function overlap(view, data, e, first, second) {
  let [one, both] = [0, 0];
  for (const g of groupsOf(view, data)) {
    if (!g.fired(e, first)) continue;
    one += g.rows;
    if (g.fired(e, second)) both += g.rows;
  }
  return one > 0 ? both / one : 0;
}

function overlapMatrix(view, e) {
  const terms = view
    .terms(e)
    .filter((t) => !t.rule.trend)
    .sort(ORDERS.importance);
  const data = view.table && view.table.labelled ? view.table : view.judged;
  const cell = (a, b) => {
    const part = a === b ? 1 : overlap(view, data, e, a.index, b.index);
    return el('td', { class: `heat h${a === b ? 'x' : Math.round(part * 8)}` }, a === b ? '' : percent(part));
  };
  return el(
    'table',
    { class: 'matrix' },
    el('caption', {}, 'Of the rows of the rule in a line, the share for which the rule in a column holds as well.'),
    el(
      'thead',
      {},
      el(
        'tr',
        {},
        el('td', {}),
        terms.map((_, i) => el('th', { scope: 'col' }, String(i + 1))),
      ),
    ),
    el(
      'tbody',
      {},
      terms.map((a, i) =>
        el(
          'tr',
          {},
          el('th', { scope: 'row' }, `${i + 1}  `, conditionText(a.rule)),
          terms.map((b) => cell(a, b)),
        ),
      ),
    ),
  );
}

// The sampled rows whose prediction changes most when the rule is taken out.
function movedRows(view, term) {
  const data = view.table || view.test;
  if (!data) return null;
  const { model, places } = view;
  const moved = data.sample.numbers
    .map((_, i) => rowOf(data, i))
    .filter((row) => model.fires(term.rule, row.values))
    .map((row) => {
      const scores = model.scores(places, row.values);
      const without = scores.map((s, e) =>
        e === term.e || model.shared
          ? model.sum(
              e,
              places[e],
              (k) => (k === term.index ? 0 : model.amount(model.ensembles[e].rules[k], row.values)),
              model.offsetOf(row.values),
            )
          : s,
      );
      const [after, before] = [model.predict(scores, row.exposure), model.predict(without, row.exposure)];
      const values = ({ probabilities, value }) =>
        !probabilities ? [value] : model.shared ? probabilities : [probabilities[view.several ? term.e : 1]];
      const [then, now] = [values(before), values(after)];
      return { row, before, after, by: Math.max(...now.map((x, k) => Math.abs(x - then[k]))) };
    })
    .sort((a, b) => b.by - a.by || a.row.number - b.row.number)
    .slice(0, 5);
  if (moved.length === 0) return el('p', { class: 'dim' }, 'It holds for none of the sampled rows.');
  const columns = columnsOf(term.rule);
  const shown = (column, v) =>
    v === null
      ? el('span', { class: 'none' }, 'missing')
      : typeof v === 'number'
        ? specialName(model.columns.get(column), v) || view.number(column, v)
        : name(v);
  return el(
    'div',
    { class: 'wide' },
    el(
      'table',
      { class: 'small moved' },
      el(
        'thead',
        {},
        el(
          'tr',
          {},
          el('th', { scope: 'col', class: 'n' }, 'row'),
          columns.map((c) => el('th', { scope: 'col' }, name(c))),
          el('th', { scope: 'col', class: 'n' }, 'without the rule'),
          el('th', { scope: 'col', class: 'n' }, 'with it'),
          data.labelled && el('th', { scope: 'col' }, 'actual'),
        ),
      ),
      el(
        'tbody',
        {},
        moved.map((m) =>
          el(
            'tr',
            {},
            el('td', { class: 'n' }, whole(m.row.number)),
            columns.map((c) => el('td', {}, shown(c, m.row.values[c]))),
            el('td', { class: 'n' }, predictedText(view, m.before, term.e)),
            el('td', { class: 'n' }, predictedText(view, m.after, term.e)),
            data.labelled && el('td', {}, name(targetText(view, m.row.y))),
          ),
        ),
      ),
    ),
  );
}

function sentence(view, term) {
  if (term.rule.trend) return trendSentence(view, term);
  const rule = [ruleText(view, term.rule, capital), ', '];
  if (term.parts) return el('p', {}, rule, sharedEffect(view, term), ' Otherwise the rule adds nothing.');
  const { weight } = term;
  const target = view.isClasses ? `${view.model.target} = ${view.className(term.e)}` : view.model.target;
  const effect = view.factorOf
    ? [
        `the ${view.factorOf} of `,
        name(target),
        ` ${view.factorOf === 'odds' ? 'are' : 'is'} multiplied by ${short(Math.exp(weight), 3)} ` +
          `(${term.shown} in the score)`,
      ]
    : [
        view.isClasses ? 'the probability of ' : 'the prediction of ',
        name(target),
        ` ${weight < 0 ? 'falls' : 'rises'} by ${term.shown.replace(/^[-+]/, '')}`,
      ];
  return el('p', {}, rule, effect, '. Otherwise the rule adds nothing.');
}

// The classes that a shared rule says most of: all of few, three of many.
const foremost = ({ parts }) =>
  parts.length <= FEW ? parts : [...parts].sort((a, b) => Math.abs(b.weight) - Math.abs(a.weight)).slice(0, 3);

// What a rule does to the scores of the classes that share it.
function sharedEffect(view, term) {
  const told = foremost(term);
  const rest = told.length < term.parts.length;
  const each = told.map((part, k) => [
    k === 0 ? 'the score of ' : k === told.length - 1 && !rest ? ' and that of ' : ', that of ',
    name(view.className(part.e)),
    ` ${part.weight < 0 ? 'falls' : 'rises'} by ${part.shown.replace(/^[-+]/, '')}`,
  ]);
  const others = rest ? ', and those of the other classes change less' : '';
  return [each, `${others}. A score that rises by 1 multiplies the odds against a class whose score stays by 2.72.`];
}

// What a rule says of each of the classes that share it.
function classTable(view, term) {
  const known = term.parts.some((part) => part.target && part.target.inside !== null);
  const column = (text) => el('th', { scope: 'col', class: 'n' }, text);
  const weights = pointed(term.parts.map((part) => part.shown));
  return el(
    'div',
    { class: 'wide' },
    el(
      'table',
      { class: 'small classes' },
      el(
        'thead',
        {},
        el(
          'tr',
          {},
          el('th', { scope: 'col' }, name(view.model.target)),
          column('adds'),
          known && [column('share if it holds'), column('if not')],
        ),
      ),
      el(
        'tbody',
        {},
        term.parts.map((part, k) =>
          el(
            'tr',
            {},
            el('th', { scope: 'row' }, name(view.className(part.e))),
            el('td', { class: `n ${part.weight < 0 ? 'minus' : 'plus'}` }, weights[k]),
            known && [part.target.inside, part.target.outside].map((x) => el('td', { class: 'n' }, view.mean(x))),
          ),
        ),
      ),
    ),
  );
}

// The line of a trend, and the rows along its column.
function trendPictures(view, term) {
  const { trend } = term.rule;
  const column = view.model.columns.get(trend.column);
  const ends = [
    { op: 'from', value: trend.from },
    { op: 'to', value: trend.to },
  ];
  const selected = (value) => trendValue(trend, rank(column, value)) !== 0;
  return [
    el('figure', {}, el('figcaption', { class: 'title' }, trendText(trend)), trendPicture(view, term)),
    el(
      'figure',
      {},
      el('figcaption', { class: 'title' }, name(trend.column)),
      columnPicture(view, column, { selected, cuts: ends, e: term.e }),
    ),
  ];
}

function rulePanel(view, term) {
  const columns = term.rule.trend ? [] : columnsOf(term.rule).map((n) => view.model.columns.get(n));
  const pictures = columns.map((column) => {
    const own = term.rule.conditions.filter((c) => c.column === column.name);
    const cuts = own.filter((c) => typeof c.value === 'number');
    const selected = (value, i) =>
      value === null && i >= 0
        ? own.every((c) => c.op === '!=' || c.op === 'not in' || c.op === 'present')
        : own.every((c) => holds(c, column, value));
    return el(
      'figure',
      {},
      el(
        'figcaption',
        { class: 'title' },
        clauses({ conditions: own }).map((c, i) => [i > 0 && ' and ', c]),
      ),
      columnPicture(view, column, { selected, cuts, e: term.parts ? term.strongest : term.e }),
    );
  });
  const proof = view.terms(term.e).some((t) => t.rule.proven) ? certificate(term.rule) : null;
  // A trend holds nearly everywhere, which says nothing of rules.
  const others =
    view.judged && !term.rule.trend
      ? view
          .terms(term.e)
          .filter((t) => t.index !== term.index && !t.rule.trend)
          .map((t) => ({ t, part: overlap(view, view.judged, term.e, term.index, t.index) }))
          .filter((o) => o.part > 0)
          .sort((a, b) => b.part - a.part)
          .slice(0, 5)
      : [];
  return el(
    'div',
    { class: 'inside' },
    sentence(view, term),
    term.parts && classTable(view, term),
    proof && el('p', { class: 'dim' }, proof.long),
    el('div', { class: 'pictures' }, term.rule.trend ? trendPictures(view, term) : pictures),
    others.length > 0 && [
      el('h4', {}, 'Rules that hold for the same rows'),
      el(
        'ul',
        { class: 'plainlist' },
        others.map((o) =>
          el('li', {}, shareBar(o.part), ` ${percent(o.part)} of its rows: `, conditionText(o.t.rule)),
        ),
      ),
    ],
    (view.table || view.test) && [el('h4', {}, 'Rows that it moves most'), movedRows(view, term)],
  );
}

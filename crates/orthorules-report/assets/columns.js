// What the model does with each column: the rules that name only it and its trends, as one function; the others listed.

function columnEffect(view, e, column) {
  const terms = view.terms(e).filter((t) => columnsOf(t.rule).includes(column.name));
  const only = terms.filter((t) => columnsOf(t.rule).length === 1);
  const trends = only.filter((t) => t.rule.trend);
  const states = new States(
    column,
    only.flatMap((t) => t.rule.conditions),
    null,
  );
  const row = (value) => ({ [column.name]: value });
  const effect = (value) => only.reduce((sum, t) => sum + t.weight * view.model.amount(t.rule, row(value)), 0);
  // Inside a step rules add the same everywhere, and trends what they are.
  const rulesAt = (value) =>
    only.reduce((sum, t) => (!t.rule.trend && view.model.fires(t.rule, row(value)) ? sum + t.weight : sum), 0);
  const trendsAt = (x) => trends.reduce((sum, t) => sum + t.weight * trendValue(t.rule.trend, x), 0);
  const kinks = [...new Set(trends.flatMap((t) => [t.rule.trend.from, t.rule.trend.to]))].sort((a, b) => a - b);
  const steps = states.states
    .map((state, i) => ({ state, value: states.example(i), text: states.text(i) }))
    .filter((s) => s.value !== undefined)
    .map((s) => {
      const level = rulesAt(s.value);
      const { low, high } = s.state;
      // Where the line bends between two places.
      const bends = (from, to) => [from, ...kinks.filter((x) => x > from && x < to), to];
      const line = (from, to) => bends(from, to).map((x) => [x, level + trendsAt(x)]);
      const ends = line(low ? low.at : -Infinity, high ? high.at : Infinity).map((point) => point[1]);
      return { ...s, line, ends };
    });
  return {
    column,
    only,
    steps,
    kinks,
    missing: view.lacks(column.name) ? effect(null) : null,
    // What is no number: special codes, and what is missing.
    sides: [
      ...(column.special || []).map((code) => ({ text: code.name, effect: effect(code.value) })),
      ...(view.lacks(column.name) ? [{ text: 'missing', effect: effect(null) }] : []),
    ],
    together: terms.filter((t) => !only.includes(t)),
    importance: terms.reduce((sum, t) => sum + t.importance, 0),
  };
}

// A step function over numbers, the histogram faint behind it.
function numberSteps(view, found, range) {
  const { column, steps } = found;
  const summary = view.table ? view.table.columns.find((c) => c.name === column.name) : null;
  const cuts = steps
    .flatMap((s) => [s.state.low, s.state.high])
    .filter(Boolean)
    .map((end) => end.at)
    .concat(found.kinks);
  const seen = (summary && (summary.edges || summary.numbers)) || column.range || [];
  const ends = [...cuts, ...(seen.length > 0 ? [seen[0], seen[seen.length - 1]] : [])];
  let [from, to] = [Math.min(...ends), Math.max(...ends)];
  const pad = from === to ? Math.max(1, Math.abs(from) * 0.2) : (to - from) * (seen.length > 0 ? 0.02 : 0.25);
  [from, to] = [from - pad, to + pad];
  const c = chart({
    width: cardRoom(),
    height: 200,
    top: 10,
    right: 28 + 56 * found.sides.length,
    x: { from, to },
    y: range,
    bottom: 24,
    label:
      `What ${column.name} adds: ${steps.map((s) => `${s.text}: ${fromTo(s.ends)}`).join('; ')}` +
      found.sides.map(({ text, effect }) => `; ${text}: ${signed([effect])[0]}`).join(''),
  });
  const zero = c.y(0);
  if (summary) {
    const most = Math.max(1, ...summary.bins.map((b) => b.rows));
    const tall = (rows) => (34 * rows) / most;
    summary.bins.slice(0, -1 - (summary.special || []).length).forEach((b, i) => {
      const [x1, x2] = summary.edges
        ? [c.x(summary.edges[i]), c.x(summary.edges[i + 1])]
        : [c.x(summary.numbers[i]) - 2, c.x(summary.numbers[i]) + 2];
      c.plot.append(
        svg('rect', {
          class: 'faint',
          x: x1,
          y: c.height - c.bottom - tall(b.rows),
          width: Math.max(1, x2 - x1 - 0.5),
          height: tall(b.rows),
        }),
      );
    });
  }
  c.plot.append(svg('line', { class: 'zero', x1: c.left, x2: c.width - 8, y1: zero, y2: zero }));
  steps.forEach((s, i) => {
    const line = s.line(s.state.low ? s.state.low.at : from, s.state.high ? s.state.high.at : to);
    line.slice(1).forEach(([x, y], k) => {
      const [x1, x2] = [c.x(line[k][0]), c.x(x)];
      const wide = x2 - x1 < 2 && line.length === 2 ? [x1 - 2, x2 + 2] : [x1, x2];
      const text =
        line[k][1] === y && line.length === 2
          ? s.text
          : `${rounded(line[k][0], 4)} to ${rounded(x, 4)} of ${column.name}`;
      c.plot.append(
        svg(
          'line',
          { class: 'step', x1: wide[0], x2: wide[1], y1: c.y(line[k][1]), y2: c.y(y) },
          tip(`${text}: ${fromTo([line[k][1], y])}`),
        ),
      );
    });
    const x = c.x(line[0][0]);
    const before = i > 0 ? steps[i - 1].line(line[0][0], line[0][0])[0][1] : null;
    if (i > 0) c.plot.append(svg('line', { class: 'riser', x1: x, x2: x, y1: c.y(before), y2: c.y(line[0][1]) }));
  });
  found.sides.forEach(({ text, effect }, k) => {
    const x = c.width - 34 - 56 * (found.sides.length - 1 - k);
    const told = text.length > 8 ? `${text.slice(0, 7)}…` : text;
    c.plot.append(
      svg('circle', { class: 'dot step', cx: x, cy: c.y(effect), r: 4 }, tip(`${text}: ${signed([effect])[0]}`)),
      svg('text', { x, y: c.height - c.bottom + 16, 'text-anchor': 'middle' }, told, tip(text)),
    );
  });
  return c.svg;
}

// An effect, or the first and the last of several.
function fromTo(effects) {
  const texts = signed([effects[0], effects[effects.length - 1]]);
  return effects.every((x) => x === effects[0]) ? texts[0] : `${texts[0]} to ${texts[1]}`;
}

function levelBars(found) {
  const lines = [
    ...found.steps.map((s) => [
      s.state.levels.length > 4
        ? `${s.state.levels.slice(0, 3).join(', ')} and ${s.state.levels.length - 3} others`
        : s.state.levels.join(', '),
      s.ends[0],
    ]),
    ...(found.missing === null ? [] : [['missing', found.missing]]),
  ];
  const largest = Math.max(...lines.map((l) => Math.abs(l[1])), Number.MIN_VALUE);
  const texts = pointed(signed(lines.map((l) => l[1])));
  return el(
    'table',
    { class: 'levels' },
    el(
      'tbody',
      {},
      lines.map(([text, effect], i) =>
        el(
          'tr',
          {},
          el('th', { scope: 'row' }, name(text)),
          el('td', { class: 'barcell' }, weightBar(effect, largest)),
          el('td', { class: 'n' }, texts[i]),
        ),
      ),
    ),
  );
}

function classPicker(view, id, draw) {
  if (!view.several) return null;
  const select = el(
    'select',
    { id },
    view.model.classes.map((c, e) => el('option', { value: e }, c)),
  );
  select.addEventListener('change', () => draw(Number(select.value)));
  return el('div', { class: 'controls' }, el('label', { for: id }, name(view.model.target), ' = ', select));
}

function columnsSection(view) {
  const holder = el('div', { class: 'cards' });
  let e = 0;
  const draw = () => {
    const found = [...view.model.columns.values()]
      .map((column) => columnEffect(view, e, column))
      .filter((f) => f.only.length + f.together.length > 0)
      .sort((a, b) => b.importance - a.importance);
    const effects = (f) => [...f.sides.map((side) => side.effect), ...f.steps.flatMap((s) => s.ends)];
    const all = found.flatMap(effects).concat(0);
    const [low, high] = [Math.min(...all), Math.max(...all)];
    const pad = (high - low || 1) * 0.08;
    const range = {
      from: low - pad,
      to: high + pad,
      ticks: ticks(low - pad, high + pad, 4),
      format: (list) =>
        alongAxis(list).map((text) => (/^[-0.]+$/.test(text) || text.startsWith('-') ? text : `+${text}`)),
    };
    refill(
      holder,
      ...found.map((f) =>
        el(
          'figure',
          { class: 'card' },
          el('figcaption', { class: 'title' }, name(f.column.name)),
          f.only.length === 0
            ? el('p', { class: 'dim' }, 'Only together with other columns:')
            : f.column.kind === 'numeric'
              ? numberSteps(view, f, range)
              : levelBars(f),
          f.together.length > 0 && [
            f.only.length > 0 && el('p', { class: 'dim' }, 'Together with other columns:'),
            el(
              'ul',
              { class: 'plainlist' },
              f.together.map((t) =>
                el(
                  'li',
                  {},
                  el('b', { class: t.weight < 0 ? 'minus' : 'plus' }, t.shown),
                  ' ',
                  ruleText(view, t.rule),
                ),
              ),
            ),
          ],
        ),
      ),
    );
    if (found.length === 0)
      holder.append(el('p', { class: 'dim' }, 'This size has no rules: it predicts the same for every row.'));
  };
  view.listen(draw);
  const idle = [...view.model.columns.values()].filter(
    (c) => !view.model.ensembles.some((en) => en.rules.some((r) => columnsOf(r).includes(c.name))),
  );
  return {
    id: 'columns',
    title: 'Column by column',
    draw,
    node: [
      el(
        'p',
        {},
        `How much each column adds to the ${view.unit} by itself, all on one scale. Grey bars show how many ` +
          `rows there are. What a column does together with others is listed below its picture. The most ` +
          `important column comes first.`,
      ),
      classPicker(view, 'columns-class', (chosen) => {
        e = chosen;
        draw();
      }),
      holder,
      idle.length > 0 &&
        el(
          'details',
          {},
          el('summary', {}, `${counted(idle.length, 'column')} that no rule uses, at any size`),
          el(
            'p',
            { class: 'dim' },
            idle.map((c, i) => [i > 0 && ', ', name(c.name)]),
          ),
        ),
    ],
  };
}

// The parts of the form to try a row: fields, and how a score comes about.

// Values to begin with where there is no table: in the middle of the thresholds, the first level.
function plausible(view) {
  const values = {};
  for (const column of view.model.columns.values()) {
    const rules = view.model.ensembles.flatMap((e) => e.rules);
    const conditions = rules.flatMap((r) => r.conditions).filter((c) => c.column === column.name);
    const trends = rules.flatMap((r) => (r.trend && r.trend.column === column.name ? [r.trend] : []));
    const cuts = [...conditions.map((c) => c.value), ...trends.flatMap((t) => [t.from, t.zero, t.to])]
      .filter((v) => typeof v === 'number')
      .sort((a, b) => a - b);
    values[column.name] =
      column.kind === 'numeric'
        ? cuts.length > 0
          ? cuts[Math.floor(cuts.length / 2)]
          : 0
        : (column.levels || [null])[0];
  }
  return values;
}

const MISSING = 'm';
const OTHER = 'o';

// A field for one column: {node, read(), write(value)}; read gives undefined for what is no number. What is written is
// short; who writes keeps the number itself.
function field(view, column, id, changed) {
  const describe = `${id}-about`;
  const lacks = view.model.columns.has(column.name) && view.lacks(column.name);
  const empty = lacks ? 'missing' : null;
  if (column.kind === 'numeric') {
    const input = el('input', {
      id,
      type: 'text',
      inputmode: 'decimal',
      autocomplete: 'off',
      placeholder: empty,
      'aria-describedby': describe,
      'data-column': column.name,
      on: { input: changed },
    });
    const about = el('span', { class: 'error', id: describe, role: 'alert' });
    return {
      node: [input, about],
      read: () => {
        const text = input.value.trim();
        const x = text === '' ? null : Number(text.replace(/^(-?)inf$/i, '$1Infinity'));
        const bad = Number.isNaN(x);
        input.setAttribute('aria-invalid', String(bad));
        about.textContent = bad ? 'not a number' : '';
        return bad ? undefined : x;
      },
      write: (value) => {
        input.value = value === null || value === undefined ? '' : view.number(column.name, value);
      },
    };
  }
  const levels = column.levels || [];
  if (levels.length <= 60) {
    const select = el(
      'select',
      { id, 'data-column': column.name, on: { change: changed, input: changed } },
      levels.map((level, i) => el('option', { value: i }, level)),
      el('option', { value: MISSING }, lacks ? '(missing)' : '(empty)'),
      column.kind !== 'boolean' && el('option', { value: OTHER }, '(any other value)'),
    );
    return {
      node: [select],
      // No level can be this text: blanks around a value are cut off when tables are read.
      read: () =>
        select.value === MISSING ? null : select.value === OTHER ? ' other ' : levels[Number(select.value)],
      write: (value) => {
        const place = levels.indexOf(value);
        select.value = value === null || value === undefined ? MISSING : place < 0 ? OTHER : String(place);
      },
    };
  }
  const input = el('input', {
    id,
    type: 'text',
    list: `${id}-levels`,
    placeholder: empty,
    autocomplete: 'off',
    'data-column': column.name,
    on: { input: changed },
  });
  return {
    node: [
      input,
      el(
        'datalist',
        { id: `${id}-levels` },
        levels.slice(0, 500).map((level) => el('option', { value: level })),
      ),
    ],
    read: () => (input.value === '' ? null : input.value),
    write: (value) => {
      input.value = value === null || value === undefined ? '' : value;
    },
  };
}

// How a score comes about: the rules that hold, the largest first, each starting where the one before ended.
function waterfall(view, e, row) {
  const { intercept } = view.model.ensembles[e].path[view.places[e]];
  const all = view.terms(e);
  const held = all
    .filter((t) => view.model.fires(t.rule, row))
    .map((t) => ({ ...t, adds: t.weight * view.model.amount(t.rule, row) }))
    .sort((a, b) => Math.abs(b.adds) - Math.abs(a.adds));
  // The offset is the last of all, as in the score.
  if (view.model.offset !== null) held.push({ adds: view.model.offsetOf(row), offset: view.model.offset });
  const sums = held.reduce((list, t) => [...list, list[list.length - 1] + t.adds], [intercept]);
  const adds = pointed(signed([...held.map((t) => t.adds), intercept]));
  const totals = pointed(signed(sums));
  const from = Math.min(0, ...sums);
  const to = Math.max(0, ...sums);
  const x = linear(from, to === from ? from + 1 : to, 2, 198);
  const strip = (a, b, kind) =>
    svg(
      'svg',
      { viewBox: '0 0 200 16', class: 'fall', 'aria-hidden': 'true', preserveAspectRatio: 'none' },
      svg('line', { class: 'axis', x1: x(0), x2: x(0), y1: 0, y2: 16 }),
      svg('rect', {
        class: kind,
        x: Math.min(x(a), x(b)),
        width: Math.max(1, Math.abs(x(b) - x(a))),
        y: 3,
        height: 10,
      }),
    );
  const line = (what, bar, add, sum, extra) =>
    el(
      'tr',
      extra,
      el('th', { scope: 'row', class: 'what' }, what),
      el('td', { class: 'barcell' }, bar),
      el('td', { class: 'n' }, add),
      el('td', { class: 'n dim' }, sum),
    );
  const silent = all.filter((t) => !held.some((h) => h.index === t.index));
  const because = (t) => {
    if (t.offset) return [name(t.offset), ' (offset)'];
    return conditionText(t.rule);
  };
  return el(
    'table',
    { class: 'waterfall' },
    el(
      'thead',
      {},
      el(
        'tr',
        {},
        el('th', { scope: 'col' }, 'because'),
        el('th', {}, el('span', { class: 'hidden' }, 'bar')),
        el('th', { scope: 'col', class: 'n' }, 'adds'),
        el('th', { scope: 'col', class: 'n' }, 'sum'),
      ),
    ),
    el(
      'tbody',
      {},
      line('always', strip(0, intercept, 'start'), adds[held.length], totals[0], {}),
      held.map((t, i) =>
        line(because(t), strip(sums[i], sums[i + 1], t.adds < 0 ? 'down' : 'up'), adds[i], totals[i + 1], {
          'data-rule': t.offset ? null : t.text,
          'data-adds': t.adds,
        }),
      ),
    ),
    // Not a foot, which paper would repeat on every page.
    el(
      'tbody',
      {},
      el(
        'tr',
        {},
        el(
          'td',
          { colspan: 4, class: 'dim' },
          silent.length > 0
            ? `${termsCounted(silent)} ${silent.length === 1 ? 'does' : 'do'} not apply.`
            : 'All of them apply.',
        ),
      ),
    ),
  );
}

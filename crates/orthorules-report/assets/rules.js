// The list of rules.

const ORDERS = {
  importance: (a, b) => b.importance - a.importance || a.order - b.order,
  weight: (a, b) => b.weight - a.weight || a.order - b.order,
  coverage: (a, b) => (b.covered ? b.covered.rows : 0) - (a.covered ? a.covered.rows : 0) || a.order - b.order,
  discovery: (a, b) => a.index - b.index,
};

// What the search can say of a rule.
function certificate(rule) {
  if (rule.proven)
    return { short: 'proven best', long: 'The search has proven that no rule was better at this step.' };
  if (rule.bound && rule.value > 0) {
    const gap = Math.max(0, rule.bound / rule.value - 1);
    return {
      short: `≤ ${rounded(100 * gap, 2)}% off`,
      long: `No rule could have scored more than ${rounded(100 * gap, 2)}% higher at this step.`,
    };
  }
  return null;
}

// How many rows lack a value of a rule's columns: whether the rule holds there depends on what it asks.
function missingText(view, term) {
  const texts = columnsOf(term.rule).flatMap((column) => {
    const summary = view.table && view.table.columns.find((c) => c.name === column);
    // Without a table, the model file knows how it was in training.
    const [missing, of] = summary
      ? [summary.bins[summary.bins.length - 1].rows, view.table.drawn]
      : [view.model.columns.get(column).missing || 0, view.model.document.rows];
    const asks = term.rule.conditions.some((c) => c.column === column && c.op === 'missing');
    return missing > 0
      ? [
          [
            name(column),
            ` missing in ${share(missing, of)} of rows: `,
            term.rule.trend ? 'it adds nothing' : asks ? 'the rule can hold' : 'the rule does not hold',
          ],
        ]
      : [];
  });
  return texts.map((text) => el('span', { class: 'missing' }, text));
}

// Whether any size of a model may have trends.
const hasTrends = (model) => model.ensembles.some((e) => e.rules.some((rule) => rule.trend));

function rulesSection(view) {
  const holder = el('div', {});
  const opened = new Set();
  const order = el(
    'select',
    { id: 'order' },
    Object.keys(ORDERS).map((key) => el('option', { value: key }, key === 'discovery' ? 'order of discovery' : key)),
  );
  const search = el('input', { id: 'search', type: 'search', placeholder: 'column name', autocomplete: 'off' });
  const overlaps = el(
    'details',
    { class: 'overlaps' },
    el('summary', {}, 'Which rules overlap'),
    el('div', { class: 'wide' }),
  );

  const head = (hasTarget) =>
    el(
      'tr',
      {},
      el('th', { scope: 'col', class: 'n' }, 'adds'),
      el('th', { scope: 'col' }, el('span', { class: 'hidden' }, 'bar')),
      el('th', { scope: 'col' }, 'if'),
      el('th', { scope: 'col', class: 'n' }, 'rows'),
      hasTarget && el('th', { scope: 'col', class: 'n' }, `${view.meanWord} if it holds`),
      hasTarget && el('th', { scope: 'col', class: 'n' }, 'if not'),
      el('th', { scope: 'col' }, 'importance'),
    );

  // What else is known of a rule, in small print below it.
  const notes = (term, isCertified) => {
    const proof = isCertified ? certificate(term.rule) : null;
    return [
      missingText(view, term),
      term.sure &&
        el(
          'span',
          { class: 'note' },
          `95% interval ${signed(term.sure.interval).join(' to ')}; a rule like it was found again in ` +
            `${share(term.sure.frequency * 1000, 1000)} of draws`,
        ),
      proof && el('span', { class: 'note', title: proof.long }, proof.short),
    ];
  };

  const line = (term, texts, all, hasTarget, span) => {
    const key = `${term.e}-${term.index}`;
    const panel = el(
      'tr',
      { class: 'panel', id: `panel-${key}`, hidden: !opened.has(key) },
      el('td', { colspan: span }),
    );
    const open = (yes) => {
      if (yes) opened.add(key);
      else opened.delete(key);
      panel.hidden = !yes;
      button.setAttribute('aria-expanded', String(yes));
      if (yes && !panel.firstChild.hasChildNodes()) panel.firstChild.append(rulePanel(view, term));
    };
    const button = el(
      'button',
      {
        type: 'button',
        class: 'rule',
        'aria-expanded': 'false',
        'aria-controls': `panel-${key}`,
        on: { click: () => open(panel.hidden) },
      },
      ruleText(term.rule),
    );
    const largest = Math.max(...all.map((t) => t.importance), Number.MIN_VALUE);
    const widest = Math.max(...all.map((t) => (t.rule.trend ? 0 : Math.abs(t.weight))));
    const target = term.rule.trend ? null : term.target;
    const row = el(
      'tr',
      { class: 'line', 'data-rule': term.text, 'data-index': term.index, 'data-ensemble': term.e },
      el(
        'td',
        { class: `n weight ${term.weight < 0 ? 'minus' : 'plus'}`, 'data-head': 'adds' },
        texts.weight,
        view.factorOf && el('span', { class: 'note' }, `${view.factorOf} × ${texts.factor}`),
      ),
      el('td', { class: 'barcell' }, term.rule.trend ? trendBar(term) : weightBar(term.weight, widest)),
      el(
        'th',
        { scope: 'row', class: 'what' },
        button,
        notes(
          term,
          all.some((t) => t.rule.proven),
        ),
      ),
      el(
        'td',
        { class: 'n', 'data-head': 'rows' },
        term.covered
          ? [whole(term.covered.rows), el('span', { class: 'note' }, share(term.covered.rows, term.covered.of))]
          : '–',
      ),
      hasTarget &&
        el(
          'td',
          { class: 'n', 'data-head': `${view.meanWord} if it holds` },
          view.mean(target && target.inside),
        ),
      hasTarget && el('td', { class: 'n', 'data-head': 'if not' }, view.mean(target && target.outside)),
      el(
        'td',
        { class: 'meters', 'data-head': 'importance' },
        shareBar(term.importance / largest),
        el('span', { class: 'hidden' }, rounded(term.importance, 3)),
      ),
    );
    if (opened.has(key)) open(true);
    return [row, panel];
  };

  const list = (e) => {
    const terms = view.terms(e);
    const { intercept } = view.model.ensembles[e].path[view.places[e]];
    const values = [...terms.map((t) => t.weight), intercept];
    const [weights, factors] = [signed(values), aligned(values.map(Math.exp), 3)];
    const hasTarget = terms.some((t) => !t.rule.trend && t.target && t.target.inside !== null);
    const wanted = search.value.trim().toLowerCase();
    const shown = terms.filter(
      (t) => wanted === '' || columnsOf(t.rule).some((column) => column.toLowerCase().includes(wanted)),
    );
    shown.sort(ORDERS[order.value]);
    const titles = head(hasTarget);
    const span = titles.childNodes.length;
    return el(
      'div',
      { class: 'wide' },
      el(
        'table',
        { class: 'rules' },
        el(
          'caption',
          {},
          view.several ? [name(view.model.target), ' = ', name(view.model.classes[e]), ': '] : '',
          counted(terms.length, 'rule'),
          shown.length < terms.length && `, of which ${shown.length} shown`,
        ),
        el('thead', {}, titles),
        el(
          'tbody',
          {},
          el(
            'tr',
            { class: 'always' },
            el(
              'td',
              { class: 'n weight', 'data-head': 'adds' },
              weights[terms.length],
              view.factorOf && el('span', { class: 'note' }, `× ${factors[terms.length]}`),
            ),
            el('td', { class: 'barcell' }),
            el('th', { scope: 'row', class: 'what' }, 'always: where every sum starts'),
            el('td', { colspan: span - 3 }),
          ),
          shown.map((t) => line(t, { weight: weights[t.order], factor: factors[t.order] }, terms, hasTarget, span)),
        ),
      ),
    );
  };

  // It takes a while, and few open it.
  const drawOverlaps = () => {
    if (overlaps.open && !overlaps.hidden) refill(overlaps.lastChild, overlapMatrix(view, 0));
  };
  overlaps.addEventListener('toggle', drawOverlaps);

  const draw = () => {
    refill(holder, ...view.model.ensembles.map((_, e) => list(e)));
    overlaps.hidden = !view.judged || view.several || view.terms(0).filter((t) => !t.rule.trend).length < 2;
    drawOverlaps();
    if (view.light) view.light();
  };
  order.addEventListener('change', draw);
  search.addEventListener('input', draw);
  view.listen(draw);
  return {
    id: 'rules',
    title: 'The rules',
    draw,
    node: [
      el('p', {}, view.words.meaning, ' Choose a rule to see where it cuts and which rows it moves.'),
      el(
        'div',
        { class: 'controls' },
        el('label', { for: 'order' }, 'Sort by ', order),
        el('label', { for: 'search' }, 'Find ', search),
      ),
      holder,
      overlaps,
      el(
        'p',
        { class: 'dim' },
        el('i', { class: 'swatch' }),
        ' holds for the row that is tried further down. Importance is |weight| · 2p(1 − p), p the share of ' +
          'rows for which the rule holds: how far the rule moves a row from the average, on average.' +
          (hasTrends(view.model)
            ? ' A trend says how much each step adds. Its rows are those for which it adds anything, and its ' +
              'importance is what it would be if numbers were spread evenly between its ends.'
            : ''),
      ),
    ],
  };
}

// The list of rules.

const ORDERS = {
  importance: (a, b) => b.importance - a.importance || a.order - b.order,
  weight: (a, b) => b.weight - a.weight || a.order - b.order,
  coverage: (a, b) => (b.covered ? b.covered.rows : 0) - (a.covered ? a.covered.rows : 0) || a.order - b.order,
  model: (a, b) => a.order - b.order,
};

// What the search can say of a rule.
function certificate(rule) {
  if (rule.proven)
    return { short: 'proven best', long: 'The search has proven that no rule was better when this one was chosen.' };
  if (rule.bound && rule.value > 0) {
    const gap = Math.max(0, rule.bound / rule.value - 1);
    return {
      short: `≤ ${rounded(100 * gap, 2)}% off`,
      long: `No rule could have scored more than ${rounded(100 * gap, 2)}% higher when this one was chosen.`,
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

// More classes than this are not all told of in a sentence, and their columns are narrow.
const FEW = 4;

// Whether any size of a model may have trends.
const hasTrends = (model) => model.ensembles.some((e) => e.rules.some((rule) => rule.trend));

function rulesSection(view) {
  const holder = el('div', {});
  const opened = new Set();
  const order = el(
    'select',
    { id: 'order' },
    Object.keys(ORDERS).map((key) => el('option', { value: key }, key === 'model' ? 'order in the model' : key)),
  );
  const search = el('input', { id: 'search', type: 'search', placeholder: 'column name', autocomplete: 'off' });
  const overlaps = el(
    'details',
    { class: 'overlaps' },
    el('summary', {}, 'Which rules overlap'),
    el('div', { class: 'wide' }),
  );

  // Classes that share their rules have a column of weights each, after the rule.
  const classes = view.model.shared ? view.model.classes : null;
  const inOrder = (amount, rule) => (classes ? [rule, amount] : [amount, rule]);

  const head = (hasTarget) => {
    const column = (text, kind) => el('th', { scope: 'col', class: kind }, text);
    const titles = el(
      'tr',
      {},
      classes
        ? [column('rule'), classes.map((c) => column(name(c), 'n'))]
        : [column('adds', 'n'), column(el('span', { class: 'hidden' }, 'bar')), column('rule')],
      column('rows', 'n'),
      hasTarget && [column(`${view.meanWord} if it holds`, 'n'), column('if not', 'n')],
      column('importance'),
    );
    const group =
      classes &&
      el(
        'tr',
        {},
        el('td', {}),
        el('th', { scope: 'colgroup', colspan: classes.length }, 'adds to the score of'),
        el('td', { colspan: 2 }),
      );
    return { rows: [group, titles], span: titles.childNodes.length };
  };

  // What else is known of a rule, in small print below it.
  const notes = (term, isCertified) => {
    const proof = isCertified ? certificate(term.rule) : null;
    return [
      missingText(view, term),
      term.sure &&
        el(
          'span',
          { class: 'note' },
          '95% interval ',
          (term.parts || [term]).map((part, i) => [
            i > 0 && ', ',
            classes && [name(classes[i]), ' '],
            signed(part.sure.interval).join(' to '),
          ]),
          `; a rule like it was found again in ${percent(term.sure.frequency)} of draws`,
        ),
      proof && el('span', { class: 'note', title: proof.long }, proof.short),
    ];
  };

  // What a line adds, with a bar: to the score of each class, or to the only one. `texts` are of all lines.
  const amounts = (term, order, texts, bar) =>
    texts.map(({ weights, factors }, k) => {
      const weight = term && (term.parts ? term.parts[k].weight : term.weight);
      const kind = term ? (weight < 0 ? ' minus' : ' plus') : '';
      return [
        el(
          'td',
          { class: `n weight${kind}`, 'data-head': classes ? classes[k] : 'adds' },
          weights[order],
          view.factorOf && el('span', { class: 'note' }, `${term ? `${view.factorOf} ` : ''}× ${factors[order]}`),
          classes && term && bar(weight),
        ),
        !classes && el('td', { class: 'barcell' }, term && bar(weight)),
      ];
    });

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
      ruleText(view, term.rule),
    );
    const largest = Math.max(...all.map((t) => t.importance), Number.MIN_VALUE);
    const widest = Math.max(...all.map((t) => (t.rule.trend ? 0 : Math.abs(t.weight))));
    const bar = (weight) => (term.rule.trend ? trendBar({ ...term, weight }) : weightBar(weight, widest));
    const target = term.rule.trend ? null : term.target;
    const row = el(
      'tr',
      { class: 'line', 'data-rule': term.text, 'data-index': term.index, 'data-ensemble': term.e },
      inOrder(
        amounts(term, term.order, texts, bar),
        el(
          'th',
          { scope: 'row', class: 'what' },
          button,
          notes(
            term,
            all.some((t) => t.rule.proven),
          ),
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
        el('td', { class: 'n', 'data-head': `${view.meanWord} if it holds` }, view.mean(target && target.inside)),
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

  // The texts of the weights of a list, the constant last.
  const textsOf = (e, terms) => {
    const values = [...terms.map((t) => t.weight), view.model.ensembles[e].path[view.places[e]].intercept];
    return { weights: pointed(signed(values)), factors: values.map((x) => short(Math.exp(x), 3)) };
  };

  const list = (terms, e) => {
    const texts = classes ? classes.map((_, k) => textsOf(k, view.terms(k))) : [textsOf(e, terms)];
    const hasTarget = !classes && terms.some((t) => !t.rule.trend && t.target && t.target.inside !== null);
    const wanted = search.value.trim().toLowerCase();
    const shown = terms.filter(
      (t) => wanted === '' || columnsOf(t.rule).some((column) => column.toLowerCase().includes(wanted)),
    );
    shown.sort(ORDERS[order.value]);
    const { rows, span } = head(hasTarget);
    return el(
      'div',
      { class: 'wide' },
      el(
        'table',
        { class: `rules${classes ? ' shared' : ''}${classes && classes.length > FEW ? ' many' : ''}` },
        el(
          'caption',
          {},
          view.several && !classes ? [name(view.model.target), ' = ', name(view.model.classes[e]), ': '] : '',
          termsCounted(terms),
          classes && ', with a weight for each class',
          shown.length < terms.length && `, of which ${shown.length} shown`,
        ),
        el('thead', {}, rows),
        el(
          'tbody',
          {},
          el(
            'tr',
            { class: 'always' },
            inOrder(
              amounts(null, terms.length, texts),
              el('th', { scope: 'row', class: 'what' }, 'always: where every sum starts'),
            ),
            el('td', { colspan: hasTarget ? 4 : 2 }),
          ),
          shown.map((t) => line(t, texts, terms, hasTarget, span)),
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
    refill(holder, ...view.lists().map(list));
    overlaps.hidden =
      !view.judged || view.lists().length > 1 || view.terms(0).filter((t) => !t.rule.trend).length < 2;
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
        el(
          'span',
          { class: 'tried', hidden: true },
          el('i', { class: 'swatch' }),
          ' holds for the row that is tried further down. ',
        ),
        'Importance is |weight| · 2p(1 − p), p the share of rows for which the rule holds: how far the rule moves a ' +
          'row from the average, on average.' +
          (classes ? ' It is the mean over the classes.' : '') +
          (hasTrends(view.model)
            ? ' A trend says how much each step adds. Its rows are those for which it adds anything, and its ' +
              'importance is what it would be if numbers were spread evenly between its ends.'
            : ''),
      ),
    ],
  };
}

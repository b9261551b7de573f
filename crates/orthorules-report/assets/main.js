// The page as a whole.

const SECTIONS = [curveSection, rulesSection, columnsSection, fitSection, whatIfSection, provenanceSection];

// How to read a line, by the most important rule of the chosen size.
function example(view) {
  const e = view.several ? view.model.ensembles.findIndex((_, k) => view.terms(k).length > 0) : 0;
  const [first] = e < 0 ? [] : view.terms(e).sort(ORDERS.importance);
  if (!first) return el('p', { class: 'dim' }, 'This size has no rules: it predicts the same for every row.');
  return el(
    'div',
    { class: 'example' },
    el(
      'p',
      { class: 'lineexample' },
      el('b', { class: first.weight < 0 ? 'minus' : 'plus' }, first.shown),
      first.rule.trend ? ' ' : ' if ',
      ruleText(first.rule),
    ),
    sentence(view, first),
  );
}

function headOf(view) {
  const facts = el('div', { class: 'facts' });
  const shown = el('div', {});
  const size = el('p', { class: 'lead' });
  const { model, words, entry } = view;
  const rows = model.document.rows;
  const draw = () => {
    refill(
      facts,
      ...view
        .quality()
        .map((f) =>
          el('div', { class: 'fact' }, el('b', {}, f.value), el('span', {}, f.text), el('small', {}, f.where)),
        ),
    );
    refill(shown, example(view));
    const terms = view.model.shared ? view.terms(0) : view.model.ensembles.flatMap((_, e) => view.terms(e));
    const trends = terms.filter((t) => t.rule.trend).length;
    refill(
      size,
      `${termsCounted(terms.length - trends, trends)} ${terms.length === 1 ? 'predicts' : 'predict'} `,
      name(model.target),
      model.classes.length === 2
        ? [' (', name(model.classes[1]), ' or ', name(model.classes[0]), ')']
        : view.several
          ? ` (${model.classes.length} classes)`
          : '',
      rows ? `, learned from ${counted(rows, 'row')} and ${counted(model.columns.size, 'column')}.` : '.',
    );
  };
  view.listen(draw);
  draw();
  return el(
    'header',
    {},
    el('p', { class: 'brand' }, 'Orthorules report'),
    el('h1', {}, entry.title || words.subject),
    size,
    entry.story && el('p', {}, entry.story),
    facts,
    el('h2', { class: 'quiet' }, 'How to read a line'),
    shown,
  );
}

// How many rules and trends there are, at the begin of a sentence.
function termsCounted(rules, trends) {
  const some = (n, what) => (n === 1 ? `one ${what}` : counted(n, what));
  const both = [
    ...(rules > 0 || trends === 0 ? [some(rules, 'rule')] : []),
    ...(trends > 0 ? [some(trends, 'trend')] : []),
  ].join(' and ');
  return both.charAt(0).toUpperCase() + both.slice(1);
}

// The bar that stays in sight: the slider and where the sections are.
function barOf(view, sections) {
  const slider = el('input', {
    type: 'range',
    id: 'size',
    min: 0,
    max: view.entry.sizes.length - 1,
    step: 1,
    value: view.size,
    on: { input: () => view.show(Number(slider.value)) },
  });
  const said = el('output', { for: 'size' });
  const draw = () => {
    slider.value = String(view.size);
    const text = sizeText(view, view.size) + (view.size === view.entry.chosen ? ' (chosen)' : '');
    said.textContent = text;
    slider.setAttribute('aria-valuetext', text);
  };
  view.listen(draw);
  draw();
  return el(
    'div',
    { class: 'stay' },
    el('div', { class: 'slider' }, el('label', { for: 'size' }, 'Size'), slider, said),
    el(
      'nav',
      { 'aria-label': 'Sections' },
      sections.map((s) => el('a', { href: `#${s.id}` }, s.title)),
    ),
  );
}

function show(page, document_, which) {
  const view = new View(document_.reports[which], document_.program, document_.date);
  const sections = SECTIONS.map((make) => make(view));
  const tabs =
    document_.reports.length > 1 &&
    el(
      'div',
      { class: 'tabs', role: 'group', 'aria-label': 'Models' },
      document_.reports.map((r, i) =>
        el(
          'button',
          { type: 'button', 'aria-pressed': String(i === which), on: { click: () => show(page, document_, i) } },
          r.title || r.words.subject,
        ),
      ),
    );
  refill(
    page,
    el('a', { class: 'skip', href: '#rules' }, 'Skip to the rules'),
    tabs || '',
    headOf(view),
    barOf(view, sections),
    el(
      'main',
      {},
      sections.map((s) =>
        el(
          'section',
          { id: s.id, 'aria-labelledby': `${s.id}-title` },
          el('h2', { id: `${s.id}-title`, tabindex: -1 }, s.title),
          s.node,
        ),
      ),
    ),
    el(
      'footer',
      {},
      `Made by ${document_.program} on ${document_.date}. This file needs no network and sends nothing.`,
    ),
  );
  // What is in sight first; the rest once that has been painted.
  const [first, second, ...later] = sections;
  first.draw();
  second.draw();
  const rest = () => {
    later.forEach((s) => s.draw());
    page.dataset.ready = '';
    performance.mark('ready');
  };
  delete page.dataset.ready;
  if (document.hidden) rest();
  else requestAnimationFrame(() => setTimeout(rest, 0));
  let width = document.documentElement.clientWidth;
  clearTimeout(show.timer);
  window.onresize = () => {
    clearTimeout(show.timer);
    show.timer = setTimeout(() => {
      if (document.documentElement.clientWidth === width) return;
      width = document.documentElement.clientWidth;
      view.show(view.size);
    }, 150);
  };
  // For whoever wants to check the page by program.
  window.orthorules = { view, Model, Recourse, aligned, signed, plain, rounded };
}

show(document.getElementById('page'), JSON.parse(document.getElementById('data').textContent), 0);

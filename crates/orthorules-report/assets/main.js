// The page as a whole.

const SECTIONS = [curveSection, rulesSection, columnsSection, fitSection, whatIfSection, provenanceSection];

// How to read a line, by the most important rule of the chosen size.
function example(view) {
  const [first] = (view.lists().find((list) => list.length > 0) || []).sort(ORDERS.importance);
  if (!first) return el('p', { class: 'dim' }, 'This size has no rules: it predicts the same for every row.');
  return el(
    'div',
    { class: 'example' },
    el(
      'p',
      { class: 'lineexample' },
      (first.parts ? foremost(first) : [first]).map((part) => [
        el(
          'span',
          { class: 'whole' },
          first.parts && [name(view.className(part.e)), ' '],
          el('b', { class: part.weight < 0 ? 'minus' : 'plus' }, part.shown),
        ),
        ' ',
      ]),
      ruleText(view, first.rule),
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
      ...cardsOf(view).map((card) =>
        el(
          'div',
          { class: 'fact' },
          el('small', { class: 'source' }, card.source),
          el('b', {}, card.value),
          el('span', {}, card.text),
          el('small', {}, card.where),
        ),
      ),
    );
    refill(shown, example(view));
    const terms = view.lists().flat();
    refill(
      size,
      `${capital(termsCounted(terms, 'one'))} ${terms.length === 1 ? 'predicts' : 'predict'} `,
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
    el('h1', {}, softly(entry.title || words.subject)),
    size,
    entry.story && el('p', {}, entry.story),
    facts,
    el('h2', { class: 'quiet' }, 'How to read a line'),
    shown,
  );
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

function show(root, document_, which) {
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
          { type: 'button', 'aria-pressed': String(i === which), on: { click: () => show(root, document_, i) } },
          r.title || r.words.subject,
        ),
      ),
    );
  refill(
    root,
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
    root.dataset.ready = '';
    performance.mark('ready');
  };
  delete root.dataset.ready;
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
  const draw = (onPaper) => {
    page.onPaper = onPaper;
    view.show(view.size);
  };
  window.onbeforeprint = () => draw(true);
  window.onafterprint = () => draw(false);
  // For programs that check the page.
  window.orthorules = { view, Model, Recourse, short, signed, plain, rounded };
}

show(document.getElementById('page'), JSON.parse(document.getElementById('data').textContent), 0);

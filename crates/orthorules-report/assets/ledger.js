// The edits that were made to the model, each with its reason and what it cost.

// Numbers of a column of the ledger; empty where an edit has none.
function ledgerColumn(entries, key) {
  const known = entries.filter((entry) => entry[key] !== undefined);
  const texts = pointed(known.map((entry) => short(entry[key])));
  return entries.map((entry) => (entry[key] === undefined ? '' : texts[known.indexOf(entry)]));
}

function ledgerNodes(view) {
  const entries = view.model.document.ledger || [];
  if (entries.length === 0) return [];
  const heads = [
    ['risk_before', 'risk before'],
    ['risk_after', 'risk after'],
    ['cv_before', 'cv before'],
    ['cv_after', 'cv after'],
  ].filter(([key]) => entries.some((entry) => entry[key] !== undefined));
  const columns = heads.map(([key]) => ledgerColumn(entries, key));
  const largest = ledgerColumn(entries, 'largest_change');
  const reason = ({ why, author }) => [why, author && `by ${author}`].filter(Boolean).join(', ');
  const line = (entry, i) =>
    el(
      'tr',
      {},
      el(
        'td',
        { class: 'edit' },
        el('div', {}, softly(view.words.edits[i])),
        reason(entry) && el('div', { class: 'dim' }, softly(reason(entry))),
      ),
      columns.map((column) => el('td', { class: 'n' }, column[i])),
      el('td', { class: 'n' }, `${whole(entry.rows_changed)} of ${whole(entry.rows)}`),
      el('td', { class: 'n' }, largest[i]),
    );
  return [
    el('h3', { id: 'edits' }, 'Edits'),
    el(
      'p',
      { class: 'dim caption' },
      `What experts changed after the fit, in order. Risks are the mean ${view.model.document.loss} loss of the ` +
        'chosen size on the table of the edit, before and after it.',
    ),
    el(
      'div',
      { class: 'wide', tabindex: 0, role: 'group', 'aria-label': 'Edits' },
      el(
        'table',
        { class: 'small ledger' },
        el(
          'thead',
          {},
          el(
            'tr',
            {},
            el('th', { scope: 'col' }, 'edit'),
            heads.map(([, text]) => el('th', { scope: 'col', class: 'n' }, text)),
            el('th', { scope: 'col', class: 'n' }, 'scores that changed'),
            el('th', { scope: 'col', class: 'n' }, 'largest change'),
          ),
        ),
        el('tbody', {}, entries.map(line)),
      ),
    ),
  ];
}

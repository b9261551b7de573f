// Where the model comes from, under the headings of a technical file.

// Sizes that a table shows where not all are: the first and the last, the chosen one and its neighbours, others
// evenly spread.
const MOST_SIZES = 15;
function some(count, chosen) {
  const near = [chosen - 1, chosen, chosen + 1].filter((i) => i >= 0 && i < count);
  for (let spread = MOST_SIZES; count > MOST_SIZES && spread > 1; spread -= 1) {
    const even = Array.from({ length: spread }, (_, i) => Math.floor((i * (count - 1)) / (spread - 1)));
    const shown = [...new Set([...even, ...near])].sort((a, b) => a - b);
    if (shown.length <= MOST_SIZES) return shown;
  }
  return Array.from({ length: count }, (_, i) => i);
}

// Whether each size has the rules of the one before it, and one more.
function isNested(model) {
  const members = (size) => size.members || size.weights.map((_, k) => k);
  const grows = (before, size) =>
    size.weights.length === before.weights.length + 1 && members(before).every((k) => members(size).includes(k));
  return model.ensembles.every(({ path }) => path.every((size, i) => i === 0 || grows(path[i - 1], size)));
}

// Whether no size has weights that were found rule by rule.
const fittedTogether = (model) => model.ensembles.every(({ path }) => path.every((size) => size.status !== 'step'));

function provenanceSection(view) {
  const { model, words, program, date } = view;
  const document_ = model.document;
  const { cv, bootstrap } = document_;
  const fact = (term, ...text) =>
    text.some((t) => t !== null && t !== undefined && t !== false)
      ? el('div', {}, el('dt', {}, term), el('dd', {}, text))
      : null;
  const written = (label) =>
    el('div', {
      class: 'written',
      contenteditable: 'true',
      role: 'textbox',
      'aria-multiline': 'true',
      'aria-label': label,
      spellcheck: 'false',
    });
  const rules = (model.shared ? model.ensembles.slice(0, 1) : model.ensembles).flatMap((e) => e.rules);
  const proven = rules.filter((r) => r.proven).length;
  const bounded = rules.filter((r) => !r.proven && r.bound && r.value > 0);
  const worst = Math.max(0, ...bounded.map((r) => r.bound / r.value - 1));
  const others =
    bounded.length > 0 && worst < 1
      ? ` In place of the others no rule could have scored over ${rounded(100 * worst, 2)}% higher.`
      : '';
  let search =
    'Heuristic: better rules may exist. With --search exact each rule is proven to be the best when it is chosen.';
  if (proven === rules.length && proven > 0)
    search = 'Every rule is proven to have been the best when it was chosen.';
  else if (proven > 0)
    search = `${proven} of ${rules.length} rules are proven to have been the best when they were chosen.${others}`;
  const dataText = (data, what) =>
    data && [
      el('h4', {}, what),
      el(
        'dl',
        {},
        fact('file', data.name && name(data.name)),
        fact('rows', `${whole(data.rows)} read, ${whole(data.used)} used`),
        fact(
          'left out',
          [
            [data.weightless, 'of weight 0'],
            [data.without_target, 'without a target'],
            [data.without_exposure, 'without an exposure'],
          ]
            .filter(([n]) => n > 0)
            .map(([n, why]) => `${whole(n)} ${why}`)
            .join(', ') || null,
        ),
        fact(
          `SHA-256 of the ${data.fingerprint_of === 'file' ? 'file' : 'values that the model uses'}`,
          el('code', {}, data.fingerprint),
        ),
        fact(
          'used for training',
          data.training === null
            ? null
            : data.training
              ? 'yes: as many rows as in training, and every rule covers as many as then'
              : 'no: the number of rows, or how many a rule covers, is another',
        ),
        fact(
          'pictures',
          data.drawn < data.used
            ? `histograms show ${whole(data.drawn)} rows drawn at random, forms and scatter plots ` +
                `${whole(data.sample.numbers.length)}; all other figures are of all ` +
                `rows${data.groups ? '' : ', except calibration, ranking and overlap, which are of the rows drawn'}`
            : null,
        ),
      ),
    ];
  const { curves, rooted } = curvesOf(view);
  const sizes = view.entry.sizes;
  const columns = curves.map((c) => pointed((rooted ? c.shown : c.risks).map((x) => short(x))));
  const warnings = words.warnings;
  const quote = (text) => (/^[\w.\-/]+$/.test(text) ? text : `'${String(text).replace(/'/g, "'\\''")}'`);
  const table = view.table && view.table.name ? view.table.name : 'TABLE';
  const made = document_.provenance;
  // The command of the file names neither table nor model.
  const kept = made && made.command.replace('orthorules fit TABLE', () => `orthorules fit ${quote(table)}`);
  const command = [
    'orthorules fit',
    quote(table),
    `--target ${quote(model.target)}`,
    `--task ${model.task}`,
    model.classes.length === 2 && `--positive ${quote(model.classes[1])}`,
    document_.weight && `--weight ${quote(document_.weight)}`,
    model.exposure && `--exposure ${quote(model.exposure)}`,
    model.offset && `--offset ${quote(model.offset)}`,
    cv && `--cv ${cv.folds}`,
    cv && `--seed ${cv.seed}`,
    cv && `--select ${cv.select}`,
    cv && cv.groups && `--cv-groups ${quote(cv.groups)}`,
    bootstrap && `--bootstrap ${bootstrap.samples}`,
    '-o model.json',
  ].filter(Boolean);
  const performance = [
    el(
      'p',
      { class: 'dim caption' },
      `${rooted ? `RMSE of ${model.target}, the root of the mean squared error,` : `Mean ${document_.loss} loss`} of ` +
        `${sizes.length > MOST_SIZES ? `${MOST_SIZES} of ${sizes.length} sizes` : 'every size'}; the chosen one is ` +
        'marked',
    ),
    el(
      'div',
      { class: 'wide' },
      el(
        'table',
        { class: 'small' },
        el(
          'thead',
          {},
          el(
            'tr',
            {},
            el('th', { scope: 'col', class: 'n' }, hasTrends(model) ? 'rules and trends' : 'rules'),
            el('th', { scope: 'col', class: 'n' }, 'complexity'),
            curves.map((c) => el('th', { scope: 'col', class: 'n' }, c.text)),
          ),
        ),
        el(
          'tbody',
          {},
          some(sizes.length, view.entry.chosen)
            .map((i) => [sizes[i], i])
            .map(([s, i]) =>
              el(
                'tr',
                { class: i === view.entry.chosen ? 'chosen' : null },
                el('td', { class: 'n' }, String(s.rules)),
                el('td', { class: 'n' }, String(s.complexity)),
                columns.map((c) => el('td', { class: 'n' }, c[i])),
              ),
            ),
        ),
      ),
    ),
  ];
  return {
    id: 'provenance',
    title: 'Documentation',
    draw: () => {},
    node: [
      el(
        'p',
        {},
        'What an auditor asks for. The two framed fields can be filled in here before printing; they are not ' +
          'saved in the file.',
      ),
      el('h3', {}, 'Intended use'),
      written('Intended use, to be filled in'),
      el('h3', {}, 'Data'),
      el(
        'dl',
        {},
        fact('target', name(model.target)),
        fact('learned from', document_.rows ? counted(document_.rows, 'row') : 'not said in the model file'),
        fact(
          'columns',
          `${whole(model.columns.size)}, of which rules use ` +
            `${whole(model.used(sizes[sizes.length - 1].places).length)} at the largest size`,
        ),
        fact('budget of columns', words.spending),
        fact('weights', document_.weight && name(document_.weight)),
        fact('exposure', model.exposure && name(model.exposure)),
        fact('offset', model.offset && name(model.offset)),
        fact('classes', model.classes.length > 0 && model.classes.map((c, i) => [i > 0 && ', ', name(c)])),
      ),
      dataText(view.table, 'The table'),
      dataText(view.test, 'The test table'),
      el('h3', {}, 'Method'),
      el(
        'p',
        {},
        'An additive ensemble of rules' +
          (fittedTogether(model)
            ? ', learned by corrective orthogonal boosting. Each rule is the one that lowers the loss most for its ' +
              'length beside the others. All weights are fitted together.'
            : '. A score is the sum of the weights of the rules that hold.') +
          (isNested(model)
            ? ' Each size is the one before it with one more rule.'
            : ' Each size is the best one found.'),
      ),
      el(
        'dl',
        {},
        fact('loss', document_.loss),
        fact('search', search),
        fact(
          'size',
          cv
            ? `${words.select} (${cv.folds} folds${cv.groups ? `, groups by ${cv.groups}` : ''}, seed ${cv.seed})`
            : 'not chosen by cross-validation',
        ),
        fact('penalty λ', cv && rounded(cv.reg_lambda, 4)),
        fact('bootstrap', bootstrap && `${whole(bootstrap.samples)} draws, seed ${bootstrap.seed}`),
        fact(
          'monotone columns',
          document_.columns.some((c) => c.monotone) &&
            document_.columns
              .filter((c) => c.monotone)
              .map((c, i) => [i > 0 && ', ', name(c.name), c.monotone > 0 ? ' rising' : ' falling']),
        ),
        fact('model file', `${document_.format}, version ${document_.version}`),
        fact('this page', `${program}, ${date}`),
      ),
      ledgerNodes(view),
      el('h3', {}, 'Performance'),
      performance,
      el('h3', {}, 'Limits'),
      el(
        'ul',
        {},
        warnings.map((w) => el('li', {}, w)),
        !view.test &&
          !cv &&
          el('li', {}, 'Its quality on new rows is not known: there is neither a test table nor cross-validation.'),
        el('li', {}, 'A rule says what goes together in these rows, not what causes what.'),
        el(
          'li',
          {},
          'Where a row has no value, no comparison holds. A level that training did not have satisfies every “≠” ' +
            'and “unless”, and no “=”.',
        ),
        el(
          'li',
          {},
          'Beyond the largest and smallest values of training, predictions stay what they are at the end.',
        ),
      ),
      written('Further limits and oversight, to be filled in'),
      el('h3', {}, 'How to reproduce'),
      el(
        'p',
        {},
        'The same table and parameters give the same model, byte for byte, on any number of threads. ' +
          (made ? '' : 'Parameters that the model file does not hold are at their defaults here:'),
      ),
      made
        ? [
            el(
              'pre',
              { class: 'command' },
              // Lines end before flags.
              kept
                .replace(/ -o MODEL$/, ' -o model.json')
                .split(/ (?=-)/)
                .map((part) => [el('span', { class: 'whole' }, part), ' ']),
            ),
            el('p', {}, 'In Python:'),
            el('pre', { class: 'python' }, words.python),
            words.edits.length > 0 &&
              el('p', {}, `${capital(counted(words.edits.length, 'edit'))} followed, listed above.`),
            el(
              'dl',
              {},
              fact('program', `orthorules ${made.version}`),
              fact('fingerprint of the table', el('code', {}, made.table.fingerprint)),
            ),
          ]
        : el(
            'pre',
            {},
            command.map((part) => [el('span', { class: 'whole' }, part), ' ']),
          ),
    ],
  };
}

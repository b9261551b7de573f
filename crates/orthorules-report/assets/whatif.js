// A row to try: filled from the table or by hand; what is predicted, why, and what would change it.

function whatIfSection(view) {
  const { model } = view;
  const data = view.test || view.table;
  const form = el('form', {
    class: 'fields',
    'aria-label': 'The row to try',
    on: { submit: (event) => event.preventDefault() },
  });
  const result = el('div', { class: 'result' });
  const change = el('div', { class: 'recourse' });
  const source = el('p', { class: 'dim', 'aria-live': 'polite' });
  const state = {
    values: plausible(view),
    exposure: 1,
    locked: new Set(),
    row: null,
    e: null,
    goal: {},
    used: false,
  };
  const columns = [...model.columns.values()];
  let fields = [];
  let waiting = null;

  const take = (i) => {
    state.used = true;
    const count = data.sample.numbers.length;
    state.i = (i + count) % count;
    state.row = rowOf(data, state.i);
    Object.assign(state.values, state.row.values);
    state.exposure = state.row.exposure;
    write();
  };
  const write = () => {
    fields.forEach((f) => f.write(f.role === 'exposure' ? state.exposure : state.values[f.column.name]));
    update();
  };
  const edited = (f) => {
    const value = f.read();
    if (value === undefined) return;
    if (f.role === 'exposure') state.exposure = value === null || !(value > 0) ? 1 : value;
    else state.values[f.column.name] = value;
    state.row = null;
    state.used = true;
    update();
  };

  const drawForm = () => {
    fields = model
      .used(view.places)
      .map((column, i) => ({ column, ...field(view, column, `field-${i}`, () => edited(fields[i])) }));
    for (const role of ['exposure', 'offset'].filter((key) => model[key])) {
      const [place, column] = [fields.length, { name: model[role], kind: 'numeric' }];
      fields.push({ role, column, ...field(view, column, `field-${role}`, () => edited(fields[place])) });
    }
    refill(
      form,
      ...fields.map((f, i) => {
        const id = `field-${f.role || i}`;
        const lock =
          !f.role &&
          el('input', {
            type: 'checkbox',
            id: `lock-${i}`,
            checked: state.locked.has(f.column.name),
            on: {
              change: () => {
                if (lock.checked) state.locked.add(f.column.name);
                else state.locked.delete(f.column.name);
                later();
              },
            },
          });
        return el(
          'div',
          { class: 'field' },
          el('label', { for: id }, name(f.column.name), f.role && ` (${f.role})`),
          f.node,
          !f.role && el('label', { class: 'lock', for: `lock-${i}` }, lock, ' keep'),
        );
      }),
    );
    if (fields.length === 0) form.append(el('p', { class: 'dim' }, 'This size uses no column.'));
    write();
  };

  const update = () => {
    const scores = model.scores(view.places, state.values);
    const prediction = model.predict(scores, state.exposure);
    // Nothing is marked before the form was used.
    view.light = () => {
      document.querySelector('#rules .tried').hidden = !state.used;
      document.querySelectorAll('table.rules tr.line').forEach((tr) => {
        const rule = model.ensembles[Number(tr.dataset.ensemble)].rules[Number(tr.dataset.index)];
        tr.classList.toggle('lit', state.used && model.fires(rule, state.values));
      });
    };
    view.light();
    const e = state.e === null || !view.several ? (view.several ? prediction.label : 0) : state.e;
    const big = el('p', {
      class: 'big',
      id: 'prediction',
      'aria-live': 'polite',
      'data-scores': JSON.stringify(scores),
      'data-prediction': JSON.stringify(prediction.probabilities || [prediction.value]),
    });
    if (view.isClasses) {
      fill(
        big,
        el('span', { class: 'dim' }, name(model.target), ' = '),
        name(model.classes[prediction.label]),
        el('span', { class: 'dim' }, ` with a probability of ${chance(prediction.probabilities[prediction.label])}`),
      );
    } else {
      fill(
        big,
        el('span', { class: 'dim' }, name(model.target), view.isCounts ? ' expected: ' : ': '),
        short(prediction.value),
        view.isCounts &&
          model.exposure &&
          el('span', { class: 'dim' }, ` = exposure × ${short(Math.exp(scores[0]))}`),
      );
    }
    const really =
      state.row && state.row.y !== null
        ? el('p', { class: 'dim' }, 'Actual value in the table: ', name(targetText(view, state.row.y)))
        : null;
    const all =
      view.several &&
      el(
        'ul',
        { class: 'chances' },
        model.classes.map((c, k) =>
          el(
            'li',
            {},
            el(
              'button',
              {
                type: 'button',
                'aria-pressed': String(k === e),
                on: {
                  click: () => {
                    state.e = k;
                    update();
                  },
                },
              },
              name(c),
              ` ${chance(prediction.probabilities[k])}`,
            ),
            shareBar(prediction.probabilities[k]),
          ),
        ),
      );
    refill(
      result,
      big,
      really || '',
      all || '',
      view.several
        ? el(
            'p',
            { class: 'dim' },
            'Why the score of ',
            name(model.classes[e]),
            ' is what it is (choose another class above):',
          )
        : '',
      waterfall(view, e, state.values),
    );
    source.textContent = state.row
      ? `Row ${whole(state.row.number)} of the table.`
      : data
        ? 'Changed by hand.'
        : 'Filled with plausible values: change them.';
    state.prediction = prediction;
    later();
  };

  // The search may take a moment: it waits until typing pauses.
  const later = () => {
    clearTimeout(waiting);
    waiting = setTimeout(drawChange, 120);
  };
  const goalOf = () => {
    const { prediction, goal } = state;
    if (view.isClasses) {
      const other = prediction.label === 0 ? 1 : 0;
      return { class: goal.class !== undefined ? goal.class : other };
    }
    const way = goal.way || 'below';
    const typed = goal.value === undefined || goal.value === null ? null : goal.value;
    const value =
      typed === null
        ? Number(rounded(prediction.value - (way === 'below' ? 1 : -1) * 0.1 * Math.abs(prediction.value), 2))
        : typed;
    return { [way]: value };
  };
  const goalField = el('input', {
    type: 'text',
    inputmode: 'decimal',
    id: 'goal-value',
    on: {
      input: () => {
        const x = Number(goalField.value);
        state.goal.value = goalField.value.trim() === '' || Number.isNaN(x) ? null : x;
        later();
      },
    },
  });
  const goalWay = el(
    'select',
    {
      id: 'goal-way',
      on: {
        change: () => {
          state.goal.way = goalWay.value;
          later();
        },
      },
    },
    ['below', 'above'].map((w) => el('option', { value: w }, w)),
  );
  const goalClass = el(
    'select',
    {
      id: 'goal-class',
      on: {
        change: () => {
          state.goal.class = Number(goalClass.value);
          later();
        },
      },
    },
    model.classes.map((c, k) => el('option', { value: k }, c)),
  );
  const goalForm = view.isClasses
    ? el('label', { for: 'goal-class' }, 'What would make it ', goalClass, '?')
    : el(
        'span',
        {},
        el('label', { for: 'goal-way' }, 'What would bring it ', goalWay),
        ' ',
        el('label', { for: 'goal-value' }, el('span', { class: 'hidden' }, 'this value'), goalField),
        '?',
      );
  const answers = el('div', { 'aria-live': 'polite' });
  change.append(el('h3', {}, 'What would change it'), el('div', { class: 'controls' }, goalForm), answers);

  const drawChange = () => {
    const goal = goalOf();
    goalForm.hidden = view.several && model.identity && model.hasTrends(view.places);
    if (goalForm.hidden) {
      const why =
        'With trends and more than two classes whose scores are probabilities, what would change it is not known.';
      refill(answers, el('p', { class: 'dim' }, why));
      return;
    }
    if (goal.class !== undefined) goalClass.value = String(goal.class);
    else if (document.activeElement !== goalField && state.goal.value === undefined)
      goalField.value = plain(Object.values(goal)[0]);
    const found = new Recourse(model, view.places, state.values, goal, [...state.locked], state.exposure).run(5);
    const shown = ({ column, from }) => {
      if (from === null) return view.lacks(column) ? 'missing' : 'nothing';
      const special = specialName(model.columns.get(column), from);
      if (special !== null) return special;
      return typeof from === 'number' ? view.number(column, from) : from === ' other ' ? 'any other value' : from;
    };
    const after = ({ probabilities, value }) =>
      `${probabilities ? chance(probabilities[goal.class === undefined ? 1 : goal.class]) : short(value)} `;
    const item = (answer) =>
      el(
        'li',
        {},
        answer.changes.map((c, i) => [
          i > 0 && el('span', { class: 'and' }, ' and '),
          'change ',
          name(c.column),
          ' from ',
          name(shown(c)),
          ' to ',
          el('b', {}, name(c.text.replace(/<=/g, '≤').replace(/>=/g, '≥'))),
        ]),
        el('span', { class: 'dim' }, ` → ` + after(answer.prediction)),
        el(
          'button',
          {
            type: 'button',
            class: 'try',
            on: {
              click: () => {
                answer.changes.forEach((c) => {
                  state.values[c.column] = c.example;
                });
                state.row = null;
                state.used = true;
                write();
              },
            },
          },
          'Try it',
        ),
      );
    const none = found.met ? 'It is so already.' : 'No change of the columns that are not kept gets there.';
    refill(
      answers,
      found.answers.length > 0 ? el('ol', { class: 'answers' }, found.answers.map(item)) : el('p', {}, none),
      el(
        'p',
        { class: 'dim' },
        found.complete
          ? 'The fewest columns first, then the fewest thresholds crossed. Nothing smaller does it: all ' +
              'smaller changes were looked at. '
          : 'The search was cut short: something smaller may exist. ',
        'Tick “keep” beside what cannot be changed. This is what the model says, not what causes what.',
      ),
    );
  };

  view.listen(drawForm);
  view.tried = state;
  const buttons =
    data &&
    data.sample.numbers.length > 0 &&
    el(
      'div',
      { class: 'controls' },
      el('button', { type: 'button', on: { click: () => take((state.i || 0) - 1) } }, '← Previous row'),
      el('button', { type: 'button', on: { click: () => take((state.i || 0) + 1) } }, 'Next row →'),
      el(
        'button',
        { type: 'button', on: { click: () => take(Math.floor(Math.random() * data.sample.numbers.length)) } },
        'Random row',
      ),
    );
  return {
    id: 'what-if',
    title: 'Try a row',
    draw: () => {
      if (data && data.sample.numbers.length > 0) {
        state.i = 0;
        state.row = rowOf(data, 0);
        Object.assign(state.values, state.row.values);
        state.exposure = state.row.exposure;
      }
      drawForm();
    },
    node: [
      el(
        'p',
        {},
        'Fill in a row and see what is predicted and why. ' +
          (columns.some((column) => view.lacks(column.name)) ? 'An empty number is a missing value. ' : '') +
          'Once you have changed something, the rules that hold are marked in the list of rules, too.',
      ),
      buttons,
      source,
      el('div', { class: 'try' }, form, el('div', {}, result)),
      change,
    ],
  };
}

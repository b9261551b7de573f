// How well numbers and counts are predicted, and the section on all of that.

// Predicted against observed numbers, and what is left.
function errorPictures(view, data, groups) {
  const rows = data.sample.numbers
    .map((_, i) => rowOf(data, i))
    .filter((r) => r.y !== null && Number.isFinite(r.y))
    .map((r) => ({ y: r.y, f: view.model.predict(view.model.scores(view.places, r.values), r.exposure).value }));
  if (rows.length === 0) return [];
  const some = rows.filter((_, i) => i % Math.ceil(rows.length / 700) === 0);
  const ends = (list) => [Math.min(...list), Math.max(...list)];
  const [x0, x1] = ends(rows.map((r) => r.f));
  const [y0, y1] = ends(rows.map((r) => r.y));
  const target = view.model.target;
  const c = chart({
    width: halfRoom(),
    height: 310,
    x: { from: x0, to: x1 === x0 ? x0 + 1 : x1, label: `predicted ${target}` },
    y: { from: y0, to: y1 === y0 ? y0 + 1 : y1, label: `observed ${target}` },
    label: `Observed against predicted ${target}`,
  });
  const [from, to] = [Math.max(Math.min(x0, x1), y0), Math.min(Math.max(x0, x1), y1)];
  some.forEach((r) => c.plot.append(svg('circle', { class: 'rowdot', cx: c.x(r.f), cy: c.y(r.y), r: 2.2 })));
  if (to > from)
    c.plot.append(svg('line', { class: 'zero', x1: c.x(from), y1: c.y(from), x2: c.x(to), y2: c.y(to) }));
  const means = parts(
    groups,
    10,
    (g) => g.prediction.value,
    (g) => g.target,
  );
  c.plot.append(
    svg('polyline', {
      class: 'line train',
      points: points(means.map((m) => [c.x(m.predicted), c.y(Math.min(y1, Math.max(y0, m.observed)))])),
    }),
  );
  means.forEach((m) =>
    c.plot.append(
      svg(
        'circle',
        { class: 'dot train', cx: c.x(m.predicted), cy: c.y(Math.min(y1, Math.max(y0, m.observed))), r: 4 },
        tip(`${whole(m.rows)} rows: predicted ${short(m.predicted)}, observed ${short(m.observed)} on average`),
      ),
    ),
  );
  const left = rows.map((r) => r.y - r.f);
  const sorted = [...left].sort((a, b) => a - b);
  const far =
    Math.max(
      Math.abs(sorted[Math.floor(0.01 * (sorted.length - 1))]),
      Math.abs(sorted[Math.floor(0.99 * (sorted.length - 1))]),
    ) || 1;
  const count = 21;
  const bins = Array.from({ length: count }, () => 0);
  left.forEach((r) => {
    bins[Math.max(0, Math.min(count - 1, Math.floor(((r + far) / (2 * far)) * count)))] += 1;
  });
  const h = chart({
    width: halfRoom(),
    height: 310,
    x: { from: -far, to: far, label: 'observed − predicted' },
    y: { from: 0, to: Math.max(...bins) * 1.04, label: 'rows', format: (list) => list.map(plain) },
    label: 'Histogram of errors',
  });
  bins.forEach((n, i) => {
    const [a, b] = [h.x(-far + (2 * far * i) / count), h.x(-far + (2 * far * (i + 1)) / count)];
    h.plot.append(
      svg(
        'rect',
        { class: 'plainbar', x: a, y: h.y(n), width: b - a - 1, height: h.y(0) - h.y(n) },
        tip(counted(n, 'row')),
      ),
    );
  });
  h.plot.append(svg('line', { class: 'zero', x1: h.x(0), x2: h.x(0), y1: h.top, y2: h.height - h.bottom }));
  return [
    figure(
      'Predicted and observed',
      c.svg,
      `Grey: ${counted(some.length, 'row')}. Line: averages of ten groups of rows; on the dashed line they ` +
        `are right.`,
    ),
    figure(
      'What is left: the errors',
      h.svg,
      `Half of all errors lie between ${signed([sorted[Math.floor(sorted.length / 4)]])[0]} and ` +
        `${signed([sorted[Math.floor((3 * sorted.length) / 4)]])[0]}.`,
    ),
  ];
}

// Counts: lift by decile of the predicted rate, and how often each count occurs (Kleiber and Zeileis's rootogram).
function countPictures(view, data, groups) {
  const found = parts(
    groups,
    10,
    (g) => g.prediction.value,
    (g) => g.target,
    (g) => g.mass,
  );
  const most = Math.max(...found.flatMap((f) => [f.predicted, f.observed]));
  const per = view.model.exposure ? `${view.model.target} per unit of ${view.model.exposure}` : view.model.target;
  const c = chart({
    width: halfRoom(),
    height: 310,
    x: {
      from: 0.5,
      to: found.length + 0.5,
      ticks: found.map((_, i) => i + 1),
      format: (list) => list.map(plain),
      label: 'tenth of all rows, by predicted rate',
    },
    y: { from: 0, to: most * 1.04, label: per },
    label:
      `Lift: ` +
      found
        .map((f, i) => `${i + 1}: predicted ${rounded(f.predicted, 3)}, observed ${rounded(f.observed, 3)}`)
        .join('; '),
  });
  found.forEach((f, i) =>
    c.plot.append(
      svg(
        'rect',
        {
          class: 'plainbar',
          x: c.x(i + 0.65),
          width: c.x(i + 1.35) - c.x(i + 0.65),
          y: c.y(f.observed),
          height: c.y(0) - c.y(f.observed),
        },
        tip(`observed ${rounded(f.observed, 4)}`),
      ),
    ),
  );
  c.plot.append(
    svg('polyline', { class: 'line train', points: points(found.map((f, i) => [c.x(i + 1), c.y(f.predicted)])) }),
  );
  found.forEach((f, i) =>
    c.plot.append(
      svg(
        'circle',
        { class: 'dot train', cx: c.x(i + 1), cy: c.y(f.predicted), r: 4 },
        tip(`predicted ${rounded(f.predicted, 4)}`),
      ),
    ),
  );
  const lift =
    found.length > 1 && found[0].observed > 0
      ? ` The highest tenth has ${rounded(found[found.length - 1].observed / found[0].observed, 3)} times the ` +
        `observed rate of the lowest.`
      : '';
  const pictures = [figure('Lift by tenth', c.svg, `Bars: observed. Line: predicted.${lift}`)];
  const rows = data.sample.numbers.map((_, i) => rowOf(data, i)).filter((r) => r.y !== null);
  if (rows.length > 0 && rows.every((r) => Number.isInteger(r.y))) {
    const top = Math.min(20, Math.max(...rows.map((r) => r.y)));
    const seen = Array.from({ length: top + 1 }, (_, k) => rows.filter((r) => r.y === k).length);
    const expected = Array.from({ length: top + 1 }, () => 0);
    rows.forEach((r) => {
      const mean = view.model.predict(view.model.scores(view.places, r.values), r.exposure).value;
      let chanceOf = Math.exp(-mean);
      expected.forEach((_, k) => {
        expected[k] += chanceOf;
        chanceOf *= mean / (k + 1);
      });
    });
    const height = Math.max(...expected.map(Math.sqrt), ...seen.map(Math.sqrt));
    const low = Math.min(0, ...expected.map((x, k) => Math.sqrt(x) - Math.sqrt(seen[k])));
    const h = chart({
      width: halfRoom(),
      height: 310,
      x: {
        from: -0.6,
        to: top + 0.6,
        ticks: ticks(0, top, 10).filter(Number.isInteger),
        format: (list) => list.map(plain),
        label: view.model.target,
      },
      y: { from: low, to: height * 1.04, label: 'square root of rows' },
      label: 'Hanging rootogram',
    });
    seen.forEach((n, k) =>
      h.plot.append(
        svg(
          'rect',
          {
            class: 'plainbar',
            x: h.x(k - 0.35),
            width: h.x(k + 0.35) - h.x(k - 0.35),
            y: h.y(Math.sqrt(expected[k])),
            height: Math.max(0.5, h.y(Math.sqrt(expected[k]) - Math.sqrt(n)) - h.y(Math.sqrt(expected[k]))),
          },
          tip(`${k}: ${n} rows, ${rounded(expected[k], 4)} expected`),
        ),
      ),
    );
    h.plot.append(
      svg('line', { class: 'zero', x1: h.left, x2: h.width - h.right, y1: h.y(0), y2: h.y(0) }),
      svg('polyline', { class: 'line train', points: points(expected.map((x, k) => [h.x(k), h.y(Math.sqrt(x))])) }),
    );
    pictures.push(
      figure(
        'How often each count occurs',
        h.svg,
        'Bars of observed rows hang from the expected ones (line). They end at the dashed line where the ' +
          'model is right, and below it where there were more than expected.',
      ),
    );
  }
  return pictures;
}

function fitSection(view) {
  const holder = el('div', { class: 'pictures' });
  const options = [
    ['test', view.test, 'test rows'],
    ['table', view.table, view.table && view.table.training === false ? 'the table given' : 'training rows'],
  ].filter(([, data]) => data && data.labelled);
  let data = options.length > 0 ? options[0][1] : null;
  let e = 0;
  const note = el('p', { class: 'dim' });
  const draw = () => {
    if (!data) {
      refill(
        holder,
        el(
          'p',
          { class: 'dim' },
          'No table with the target was given, so there is nothing to compare predictions with.',
        ),
      );
      return;
    }
    const groups = predictedGroups(view, data);
    const node = !view.isClasses
      ? view.isCounts
        ? countPictures(view, data, groups)
        : errorPictures(view, data, groups)
      : view.several
        ? [confusionPicture(view, groups), calibrationPicture(view, groups, e)]
        : [calibrationPicture(view, groups, 0), ...rankPictures(view, data, groups)];
    refill(holder, ...node);
    const all =
      data.groups || data.sample.numbers.length === data.used
        ? `All ${counted(data.used, 'row')} are in averages, curves and tables`
        : `${counted(data.sample.numbers.length, 'row')} drawn at random of ${whole(data.used)} are shown`;
    const drawn = data.sample.numbers.length;
    const single = data.groups && !view.isClasses && drawn < data.used;
    const rest = single ? `; ${drawn} drawn at random are in pictures of single rows` : '';
    note.textContent = `${all}${rest}.`;
  };
  view.listen(draw);
  const radios =
    options.length > 1 &&
    el(
      'fieldset',
      { class: 'controls' },
      el('legend', {}, 'Rows'),
      options.map(([id, of, text], i) =>
        el(
          'label',
          {},
          el('input', {
            type: 'radio',
            name: 'fit-rows',
            value: id,
            checked: i === 0,
            on: {
              change: () => {
                data = of;
                draw();
              },
            },
          }),
          ` ${text}`,
        ),
      ),
    );
  return {
    id: 'fit',
    title: 'How well it fits',
    draw,
    node: [
      data &&
        options[0][0] === 'table' &&
        view.table.training !== false &&
        el(
          'p',
          {},
          'These are rows that the model learned from. On new rows it will do less well; give a --test table ' +
            'to see how much.',
        ),
      radios,
      classPicker(view, 'fit-class', (chosen) => {
        e = chosen;
        draw();
      }),
      holder,
      note,
    ],
  };
}

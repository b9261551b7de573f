// Risk against complexity, and the slider that all else follows.

function sizeText(view, i) {
  const { rules, complexity, places } = view.entry.sizes[i];
  const terms = places.map((place, e) => view.model.terms(e, place));
  if (!view.several || view.model.shared) return `${termsCounted(terms[0])}, complexity ${complexity}`;
  const trends = terms.some((list) => list.some((t) => t.rule.trend));
  return `up to ${counted(rules, trends ? 'term' : 'rule')} a class, complexity ${complexity}`;
}

// Where the picture ends, and whether its scale is a logarithmic one: where the largest error is several times the
// smallest, the sizes that matter would lie in one line.
function curveEnds(shown, base) {
  const most = 1.6 * Math.max(0, ...base.filter(Number.isFinite));
  const top = most > 0 ? Math.min(most, Math.max(...shown)) : Math.max(...shown);
  const low = Math.max(0, Math.min(...shown));
  const log = low > 0 && top > 2 * low;
  if (log) return { from: low / 1.1, to: top * 1.05, log };
  const pad = 0.06 * (top - low || Math.abs(top) || 1);
  return { from: low === 0 ? 0 : Math.max(0, low - pad), to: top + pad, log };
}

function curveSection(view) {
  const holder = el('div', { class: 'wide' });
  const said = el('p', { class: 'lead', 'aria-live': 'polite' });
  const { curves, rooted, relative, name, text, base } = curvesOf(view);
  const draw = () => {
    const { sizes } = view.entry;
    const most = Math.max(1, ...sizes.map((s) => s.complexity));
    const shown = curves
      .flatMap((c) => c.shown.flatMap((r, i) => (c.bars ? [r - c.bars[i], r + c.bars[i]] : [r])))
      .filter((r) => Number.isFinite(r) && r > 0);
    const { from, to, log } = shown.length > 0 ? curveEnds(shown, base) : { from: 0, to: 1, log: false };
    const c = chart({
      width: roomFor(976),
      height: 320,
      x: { from: 0, to: most, label: 'complexity: rules plus conditions', format: (list) => list.map(plain) },
      y: {
        from,
        to,
        log,
        label: `${name}${log ? ' (logarithmic scale)' : ''}`,
        format: relative ? (list) => list.map((t) => `${rounded(100 * t, 4)}%`) : undefined,
      },
      label:
        `${capital(name)} of every size against its complexity, for ${curves.map((k) => k.text).join(' and ')}. ` +
        `${sizeText(view, view.size)} is shown.`,
    });
    const at = (i) => c.x(sizes[i].complexity);
    const inside = (r) => c.y(Math.min(to, Math.max(from, r)));
    c.plot.append(
      svg('rect', {
        class: 'here',
        x: at(view.size) - 5,
        y: c.top,
        width: 10,
        height: c.height - c.top - c.bottom,
        rx: 3,
      }),
    );
    for (const curve of curves) {
      const places = curve.shown.map((r, i) => [r, i]).filter(([r]) => Number.isFinite(r));
      if (curve.bars) {
        const up = places.map(([r, i]) => [at(i), inside(r + curve.bars[i])]);
        const down = places.map(([r, i]) => [at(i), inside(r - curve.bars[i])]).reverse();
        c.plot.append(svg('polygon', { class: `band ${curve.kind}`, points: points([...up, ...down]) }));
      }
      c.plot.append(
        svg('polyline', { class: `line ${curve.kind}`, points: points(places.map(([r, i]) => [at(i), inside(r)])) }),
      );
      for (const [r, i] of places) {
        const dot = svg(
          'circle',
          { class: `dot ${curve.kind}`, cx: at(i), cy: inside(r), r: i === view.size ? 5 : 2.6 },
          tip(`${sizeText(view, i)}: ${text(r)} (${curve.text})`),
        );
        c.plot.append(dot);
      }
    }
    const chosen = view.entry.chosen;
    const [side, anchor] = at(chosen) > 0.8 * c.width ? [-1, 'end'] : [1, 'start'];
    if (curves.length > 0) {
      c.plot.append(
        svg('text', { x: at(chosen) + side * 9, y: c.top + 12, 'text-anchor': anchor, class: 'label' }, 'chosen'),
      );
    }
    c.svg.addEventListener('click', (event) => {
      const box = c.svg.getBoundingClientRect();
      const x = ((event.clientX - box.left) / box.width) * c.width;
      const nearest = sizes
        .map((_, i) => i)
        .reduce((best, i) => (Math.abs(at(i) - x) < Math.abs(at(best) - x) ? i : best), 0);
      view.show(nearest);
    });
    refill(holder, c.svg);
    const parts = curves.map(
      (k) =>
        `${text(k.shown[view.size])} ${k.kind === 'cv' ? 'in' : 'on'} ${k.text.replace(/^(training|test)/, 'the $1')}`,
    );
    const before = curves.length > 0 && rooted ? ` Without rules it is ${text(base[base.length - 1])}.` : '';
    const what = rooted ? 'RMSE' : relative ? 'Error left' : 'Risk';
    said.textContent = `Shown: ${sizeText(view, view.size)}. ${what}: ${parts.join('; ')}.${before}`;
  };
  view.listen(draw);
  const note =
    curves.length < 2 && !view.test
      ? el(
          'p',
          { class: 'dim' },
          'Only training rows are known. Their error always falls as rules are added; fit with --cv 5, or ' +
            'give a --test table, to see where more rules stop helping.',
        )
      : null;
  return {
    id: 'sizes',
    title: 'How many rules?',
    draw,
    node: [
      el(
        'p',
        {},
        'More rules fit the data more closely but are more to read, and too many fit chance. Move the slider ' +
          'at the top, or click into the picture: everything below follows.',
      ),
      holder,
      legend(curves.map((c) => [c.kind, c.text + (c.more || '')])),
      said,
      note,
    ],
  };
}

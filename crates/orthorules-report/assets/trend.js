// Trends: their wording, what they may add, and small pictures of their lines.

// The text of a trend, as every shell has it.
function trendText({ column, from, to, zero, per }) {
  const each = `for each ${plain(Math.abs(per))} that `;
  if (zero === from) return [each, name(column), ` is above ${plain(from)}, up to ${plain(to)}`];
  if (zero === to && per < 0) return [each, name(column), ` is below ${plain(to)}, down to ${plain(from)}`];
  return [`per ${plain(per)} of `, name(column), `, from ${plain(from)} to ${plain(to)} (0 at ${plain(zero)})`];
}

// Its values at both ends.
const trendEnds = (trend) => [trend.from, trend.to].map((x) => trendValue(trend, x));

// The line of a trend in place of a bar: the column's numbers from left to right, what it adds upwards, around 0.
function trendBar(term) {
  const { trend } = term.rule;
  const ends = trendEnds(trend).map((value) => term.weight * value);
  const [low, high] = [Math.min(0, ...ends), Math.max(0, ...ends)];
  const y = linear(low, high, 13, 1);
  return svg(
    'svg',
    { viewBox: '0 0 100 14', class: 'bar', 'aria-hidden': 'true', preserveAspectRatio: 'none' },
    svg('line', { class: 'axis', x1: 4, x2: 96, y1: y(0), y2: y(0) }),
    svg('polyline', {
      class: `slope ${term.weight * trend.per < 0 ? 'down' : 'up'}`,
      points: points([
        [4, y(ends[0])],
        [22, y(ends[0])],
        [78, y(ends[1])],
        [96, y(ends[1])],
      ]),
    }),
  );
}

// What a trend adds along its column.
function trendPicture(view, term) {
  const { trend } = term.rule;
  const pad = (trend.to - trend.from) * 0.12;
  const ends = trendEnds(trend).map((value) => term.weight * value);
  const [low, high] = [Math.min(0, ...ends), Math.max(0, ...ends)];
  const texts = signed(ends);
  const c = chart({
    width: page.onPaper ? cardRoom() : roomFor(420),
    height: 180,
    top: 22,
    x: { from: trend.from - pad, to: trend.to + pad, label: trend.column },
    y: { from: low, to: high === low ? low + 1 : high, label: `adds to the ${view.unit}` },
    label: `${term.text}: ${texts[0]} at ${plain(trend.from)}, ${texts[1]} at ${plain(trend.to)}`,
  });
  const path = [
    [trend.from - pad, ends[0]],
    [trend.from, ends[0]],
    [trend.to, ends[1]],
    [trend.to + pad, ends[1]],
  ];
  c.plot.append(
    svg('line', { class: 'zero', x1: c.left, x2: c.width - c.right, y1: c.y(0), y2: c.y(0) }),
    svg('polyline', { class: 'line step', points: points(path.map(([x, y]) => [c.x(x), c.y(y)])) }),
    ...[trend.from, trend.to].map((x, i) =>
      svg('circle', { class: 'dot step', cx: c.x(x), cy: c.y(ends[i]), r: 4 }, tip(`${plain(x)}: ${texts[i]}`)),
    ),
  );
  return c.svg;
}

// A trend as a sentence.
function trendSentence(view, term) {
  const { column, from, to, zero, per } = term.rule.trend;
  const target = view.isClasses ? `${view.model.target} = ${view.className(term.e)}` : view.model.target;
  const effect = view.factorOf
    ? [
        `the ${view.factorOf} of `,
        name(target),
        ` ${view.factorOf === 'odds' ? 'are' : 'is'} multiplied by ${short(Math.exp(term.weight), 3)} ` +
          `(${term.shown} in the score).`,
      ]
    : [
        view.isClasses ? 'the probability of ' : 'the prediction of ',
        name(target),
        ` ${term.weight < 0 ? 'falls' : 'rises'} by ${term.shown.replace(/^[-+]/, '')}.`,
      ];
  const where =
    zero === from
      ? ` above ${plain(from)}, `
      : zero === to
        ? ` below ${plain(to)}, `
        : ` from ${plain(from)} to ${plain(to)}, `;
  const rest =
    zero === from
      ? ` Up to ${plain(from)} the trend adds nothing; beyond ${plain(to)} it adds no more.`
      : zero === to
        ? ` From ${plain(to)} on the trend adds nothing; below ${plain(from)} it adds no more.`
        : ` At ${plain(zero)} the trend adds nothing; beyond the ends it changes no more.`;
  const gap = view.lacks(column) ? ' A missing value adds nothing.' : '';
  return el('p', {}, `With each ${plain(Math.abs(per))} of `, name(column), where, effect, rest, gap);
}

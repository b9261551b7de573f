// How good the model is: the risk of every size, and the cards at the top.

// The risk of every size: {kind, text, risks, errors}. `shown` is what the curve shows of them, `bars` their standard
// errors: the root of squared errors where numbers are predicted, else the part of the risk without rules.
function curvesOf(view) {
  const { entry, model } = view;
  const { cv } = model.document;
  const single =
    model.ensembles.length === 1 || model.shared
      ? entry.sizes.map((s) => model.ensembles[0].path[s.places[0]].train_risk)
      : null;
  const measured = (data) => (data && data.labelled ? data.measures.map((m) => m.risk) : null);
  const isTraining = view.table && view.table.training !== false;
  const curves = [
    { kind: 'train', text: 'training rows', risks: single || (isTraining ? measured(view.table) : null) },
    {
      kind: 'other',
      text: 'the table given',
      risks: view.table && view.table.training === false ? measured(view.table) : null,
    },
    {
      kind: 'cv',
      text: 'cross-validation',
      more: cv ? `, ${cv.folds} folds, ± standard error` : '',
      risks: cv ? cv.path.map((s) => s.cv_risk) : null,
      errors: cv ? cv.path.map((s) => s.cv_se) : null,
    },
    { kind: 'test', text: 'test rows', risks: measured(view.test) },
  ].filter((curve) => curve.risks && curve.risks.some(Number.isFinite));
  const constant = entry.sizes.findIndex((s) => s.complexity === 0);
  const bases = curves.map((curve) => (constant < 0 ? NaN : curve.risks[constant]));
  const rooted = model.task === 'regression';
  const relative = !rooted && bases.every((base) => base > 0);
  curves.forEach((curve, c) => {
    const of = (risk) => (rooted ? Math.sqrt(risk) : relative ? risk / bases[c] : risk);
    curve.shown = curve.risks.map(of);
    // Of a root, to first order.
    const bar = (error, i) => (rooted ? error / (2 * curve.shown[i]) : of(error));
    curve.bars = curve.errors && curve.errors.map(bar).map((x) => (Number.isFinite(x) ? x : 0));
  });
  const name = rooted ? 'RMSE' : relative ? 'error left, 100% = no rules' : 'risk';
  const text = (x) => (relative ? `${rounded(100 * x, 3)}%` : short(x));
  return { curves, rooted, relative, name, text, base: curves.map((c) => c.shown[constant]) };
}

// A part of all that could be explained.
const explained = (part) => (part > 0 ? percent(part) : 'none');

// The cards: {value, text, source, where}. Rows that the model has not seen come first; then what it does on the rows
// that it learned from, which is said on the card.
function cardsOf(view) {
  const { model, entry, size } = view;
  const { cv } = model.document;
  const constant = entry.sizes.findIndex((s) => s.complexity === 0);
  const fresh = [view.test, view.table && view.table.training === false ? view.table : null].find(
    (t) => t && t.labelled,
  );
  const known = !fresh && view.table && view.table.labelled ? view.table : null;
  const saved = (risks) => (constant >= 0 && risks[constant] > 0 ? 1 - risks[size] / risks[constant] : NaN);
  const ofFresh = fresh && {
    source: fresh === view.test ? 'Test rows' : 'The table given',
    where: `${counted(fresh.used, 'row')} other than those it learned from`,
  };
  const ofTraining = {
    source: 'Training rows',
    where: 'The model learned from these. It does less well on new rows.',
  };
  const ofFolds = cv && {
    source: 'Cross-validation',
    where: `Each of ${cv.folds} parts is predicted by rules learned from the others.`,
  };
  const cards = [];
  if (fresh) cards.push(...measuredCards(view, fresh, saved).map((card) => ({ ...card, ...ofFresh })));
  else if (cv) cards.push(...foldCards(view, cv, saved).map((card) => ({ ...card, ...ofFolds })));
  if (known)
    cards.push(...measuredCards(view, known, saved, cards.length > 0).map((card) => ({ ...card, ...ofTraining })));
  if (cards.length === 0 && (model.ensembles.length === 1 || model.shared)) {
    const risks = entry.sizes.map((s) => model.ensembles[0].path[s.places[0]].train_risk);
    const part = saved(risks);
    if (Number.isFinite(part)) cards.push({ ...partCard(view, part), ...ofTraining });
  }
  return cards;
}

// How much less the loss is than without rules.
function partCard(view, part) {
  const target = view.model.target;
  if (view.isClasses) return { value: explained(part), text: 'less loss than the best constant guess' };
  const what = view.isCounts
    ? `of the deviance of ${target} is explained`
    : `of the differences in ${target} are explained (R²)`;
  return { value: explained(part), text: what };
}

const errorCard = (view, rmse, r2, mae) => ({
  value: short(rmse, 3),
  text:
    `is the typical error of a prediction of ${view.model.target} (RMSE)` +
    (mae === undefined ? '' : `, and ${short(mae, 3)} the mean error (MAE)`) +
    (Number.isFinite(r2) ? `; ${explained(r2)} of the differences are explained (R²)` : ''),
});

// What is not quite 1 is not shown as 1.
const areaText = (auc) => short(Math.min(auc, auc < 1 ? 0.999 : 1), 3);

function areaCard(view, auc) {
  const { target } = view.model;
  const text = view.several
    ? 'AUC: how well the classes are told apart. 0.5 is chance, and 1 is without a mistake'
    : `AUC: of two rows, one with ${target} = ${view.className(0)} and one without, it ranks the right one higher in ` +
      `${ofHundred(auc)} of 100 cases`;
  return { value: areaText(auc), text };
}

// Of rows of a table; on one card where `brief` is true.
function measuredCards(view, data, saved, brief) {
  const measures = data.measures[view.size];
  const constant = data.measures[view.entry.sizes.findIndex((s) => s.complexity === 0)];
  if (view.isClasses) {
    const guess = constant ? `; ${ofHundred(constant.accuracy)} would by always naming the most frequent class` : '';
    const area = measures.auc === undefined ? [] : [areaCard(view, measures.auc)];
    const aside = brief && area.length > 0 ? ` (AUC ${area[0].value})` : '';
    const card = {
      value: `${ofHundred(measures.accuracy)} of 100`,
      text: `rows get the right class${aside}${guess}`,
    };
    return brief ? [card] : [card, ...area];
  }
  if (!view.isCounts) return [errorCard(view, measures.rmse, measures.r2, measures.mae)];
  const part = saved(data.measures.map((m) => m.risk));
  return Number.isFinite(part) ? [partCard(view, part)] : [];
}

// Of rows that were held out.
function foldCards(view, cv, saved) {
  // These are known of the chosen size alone.
  const held = view.size === view.entry.chosen ? cv.measures : null;
  if (held) {
    return [
      {
        value: `${ofHundred(held.accuracy)} of 100`,
        text: `rows get the right class; the log loss is ${short(held.log_loss, 3)}`,
      },
      ...(held.auc === undefined ? [] : [areaCard(view, held.auc)]),
    ];
  }
  const part = saved(cv.path.map((s) => s.cv_risk));
  if (!view.isClasses && !view.isCounts) return [errorCard(view, Math.sqrt(cv.path[view.size].cv_risk), part)];
  return Number.isFinite(part) ? [partCard(view, part)] : [];
}

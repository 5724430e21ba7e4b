// Error rates: galloon against the engines and the vote, as curves and as a sorted table with bars.

import { h, put, count, percent, plural } from "./dom.js";
import { Chart } from "./chart.js";
import { COMBINED } from "./experts.js";

const ROOM = 1.3; // above the third best engine; what is worse would press the rest flat, and is in the table
const last = (values) => values?.findLast((value) => value !== null) ?? null;

export class Rates {
  constructor(experts, unit) {
    this.experts = experts;
    this.kind = unit === "char" ? "cer" : "wer";
    this.chart = new Chart({ label: "Error rate as true texts come in", format: (value) => `${Number(value.toPrecision(3))} %`, xName: "true words" });
    this.table = h("div", { class: "rate-table" });
    this.switch = h("div", { class: "switch", role: "group", "aria-label": "Unit of the error rate" },
      [["wer", "words"], ["cer", "characters"]].map(([kind, name]) =>
        h("button", { type: "button", "data-kind": kind, "aria-pressed": String(kind === this.kind), onclick: () => this.#choose(kind) }, name)));
    this.counted = h("p", { class: "note", id: "counted" });
    this.element = h("div", { class: "beside" }, h("div", {}, this.switch, this.chart.element, this.counted), this.table);
  }

  // Curves of all corrections of the history; a figure that covers a part of them says of how many.
  update(curve) {
    this.curve = curve;
    this.counted.textContent = curve.counted === curve.lessons ? `All ${plural(curve.counted, "correction")} of the history.`
      : `${count(curve.counted)} of ${plural(curve.lessons, "lesson")} are counted: scores and gains tell no errors, and what came last is counted a moment later.`;
    const series = this.#series();
    const engines = series.filter((line) => this.experts.of(line.key).kind === "engine").map((line) => last(line.values));
    const third = engines.filter((rate) => rate !== null).sort((a, b) => a - b)[2] ?? Math.max(0, ...engines);
    const main = series.filter((line) => line.strong || line.style === "derived").map((line) => last(line.values) ?? 0);
    this.chart.update(curve.true_words, series, ROOM * Math.max(third, ...main, 0.1));
    this.#list(series);
  }

  #choose(kind) {
    this.kind = kind;
    for (const button of this.switch.children) button.setAttribute("aria-pressed", String(button.dataset.kind === kind));
    this.update(this.curve);
  }

  #series() {
    const lines = Object.entries(this.curve.rates).map(([name, kinds]) => {
      const expert = this.experts.of(name);
      const strong = name === COMBINED;
      return { key: name, name, short: strong ? name : expert.tag, values: kinds[this.kind], style: strong ? "combined" : expert.style, dash: strong ? "" : expert.dash, strong };
    });
    return lines.sort((a, b) => a.strong - b.strong);
  }

  // Of how many corrections, where not all: an engine that did not run in the others.
  #part(name) {
    const { counted, corrections_of: known } = this.curve;
    return known[name] < counted ? h("span", { class: "soft part" }, `${count(known[name])} of ${count(counted)}`) : null;
  }

  #list(series) {
    const rows = series.map((line) => ({ ...line, rate: last(line.values) })).filter(({ rate }) => rate !== null).sort((a, b) => a.rate - b.rate);
    if (!rows.length) return put(this.table, h("p", { class: "empty" }, "Known once true texts have come as feedback."));
    const most = Math.max(...rows.map(({ rate }) => rate), 0.1);
    return put(this.table, h("table", { class: "bars" }, h("caption", { class: "unseen" }, "Error rates, best first"),
      h("tbody", {}, rows.map(({ key, name, rate, style, strong }) =>
        h("tr", { class: strong ? "strong" : null },
          h("th", { scope: "row" }, strong ? name : this.experts.chip(key)),
          h("td", {}, h("span", { class: `bar-fill ${style}`, vars: { "--long": `${(100 * rate) / most}%` } })),
          h("td", { class: "number" }, percent(rate), this.#part(key)))))));
  }
}

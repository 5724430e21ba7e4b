// How much each expert is trusted, as a table whose cells are shaded: by slot, by context, by transition.

import { h, put, share, count, words } from "./dom.js";

const cell = (value, style) =>
  h("td", { class: `heat ${style}`, vars: { "--share": value === null ? 0 : `${Math.round(100 * value ** 0.7)}%` } }, value === null ? "–" : share(value).replace(" %", ""));

// Slots are few and have short names, so experts become the rows and can be read.
const bySlot = (table, experts) =>
  h("table", { class: "heatmap" },
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "slot"), table.rows.map((row) => h("th", { scope: "col" }, row.replace("slot ", ""))))),
    h("tbody", {}, table.columns.map((name, column) =>
      h("tr", {}, h("th", { scope: "row" }, experts.chip(name)), table.rows.map((_, row) => cell(table.probabilities[row][column], experts.of(name).style))))));

// The names of experts within the name of a context, as tags: seven names in a row are too long to compare.
const contextName = (name, experts) =>
  name.split(/( = | \| |\(|\)|, |: )/u).map((part) => {
    if (experts.known.has(part)) return experts.tag(part);
    return part === " = " ? " " : part === " | " ? h("span", { class: "apart" }, "≠") : part;
  });

const byRow = (table, experts) =>
  h("table", { class: "heatmap" },
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, table.row_kind), table.counts ? h("th", { scope: "col" }, "met") : null,
      table.columns.map((name) => h("th", { scope: "col" }, table.columns.length > 1 ? experts.tag(name) : words(name))))),
    h("tbody", {}, table.rows.map((name, row) =>
      h("tr", {}, h("th", { scope: "row", class: "context", title: name }, contextName(name, experts)), table.counts ? h("td", { class: "number" }, count(table.counts[row])) : null,
        table.columns.map((column, n) => cell(table.probabilities[row][n], experts.of(column).style))))));

const FEW = 10; // rows, until somebody wants all
const INTRO = {
  slot: "The probability of each expert in each slot of a window, in percent.",
  context: "Who agrees with whom in a slot decides whom it trusts there: the probability of each expert, in percent, in the contexts that were met most often.",
  transition: "The probability that the next path uses each transition, in percent.",
};

export class Weights {
  constructor(experts) {
    Object.assign(this, { experts, all: false });
    this.intro = h("p", { class: "note" });
    this.frame = h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Weights" });
    this.more = h("button", { type: "button", class: "quiet small", onclick: () => { this.all = !this.all; this.#show(); } });
    this.element = h("div", {}, this.intro, this.frame, this.more);
  }

  update(table) {
    this.table = table;
    this.#show();
  }

  #show() {
    const { table, all, experts } = this;
    const unknown = !table || table.probabilities.flat().every((value) => value === null);
    this.frame.hidden = unknown;
    this.more.hidden = unknown || table.rows.length <= FEW;
    if (unknown) {
      this.intro.textContent = table ? "This algorithm has no cheap way to tell its probabilities." : "This learner keeps no table of weights.";
      return;
    }
    this.intro.textContent = INTRO[table.row_kind] ?? `The probability of each expert by ${table.row_kind}, in percent.`;
    this.more.textContent = all ? "Show fewer" : `Show all ${table.rows.length}`;
    this.more.setAttribute("aria-expanded", String(all));
    put(this.frame, (table.row_kind === "slot" ? bySlot : byRow)(all ? table : { ...table, rows: table.rows.slice(0, FEW) }, experts));
    this.element.closest(".pair")?.classList.toggle("stacked", table.row_kind !== "slot");
  }
}

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

const byRow = (table, experts) =>
  h("table", { class: "heatmap" },
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, table.row_kind), table.counts ? h("th", { scope: "col" }, "met") : null,
      table.columns.map((name) => h("th", { scope: "col" }, table.columns.length > 1 ? experts.tag(name) : words(name))))),
    h("tbody", {}, table.rows.map((name, row) =>
      h("tr", {}, h("th", { scope: "row", class: "context" }, name), table.counts ? h("td", { class: "number" }, count(table.counts[row])) : null,
        table.columns.map((column, n) => cell(table.probabilities[row][n], experts.of(column).style))))));

const INTRO = {
  slot: "The probability of each expert in each slot of a window, in percent.",
  context: "The probability of each expert in each context, in percent; the most frequent contexts first.",
  transition: "The probability that the next path uses each transition, in percent.",
};

export const showWeights = (place, table, experts) => {
  if (!table) return put(place, h("p", { class: "empty" }, "This learner keeps no table of weights."));
  if (table.probabilities.flat().every((value) => value === null)) {
    return put(place, h("p", { class: "empty" }, "This algorithm has no cheap way to tell its probabilities."));
  }
  const intro = INTRO[table.row_kind] ?? `The probability of each expert by ${table.row_kind}, in percent.`;
  // The frame stays when the figures change, so that nobody's place in it is lost.
  const frame = place.querySelector(".scroll") ?? h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Weights" });
  put(frame, (table.row_kind === "slot" ? bySlot : byRow)(table, experts));
  return frame.isConnected ? frame : put(place, h("p", { class: "note" }, intro), frame);
};

// How a learner compares with its challengers, the vote and every engine: what to do, and the figures behind it.

import { h, put, count } from "./dom.js";

const points = (value) => (value === null ? "–" : `${value > 0 ? "+" : value < 0 ? "−" : ""}${Math.abs(value).toFixed(2)}`);
const KINDS = { challenger: " (challenger)", engine: "", vote: "", learner: "" };

export class Compare {
  constructor() {
    this.sentence = h("p", { id: "advice" });
    this.table = h("div", {});
    this.element = h("div", {}, this.sentence, this.table);
  }

  update(found) {
    this.sentence.textContent = found.sentence;
    this.sentence.className = ["go_live", "promote"].includes(found.verdict) ? "warning" : "note";
    const known = found.others.filter(({ error_rate }) => error_rate !== null).sort((a, b) => a.error_rate - b.error_rate);
    if (!known.length) return put(this.table);
    return put(this.table, h("table", { class: "compare" },
      h("caption", { class: "unseen" }, "Differences of error rate, the best first"),
      h("thead", {}, h("tr", {}, ["", "errors", "difference", "95 % interval", "corrections"].map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", {}, [found.learner, ...known].map((each) => this.#row(each, found)))));
  }

  #row(each, found) {
    const interval = each.difference_low === null ? "–" : `${points(each.difference_low)} to ${points(each.difference_high)}`;
    const answered = each.kind !== "challenger" && each.name === (found.answered || found.learner.name);
    const counted = each.corrections < found.learner.corrections ? `${count(each.corrections)} of ${count(found.learner.corrections)}` : count(each.corrections);
    const own = each.kind === "learner";
    return h("tr", { class: own ? "strong" : null },
      h("th", { scope: "row" }, `${each.name}${KINDS[each.kind]}${answered ? ", answers" : ""}`),
      h("td", { class: "number" }, each.error_rate === null ? "–" : `${each.error_rate.toFixed(2)} %`),
      h("td", { class: "number" }, own ? "" : points(each.difference)),
      h("td", { class: "number" }, own ? "" : interval),
      h("td", { class: "number" }, counted));
  }
}

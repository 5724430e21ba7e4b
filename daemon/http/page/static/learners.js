// All learners: what each has learned, and where it stands against the vote and the best engine.

import { get } from "./api.js";
import { h, put, count, percent, plural, words } from "./dom.js";
import { COMBINED } from "./experts.js";

const SETTINGS = { full: "full information", semi: "semi-bandit", bandit: "bandit" };
export const about = (learner) => {
  const experts = learner.automaton ? "explicit automaton" : plural(learner.experts.length, "engine");
  return [words(learner.algorithm), SETTINGS[learner.setting], learner.unit === "char" ? "characters" : "words", experts].join(" · ");
};
export const link = (name) => `#/learner/${encodeURIComponent(name)}`;

// galloon, the vote and the best engine; null while nothing is known.
export const standing = ({ rates, experts, unit }) => {
  const kind = unit === "char" ? "cer" : "wer";
  const known = experts.filter((name) => rates[name]?.[kind] != null).sort((a, b) => rates[a][kind] - rates[b][kind]);
  if (rates[COMBINED]?.[kind] == null) return null;
  return { kind, galloon: rates[COMBINED][kind], vote: rates.vote?.[kind] ?? null, best: known.length ? { name: known[0], rate: rates[known[0]][kind] } : null };
};

const bars = (found) => {
  if (!found) return h("p", { class: "empty" }, "No true texts yet, so no error rates.");
  const rows = [[COMBINED, found.galloon, "combined"], ["vote", found.vote, "derived"], [found.best?.name, found.best?.rate, "best"]].filter(([, rate]) => rate != null);
  const most = Math.max(...rows.map(([, rate]) => rate), 0.1);
  return h("table", { class: "bars" }, h("caption", { class: "unseen" }, "Error rates"), h("tbody", {}, rows.map(([name, rate, style]) =>
    h("tr", { class: style === "combined" ? "strong" : null }, h("th", { scope: "row" }, name),
      h("td", {}, h("span", { class: `bar-fill ${style}`, vars: { "--long": `${(100 * rate) / most}%` } })), h("td", { class: "number" }, percent(rate))))));
};

const tile = (learner) =>
  h("li", {}, h("article", { class: "card tile" },
    h("h2", {}, h("a", { href: link(learner.name) }, learner.name)),
    h("p", { class: "note" }, about(learner)),
    learner.out_of_service ? h("p", { class: "warning" }, "Out of service: the daemon's log says why.") : bars(standing(learner)),
    h("p", { class: "counts" }, `${plural(learner.lessons, "lesson")} · ${count(learner.pending)} pending`)));

const nothing = () =>
  h("div", { class: "card hello" }, h("h2", {}, "No learners yet"),
    h("p", {}, "A learner appears when a client opens a stream and names one. To see one at work right now, ",
      h("a", { href: "#/try" }, "paste a few texts"), "."));

export class Learners {
  constructor(root) {
    this.known = new Map();
    this.list = h("ul", { class: "tiles" });
    this.search = h("input", { type: "search", id: "search", oninput: () => this.load() });
    this.filter = h("div", { class: "field inline", hidden: true }, h("label", { for: "search" }, "Name contains"), this.search);
    this.total = h("p", { class: "note" });
    this.node = h("p", { class: "note", hidden: true }, "Those that are live on this daemon. Others that share its store show theirs; galloon learners list shows all.");
    put(root, h("div", { class: "head" }, h("h1", {}, "Learners"), this.filter), this.node, this.list, this.total);
  }

  query() {
    return this.search.value ? { contains: this.search.value } : {};
  }

  async load() {
    const found = await get("/api/learners", this.query());
    this.known = new Map(found.learners.map((learner) => [learner.name, learner]));
    this.filter.hidden = found.total <= 6;
    this.node.hidden = !found.is_one_of_several;
    this.total.textContent = found.total > found.learners.length && !this.search.value ? `The first ${count(found.learners.length)} of ${count(found.total)}.` : "";
    this.#show();
  }

  hear(news) {
    for (const name of news.gone ?? []) this.known.delete(name);
    for (const learner of news.learners ?? []) if (learner.name.includes(this.search.value)) this.known.set(learner.name, learner);
    if (news.gone || news.learners) this.#show();
  }

  #show() {
    const sorted = [...this.known.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
    const at = [...this.list.querySelectorAll("a")].indexOf(document.activeElement);
    put(this.list, sorted.length ? sorted.map(tile) : h("li", {}, this.search.value ? h("p", { class: "empty" }, "No learner has such a name.") : nothing()));
    if (at >= 0) this.list.querySelectorAll("a")[at]?.focus();
  }
}

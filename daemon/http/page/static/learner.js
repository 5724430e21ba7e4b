// One learner: where it stands, its curves, whom it trusts, its latest utterances, its automata.

import { get } from "./api.js";
import { h, put, card, figure, amount, bytes, count, percent, plural, seconds, words } from "./dom.js";
import { Chart } from "./chart.js";
import { Compare } from "./compare.js";
import { Experts } from "./experts.js";
import { Rates } from "./rates.js";
import { Utterances } from "./utterances.js";
import { showAutomata } from "./automata.js";
import { Weights } from "./weights.js";
import { about, standing } from "./learners.js";

const MOST_POINTS = 480;
const REFRESH_MS = 1000;
const COMPARE_MS = 5000; // it resamples all corrections

export class Learner {
  constructor(root, name) {
    Object.assign(this, { root, name, due: 0, timer: null, compared: { at: -Infinity, counted: -1 } });
  }

  query() {
    return { learner: this.name };
  }

  async load() {
    const learner = await get("/api/learner", { name: this.name });
    this.learner = learner;
    this.experts = new Experts(learner.experts, [...learner.derived, "vote"]);
    this.rates = new Rates(this.experts, learner.unit);
    this.regret = new Chart({ label: "Regret against its bound", format: amount, xName: "lessons" });
    this.utterances = new Utterances(new Experts(learner.experts, learner.derived), learner.unit);
    this.compare = new Compare();
    this.figures = h("dl", { class: "figures" });
    this.weights = new Weights(this.experts);
    this.regretNote = h("p", { class: "note" });
    this.estimates = h("div", {});
    put(this.root,
      h("div", { class: "head" }, h("div", {}, h("p", { class: "crumb" }, h("a", { href: "#/" }, "Learners")), h("h1", {}, learner.name), h("p", { class: "note" }, about(learner)))),
      learner.out_of_service ? h("p", { class: "warning" }, "This learner is out of service: the daemon's log says why. Others are not affected.") : null,
      this.figures,
      this.#changes(),
      card("Error rate", { id: "rates" }, this.rates.element),
      card("Latest utterances", { id: "latest" }, this.utterances.element),
      card("Engines, without any truth", { id: "estimates" }, this.estimates, h("p", { class: "note" }, "Errors in percent of words, by agreement alone: engines that err together look better than they are.")),
      card("Compared", { id: "compare" }, this.compare.element),
      h("div", { class: "pair" }, card("Regret against the bound", { id: "regret" }, this.regret.element, this.regretNote), card("Whom it trusts", { id: "weights" }, this.weights.element)),
      this.#automata(), this.#details());
    this.#show();
    await this.#refresh();
  }

  hear(news) {
    if (!news.learner || !this.figures) return;
    const { point, ...rest } = news.learner;
    Object.assign(this.learner, rest);
    this.#extend(point);
    this.#show();
    this.#refreshSoon();
  }

  close() {
    clearTimeout(this.timer);
  }

  #show() {
    const { learner } = this;
    const { curve } = learner;
    const found = standing(learner);
    const end = (values) => values.at(-1) ?? null;
    const regret = end(curve.regret);
    const against = found ? [found.vote === null ? "" : `vote ${percent(found.vote)}`, found.best ? `${found.best.name} ${percent(found.best.rate)}` : ""].filter(Boolean).join(", ") : "no true texts yet";
    const bound = end(curve.bound);
    put(this.figures,
      figure(found?.kind === "cer" ? "Character error rate" : "Word error rate", found ? percent(found.galloon) : "–", against, { class: "figure main" }),
      figure("Lessons", count(learner.lessons), `${plural(learner.rounds, "round")}, ${count(learner.pending)} pending`),
      figure(regret === null ? "Regret, estimated" : "Regret", amount(regret ?? end(curve.regret_estimate)), bound === null ? "no bound" : `bound ${amount(bound)}`),
      figure("Gain", amount(learner.gain), learner.lessons ? `${amount(learner.gain / learner.lessons)} a lesson` : ""),
      figure("Snapshot", learner.store.snapshot_age_s === null ? "none yet" : `${seconds(learner.store.snapshot_age_s)} old`, plural(learner.store.journal_entries, "entry in the journal since", "entries in the journal since")));
    this.#showRegret(curve);
    this.#showEstimates(learner.statistics?.estimates ?? []);
  }

  #showEstimates(estimates) {
    if (!estimates.length) return put(this.estimates, h("p", { class: "empty" }, "Nothing yet."));
    const heads = ["engine", "errors", "95 %", "dropping it costs", "lines", "copies"];
    const best = estimates.toSorted((one, other) => one.error_rate - other.error_rate);
    return put(this.estimates, h("table", { class: "plain" },
      h("thead", {}, h("tr", {}, heads.map((text) => h("th", { scope: "col" }, text)))),
      h("tbody", {}, best.map((found) => h("tr", {}, [found.engine, found.error_rate.toFixed(2), `${found.low.toFixed(2)} – ${found.high.toFixed(2)}`, found.dropping_costs.toFixed(2), count(found.lines), found.repeats].map((text) => h("td", {}, text)))))));
  }

  #showRegret(curve) {
    const estimated = curve.regret.every((value) => value === null);
    const values = estimated ? curve.regret_estimate : curve.regret;
    const series = [
      { name: "bound", short: "bound", values: curve.bound, style: "derived", dash: "7 3" },
      { name: estimated ? "regret, estimated" : "regret", short: "regret", values, style: "combined", strong: true },
    ];
    const most = Math.max(1e-9, ...series.flatMap((line) => line.values.filter((value) => value !== null)));
    this.regret.update(curve.lessons, series, 1.08 * most);
    this.regretNote.textContent = `The gain of the best fixed path in hindsight minus the learner's own. Guarantee: ${this.learner.statistics?.guarantee ?? "unknown"}.`;
  }

  #extend(point) {
    const { curve } = this.learner;
    if (point.lessons[0] === curve.lessons.at(-1)) this.#each((column) => column.pop());
    this.#each((column, added) => column.push(added), point);
    if (curve.lessons.length > MOST_POINTS) this.#each((column) => { for (let n = column.length - 2; n > 0; n -= 2) column.splice(n, 1); });
  }

  // Every column of the curve, with the new value that belongs to it.
  #each(change, point) {
    const { curve } = this.learner;
    for (const key of ["lessons", "gain", "regret", "regret_estimate", "bound"]) change(curve[key], point?.[key][0]);
  }

  #refreshSoon() {
    if (this.timer !== null) return;
    this.timer = setTimeout(async () => {
      this.timer = null;
      if (!document.hidden) await this.#refresh().catch(() => {}); // the next news tries again
    }, REFRESH_MS);
  }

  async #refresh() {
    const ask = (path) => get(path, { name: this.name });
    const [latest, weights, errors] = await Promise.all([ask("/api/utterances"), ask("/api/weights"), ask("/api/errors")]);
    this.utterances.update(latest.utterances);
    this.weights.update(weights.weights);
    this.rates.update(errors);
    const now = performance.now();
    if (errors.counted !== this.compared.counted && now - this.compared.at > COMPARE_MS) {
      this.compared = { at: now, counted: errors.counted };
      this.compare.update(await ask("/api/compare"));
    }
  }

  #changes() {
    const changes = this.learner.statistics?.changes ?? [];
    if (!changes.length) return null;
    const said = changes.map(({ engine, times, last_lesson }) => `${engine} at lesson ${count(last_lesson)}${times > 1 ? ` (${count(times)} times in all)` : ""}`);
    return h("p", { class: "warning", id: "changes" }, `The error rate of an engine changed, as after an upgrade: ${said.join(", ")}. It is learned anew.`);
  }

  #automata() {
    const place = h("div", {});
    const { statistics } = this.learner;
    const sizes = statistics ? `A: ${plural(statistics.expert_transitions, "transition")}, A′: ${plural(statistics.context_transitions, "transition")}` : "";
    const open = async (event) => {
      if (!event.currentTarget.open || place.firstChild) return;
      place.append(h("p", { class: "empty" }, "Drawing…"));
      try {
        showAutomata(place, await get("/api/automata", { name: this.name }));
      } catch (problem) {
        put(place, h("p", { class: "warning" }, problem.message));
      }
    };
    return h("details", { class: "card", id: "automata", ontoggle: open }, h("summary", {}, h("h2", {}, "Automata"), h("span", { class: "soft" }, sizes)), place);
  }

  #details() {
    const { spec, statistics, derived } = this.learner;
    const rows = [
      ["gain", words(spec.gain.kind) + (spec.gain.order ? ` of order ${spec.gain.order}` : "")],
      spec.window === null ? null : ["window", plural(spec.window, "slot")],
      ["decides by", spec.decide === "best" ? "the most probable path" : "drawing a path"],
      ["derived experts", derived.join(", ") || "none"],
      ["labels", spec.labels.join(", ") || "none"],
      ["normaliser", spec.normalizer],
      ["seed", String(spec.seed)],
      this.learner.answer ? ["answers", `${this.learner.answer}: the learner runs in its shadow`] : null,
      statistics ? ["state", bytes(statistics.state_bytes)] : null,
      ["streams", count(this.learner.streams)],
    ];
    return h("details", { class: "card", id: "spec" }, h("summary", {}, h("h2", {}, "Specification")),
      h("dl", { class: "facts" }, rows.filter(Boolean).map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])));
  }
}

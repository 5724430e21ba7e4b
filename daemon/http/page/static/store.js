// The store's health: how long commits take, how many entries go with one sync, how long the journals are.

import { get } from "./api.js";
import { h, put, card, figure, bytes, count, seconds } from "./dom.js";
import { link } from "./learners.js";

const quantile = (buckets, q) => {
  const total = buckets.reduce((sum, bucket) => sum + bucket.count, 0);
  let below = 0;
  for (const bucket of buckets) {
    below += bucket.count;
    if (total && below >= q * total) return bucket.up_to;
  }
  return null;
};

const histogram = (buckets, name, format, caption) => {
  const filled = buckets.map((bucket) => bucket.count > 0);
  const shown = buckets.slice(Math.max(0, filled.indexOf(true) - 1), filled.lastIndexOf(true) + 2);
  if (!filled.includes(true)) return h("p", { class: "empty" }, "Nothing was written yet.");
  const most = Math.max(...shown.map((bucket) => bucket.count));
  return h("table", { class: "bars" }, h("caption", { class: "unseen" }, caption),
    h("thead", { class: "unseen" }, h("tr", {}, h("th", {}, name), h("th", {}), h("th", {}, "commits"))),
    h("tbody", {}, shown.map((bucket) => h("tr", {},
      h("th", { scope: "row", class: "number" }, bucket.up_to === null ? "more" : `≤ ${format(bucket.up_to)}`),
      h("td", {}, h("span", { class: "bar-fill best", vars: { "--long": `${(100 * bucket.count) / most}%` } })),
      h("td", { class: "number" }, count(bucket.count))))));
};

const learners = (rows) => {
  if (!rows.length) return h("p", { class: "empty" }, "No learners yet.");
  return h("table", { class: "plain" },
    h("thead", {}, h("tr", {}, ["learner", "journal entries", "last snapshot", "its size", "pending rounds"].map((name, n) => h("th", { scope: "col", class: n ? "number" : null }, name)))),
    h("tbody", {}, rows.map((row) => h("tr", {},
      h("th", { scope: "row" }, h("a", { href: link(row.name) }, row.name)),
      h("td", { class: "number" }, count(row.journal_entries)),
      h("td", { class: "number" }, row.snapshot_age_s === null ? "none yet" : `${seconds(row.snapshot_age_s)} ago`),
      h("td", { class: "number" }, row.snapshot_bytes ? bytes(row.snapshot_bytes) : "–"),
      h("td", { class: "number" }, count(row.pending))))));
};

export class Store {
  constructor(root) {
    Object.assign(this, { root, figures: h("dl", { class: "figures" }), latency: h("div", {}), sizes: h("div", {}), rows: h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Learners in the store" }) });
    this.alarm = h("p", { class: "warning", role: "alert", hidden: true });
    put(root, h("div", { class: "head" }, h("div", {}, h("h1", {}, "Store"),
      h("p", { class: "note" }, "What was acknowledged is on the disk. Snapshots shorten the journal, and so the next start."))),
    this.alarm, this.figures,
    h("div", { class: "pair" }, card("How long a commit takes", {}, this.latency), card("Entries in one commit", {}, this.sizes)),
    card("Learners", {}, this.rows));
  }

  query() {
    return {};
  }

  async load() {
    this.#show(await get("/api/store"));
  }

  hear(news) {
    if (news.store) this.#show(news.store);
  }

  #show(health) {
    const entries = health.commits ? health.entries / health.commits : null;
    const median = quantile(health.commit_seconds, 0.5);
    const slow = quantile(health.commit_seconds, 0.99);
    put(this.figures,
      figure("Commit", seconds(health.mean_commit_s), median === null ? "mean" : `mean; half within ${seconds(median)}, 99 % within ${slow === null ? "more" : seconds(slow)}`, { class: "figure main" }),
      figure("Commits", count(health.commits), entries === null ? "none yet" : `${entries.toFixed(1)} entries each`),
      figure("Journal", count(health.journal_entries), "entries to replay at a start"),
      health.cluster
        ? figure("Daemons", count(health.cluster.members), `share the store; ${health.cluster.shards_owned} of 64 shards are this one's`)
        : figure("On disk", bytes(health.file_bytes), `${bytes(health.disk_free_bytes)} free`),
      figure("Failures", count(health.failures), health.failures ? "see the log" : "since the start"));
    this.alarm.hidden = health.takes_more && !health.failures;
    this.alarm.textContent = health.takes_more ? "Commits have failed; the daemon's log says why." : "The disk lags behind: new rounds are refused until it catches up.";
    put(this.latency, histogram(health.commit_seconds, "latency", seconds, "Commits by latency"));
    put(this.sizes, histogram(health.commit_entries, "entries", count, "Commits by entries"));
    put(this.rows, learners(health.learners));
  }
}

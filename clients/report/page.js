// The side-by-side view of the report. Texts of the file reach the page as text nodes only, never as markup.
(() => {
  "use strict";
  const data = JSON.parse(document.getElementById("data").textContent);
  const PAGE = 25;
  const NULL_SIGN = "∅";
  const byId = (id) => document.getElementById(id);
  let shown = 0;
  let chosen = [];

  const make = (tag, options = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(options)) {
      if (name === "class") element.className = value;
      else element.setAttribute(name, value);
    }
    element.append(...children);
    return element;
  };

  const visible = (token) => (token === "" ? NULL_SIGN : token === " " ? "␣" : token);

  const legend = () => {
    data.experts.forEach((name, place) => {
      byId("legend").append(make("li", {}, make("i", { class: `dot ${data.styles[place]}` }), name));
    });
    data.domains.forEach((name) => byId("domain").append(make("option", { value: name }, name)));
  };

  // One column: the truth, what was shown, what the vote says, what each engine said.
  const column = (slot) => {
    if (typeof slot === "string") return { agreed: true, truth: slot, shown: slot, vote: slot, said: () => slot, hint: "all agree" };
    const token = slot.o[0][0];
    const truth = slot.t === undefined ? token : slot.t;
    const offerOf = new Map(slot.o.flatMap((offer) => offer[1].map((expert) => [expert, offer])));
    const hint = slot.o
      .map(([text, experts, permille]) => {
        const sure = permille === null ? "" : ` ${(permille / 10).toFixed(1)} %`;
        return `${visible(text)}${sure}: ${experts.map((expert) => data.experts[expert]).join(", ")}`;
      })
      .join("\n");
    const said = (expert) => (offerOf.has(expert) ? offerOf.get(expert)[0] : token);
    return { agreed: slot.o.length === 1, truth, shown: token, style: data.styles[slot.x], vote: slot.v, said, hint };
  };

  const written = (token) => make("span", token === "" ? { class: "null" } : {}, visible(token));

  // A slot where only junk was offered, and nobody fell for it, is quiet.
  const loudness = (slot) => (slot.truth === "" && slot.shown === "" ? "quiet" : "");

  const cell = (slot, token, extra = "", hint = "") => {
    const state = token === slot.truth ? "same" : "off";
    return make("td", { class: `${state} ${extra} ${loudness(slot)}`, ...(hint ? { title: hint } : {}) }, written(token));
  };

  const row = (name, style, kind, cells) => {
    const head = make("th", { scope: "row" });
    if (style) head.append(make("i", { class: `dot ${style}` }));
    head.append(name);
    return make("tr", { class: kind }, head, ...cells);
  };

  const alignment = (line) => {
    const columns = line.slots.map(column);
    const rows = [
      row("truth", "", "truth", columns.map((c) => make("td", { class: loudness(c) }, written(c.truth)))),
      row("galloon", "galloon", "shown", columns.map((c) => cell(c, c.shown, c.agreed ? "agreed" : c.style, c.hint))),
      row("vote", "vote", "", columns.map((c) => cell(c, c.vote))),
    ];
    for (let expert = 0; expert < data.engines; expert += 1) {
      rows.push(row(data.experts[expert], data.styles[expert], "", columns.map((c) => cell(c, c.said(expert)))));
    }
    return make("div", { class: "grid-lines" }, make("table", { class: `slots ${data.unit}` }, make("tbody", {}, ...rows)));
  };

  const errors = (count) => `${count} ${count === 1 ? "error" : "errors"}`;

  const entry = (line) => {
    const head = make("h3", {}, make("b", {}, line.id), line.by ? ` · ${line.by}` : "", ` · line ${line.round} · `);
    head.append(make("span", { class: line.errors ? "bad" : "good" }, errors(line.errors)), `, vote ${line.vote}, ${data.best} ${line.best}`);
    const article = make("article", { class: "entry" }, head, alignment(line));
    if (line.between) {
      const what = line.between === 1 ? "1 true token falls" : `${line.between} true tokens fall`;
      article.append(make("p", { class: "note" }, `${what} between the slots: no engine offered anything there.`));
    }
    return article;
  };

  const KINDS = {
    wrong: (line) => line.errors > 0,
    better: (line) => line.errors < line.vote,
    worse: (line) => line.errors > line.vote,
    missed: (line) => line.errors > line.best,
    all: () => true,
  };

  const more = () => {
    byId("list").append(...chosen.slice(shown, shown + PAGE).map(entry));
    shown = Math.min(chosen.length, shown + PAGE);
    byId("more").hidden = shown >= chosen.length;
    byId("count").textContent = `${shown.toLocaleString()} of ${chosen.length.toLocaleString()} lines`;
  };

  const choose = () => {
    const wanted = byId("search").value.trim().toLowerCase();
    const domain = byId("domain").value;
    const fits = KINDS[byId("kind").value];
    chosen = data.lines.filter(
      (line) => fits(line) && (!domain || line.by === domain) &&
        (!wanted || line.id.toLowerCase().includes(wanted) || line.true.includes(wanted) || line.text.includes(wanted)),
    );
    if (byId("sort").value === "file") chosen.sort((a, b) => a.round - b.round);
    shown = 0;
    byId("list").replaceChildren();
    more();
  };

  const theme = () => {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  };

  byId("theme").addEventListener("click", theme);
  byId("more").addEventListener("click", more);
  byId("filter").addEventListener("submit", (event) => event.preventDefault());
  for (const id of ["kind", "domain", "sort"]) byId(id).addEventListener("change", choose);
  byId("every").addEventListener("change", () => byId("list").classList.toggle("every", byId("every").checked));
  byId("search").addEventListener("input", choose);
  legend();
  choose();
})();

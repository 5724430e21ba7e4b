// The box where a person pastes what engines said, sees the combination, and teaches the right text.

import { get, post } from "./api.js";
import { h, put, announce, amount, plural } from "./dom.js";
import { Experts } from "./experts.js";
import { slotNetwork } from "./network.js";
import { tokenLine } from "./tokens.js";
import { link } from "./learners.js";

// What three engines read off one typewritten line of the bundled sample (ocr-00726); none got all of it right.
const EXAMPLE = [
  ["tess_eng", "humble prayer for tic contimuauce of His favo:. The"],
  ["rapidocr", "humble prayer for tue continuance of His favor. The"],
  ["tess_legacy", "humble prayer for the Continuance of Hi; favm. The"],
];
const MOST = 12;

export class Try {
  constructor(root, session) {
    Object.assign(this, { root, session, rows: [], learners: [] });
  }

  query() {
    return {};
  }

  hear() {}

  async load() {
    const { learners } = await get("/api/learners");
    this.learners = learners.filter((learner) => !learner.automaton && !learner.out_of_service);
    this.choice = h("select", { id: "try-learner", onchange: () => this.#chooseLearner() },
      h("option", { value: "" }, "one of my own"), this.learners.map(({ name }) => h("option", { value: name }, name)));
    this.name = h("input", { id: "try-name", type: "text", autocomplete: "off", spellcheck: "false", maxlength: 128 });
    this.name.addEventListener("input", () => { this.named = true; });
    this.unit = h("select", { id: "try-unit" }, h("option", { value: "word" }, "words"), h("option", { value: "char" }, "characters"));
    this.unit.addEventListener("change", () => this.#suggestName());
    this.fresh = h("div", { class: "fields" },
      h("div", { class: "field" }, h("label", { for: "try-name" }, "Its name"), this.name),
      h("div", { class: "field" }, h("label", { for: "try-unit" }, "Combine"), this.unit));
    this.fields = h("fieldset", { class: "engines" }, h("legend", {}, "What the engines said"));
    this.more = h("button", { type: "button", class: "quiet", onclick: () => this.#add("", "", true) }, "Add an engine");
    this.problem = h("p", { class: "warning", role: "alert", hidden: true });
    this.result = h("div", {});
    const form = h("form", { class: "card", id: "try-form", onsubmit: (event) => this.#combine(event) },
      h("div", { class: "fields" }, h("div", { class: "field" }, h("label", { for: "try-learner" }, "Learner"), this.choice), this.fresh),
      this.fields,
      h("div", { class: "actions" }, h("button", { type: "submit", class: "main" }, "Combine"), this.more,
        h("button", { type: "button", class: "quiet", onclick: () => this.#example() }, "Show me an example")),
      this.problem);
    put(this.root, h("div", { class: "head" }, h("div", {}, h("h1", {}, "Try it"),
      h("p", { class: "note" }, "Paste what two or more engines said of the same line. These are real rounds of a real learner: it remembers what you teach."))),
    this.session.may_try ? form : h("p", { class: "warning" }, "Your token allows no learners."), this.result);
    this.#add("engine A", "");
    this.#add("engine B", "");
  }

  #add(name, text, focus = false, fixed = false) {
    const number = this.rows.length + 1;
    const row = {};
    row.name = h("input", { type: "text", id: `engine-${number}`, value: name || `engine ${String.fromCharCode(64 + number)}`, readonly: fixed, "aria-label": `Name of engine ${number}` });
    row.name.addEventListener("input", () => this.#suggestName());
    row.text = h("textarea", { rows: 2, id: `text-${number}`, "aria-label": `Text of engine ${number}`, spellcheck: "false" }, text);
    row.element = h("div", { class: "engine" }, row.name, row.text);
    this.rows.push(row);
    this.fields.append(row.element);
    this.more.hidden = fixed || this.rows.length >= MOST;
    this.#suggestName();
    if (focus) row.text.focus();
  }

  #clear() {
    for (const row of this.rows) row.element.remove();
    this.rows = [];
  }

  #example() {
    this.choice.value = "";
    this.fresh.hidden = this.named = false;
    this.#clear();
    for (const [name, text] of EXAMPLE) this.#add(name, text);
  }

  #chooseLearner() {
    const learner = this.learners.find(({ name }) => name === this.choice.value);
    this.fresh.hidden = Boolean(learner);
    this.#clear();
    for (const name of learner?.experts ?? ["engine A", "engine B"]) this.#add(name, "", false, Boolean(learner));
  }

  #suggestName() {
    if (this.named) return;
    // A learner belongs to its engines, so the name that is offered says which they are.
    const engines = this.rows.map(({ name }) => name.value.trim().toLowerCase().replaceAll(/[^a-z0-9_]+/g, "-")).join(".");
    this.name.value = `${this.session.try_prefix}try/${engines}${this.unit.value === "char" ? ".chars" : ""}`.slice(0, 128);
  }

  async #guarded(work) {
    this.problem.hidden = true;
    try {
      await work();
    } catch (problem) {
      this.problem.textContent = problem.message;
      this.problem.hidden = false;
    }
  }

  #combine(event) {
    event.preventDefault();
    return this.#guarded(async () => {
      const outputs = this.rows.map(({ name, text }) => ({ expert: name.value.trim(), text: text.value }));
      const picked = this.choice.value;
      const asked = picked ? { learner: picked } : { learner: this.name.value.trim(), unit: this.unit.value, create: true };
      const found = await post("/api/try", { ...asked, outputs });
      this.#show(found);
      announce(`The combination is: ${found.text}`);
    });
  }

  #show(found) {
    const experts = new Experts(found.experts, found.derived);
    const right = h("textarea", { id: "right-text", rows: 2, spellcheck: "false" }, found.text);
    const lesson = h("div", { class: "lesson" });
    const teach = h("form", { class: "teach", onsubmit: (event) => this.#teach(event, found, right.value, lesson, experts) },
      h("label", { for: "right-text" }, "What is right?"), right,
      h("div", { class: "actions" }, h("button", { type: "submit", class: "main" }, "Teach it"), h("span", { class: "note" }, "Correct the text first, if it needs it.")));
    const card = h("section", { class: "card", id: "try-result" }, h("h2", {}, "The combination"), experts.legend(),
      h("div", { class: "large" }, tokenLine(found.slots, experts, found.unit)),
      slotNetwork(found.slots, experts), teach, lesson);
    put(this.result, card);
    card.scrollIntoView({ block: "nearest" });
  }

  #teach(event, found, text, place, experts) {
    event.preventDefault();
    const button = event.currentTarget.querySelector("button");
    return this.#guarded(async () => {
      button.disabled = true;
      try {
        const learned = await post("/api/teach", { learner: found.learner, id: found.id, text });
        const gains = Object.entries(learned.expert_gains).sort((a, b) => b[1] - a[1]);
        const most = Math.max(1e-9, ...gains.map(([, gain]) => gain));
        put(place, h("p", { class: "right" }, h("b", {}, `✓ Learned, lesson ${learned.lessons}. `),
          `The combination was right in ${amount(learned.gain)} of ${plural(found.slots.length, "slot")}. `,
          h("a", { href: link(found.learner) }, `See what ${found.learner} knows now`), ", or combine again."),
        gains.length ? h("table", { class: "bars" }, h("caption", {}, "What each would have got right"), h("tbody", {}, gains.map(([name, gain]) =>
          h("tr", {}, h("th", { scope: "row" }, experts.chip(name)), h("td", {}, h("span", { class: `bar-fill ${experts.of(name).style}`, vars: { "--long": `${(100 * gain) / most}%` } })), h("td", { class: "number" }, amount(gain)))))) : null);
        announce(`Learned. The gain is ${amount(learned.gain)}.`);
      } catch (problem) {
        button.disabled = false;
        throw problem;
      }
    });
  }
}

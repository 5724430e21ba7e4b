// The latest utterances. The list holds still while somebody reads in it.

import { h, put, amount, plural } from "./dom.js";
import { hidePopover, tokenLine } from "./tokens.js";
import { slotNetwork } from "./network.js";

const FEW = 5;
const STATES = { pending: "waits for feedback", learned: "learned", expired: "expired" };

export class Utterances {
  constructor(experts, unit) {
    Object.assign(this, { experts, unit, open: null, waiting: null, all: false });
    this.list = h("ol", { class: "utterances", "aria-label": "Latest utterances, newest first" });
    this.note = h("p", { class: "note" });
    this.more = h("button", { type: "button", class: "quiet small", hidden: true, onclick: () => this.#showAll(!this.all) });
    this.element = h("div", {}, experts.legend(), this.list, this.more, this.note);
    this.element.addEventListener("pointerleave", () => this.#catchUp());
    this.element.addEventListener("focusout", () => setTimeout(() => this.#catchUp()));
  }

  get busy() {
    return this.element.matches(":hover") || this.element.contains(document.activeElement);
  }

  update(utterances) {
    if (this.list.children.length && this.busy) {
      this.waiting = utterances;
      this.note.textContent = "Held while you read; newer ones have come.";
      return;
    }
    this.#show(utterances);
  }

  #catchUp() {
    if (this.waiting && !this.busy) this.#show(this.waiting);
  }

  #show(utterances) {
    this.waiting = null;
    this.note.textContent = "";
    hidePopover();
    if (!utterances.length) return put(this.list, h("li", { class: "empty" }, "None yet."));
    put(this.list, utterances.map((utterance) => this.#item(utterance)));
    return this.#showAll(this.all);
  }

  #showAll(all) {
    this.all = all;
    const items = [...this.list.children];
    for (const [place, item] of items.entries()) item.hidden = !all && place >= FEW;
    this.more.hidden = items.length <= FEW;
    this.more.textContent = all ? "Show fewer" : `Show all ${items.length}`;
    this.more.setAttribute("aria-expanded", String(all));
  }

  #item(utterance) {
    const { slots, truth, text } = utterance;
    const graph = h("div", { class: "graph", hidden: true });
    const contested = slots.filter((slot) => slot.alternatives.length).length;
    const toggle = () => {
      graph.hidden = !graph.hidden;
      if (!graph.hidden && !graph.firstChild) graph.append(slotNetwork(slots, this.experts));
      this.open = graph.hidden ? null : utterance.id;
      button.setAttribute("aria-expanded", String(!graph.hidden));
    };
    const button = h("button", { type: "button", class: "quiet small", "aria-expanded": "false", onclick: toggle }, "Slots as a graph");
    const item = h("li", { class: "utterance" },
      h("div", { class: "about" },
        h("span", { class: "id", title: utterance.id }, utterance.id),
        h("span", { class: `state-${utterance.state}` }, STATES[utterance.state], utterance.gain === null ? "" : `, gain ${amount(utterance.gain)} of ${slots.length + utterance.more_slots}`),
        utterance.detailed ? h("span", {}, contested ? plural(contested, "contested slot") : "all agree") : null,
        utterance.detailed && slots.length ? button : null),
      slots.length ? tokenLine(slots, this.experts, this.unit) : h("p", { class: "empty" }, "No tokens."),
      utterance.more_slots ? h("p", { class: "note" }, `and ${plural(utterance.more_slots, "more slot")}`) : null,
      truth !== null && truth !== text ? h("p", { class: "truth" }, h("b", {}, "true text"), h("span", {}, truth)) : null,
      truth !== null && truth === text ? h("p", { class: "truth right" }, h("b", {}, "✓ as the true text")) : null,
      graph);
    if (utterance.id === this.open) toggle();
    return item;
  }
}

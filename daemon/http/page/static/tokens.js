// A text, token by token, each marked with the expert that it came from; what else was on offer shows on hover or focus.

import { h, put, byId, share } from "./dom.js";

const shown = (text) => (text === "" ? "∅" : text === " " ? "␣" : text);

const describe = (slot) => {
  const rest = slot.alternatives.map((other) => `${shown(other.text)} by ${other.experts.join(", ")}, ${share(other.probability)}`);
  return `${shown(slot.text)} by ${slot.expert}, ${share(slot.probability)}. Instead of: ${rest.join("; ")}`;
};

const row = (text, names, probability, experts, chosen) =>
  h("tr", { class: chosen ? "chosen" : null },
    h("td", { class: "said" }, shown(text)),
    h("td", {}, names.map((name) => experts.tag(name))),
    h("td", { class: "number" }, share(probability)));

// Experts that offered the chosen token: all that no alternative names.
export const supporters = (slot, experts) => {
  const others = new Set(slot.alternatives.flatMap((other) => other.experts));
  const names = experts.names().filter((name) => !others.has(name));
  return names.length ? names : [slot.expert];
};

const showPopover = (token, slot, experts) => {
  const popover = byId("popover");
  put(popover, h("table", {},
    row(slot.text, supporters(slot, experts), slot.probability, experts, true),
    slot.alternatives.map((other) => row(other.text, other.experts, other.probability, experts, false))));
  popover.hidden = false;
  const at = token.getBoundingClientRect();
  const box = popover.getBoundingClientRect();
  const left = Math.max(8, Math.min(at.left + at.width / 2 - box.width / 2, document.documentElement.clientWidth - box.width - 8));
  const below = at.bottom + box.height + 10 < window.innerHeight || at.top < box.height + 10;
  popover.style.left = `${left + window.scrollX}px`;
  popover.style.top = `${(below ? at.bottom + 6 : at.top - box.height - 6) + window.scrollY}px`;
};
export const hidePopover = () => { byId("popover").hidden = true; };

const SURE = 0.9; // from here on a token is not marked out: somebody disagreed, but the learner did not hesitate

const token = (slot, experts) => {
  const { style, tag } = experts.of(slot.expert);
  if (!slot.alternatives.length) {
    return slot.text === "" ? null : h("span", { class: `token ${style}` }, h("span", { class: "said" }, shown(slot.text)));
  }
  const sure = slot.probability !== null && slot.probability >= SURE;
  const show = (event) => showPopover(event.currentTarget, slot, experts);
  return h("button", {
    vars: { "--strip": experts.strip(supporters(slot, experts)) },
    type: "button", class: `token contested ${style} ${slot.text === "" ? "null" : ""} ${sure ? "sure" : ""}`, tabindex: -1, "aria-label": describe(slot),
    onpointerenter: show, onfocus: show, onpointerleave: hidePopover, onblur: hidePopover,
  }, h("span", { class: "said" }, shown(slot.text)), slot.text === "" || sure ? null : h("span", { class: "from", "aria-hidden": "true" }, tag));
};

// One stop for the Tab key; the arrow keys walk from token to token.
export const tokenLine = (slots, experts, unit) => {
  const line = h("div", { class: `tokens ${unit}`, role: "group", "aria-label": "The combination, token by token" }, slots.map((slot) => token(slot, experts)));
  const stops = [...line.querySelectorAll("button")];
  if (stops.length) stops[0].tabIndex = 0;
  line.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (event.key === "Escape") hidePopover();
    if (!step) return;
    const from = stops.indexOf(document.activeElement);
    const to = stops[from + step];
    if (!to) return;
    event.preventDefault();
    stops[from].tabIndex = -1;
    to.tabIndex = 0;
    to.focus();
  });
  return line;
};

// The slot network as a graph: the chosen path runs straight along the top, what else was on offer hangs below it.

import { h, s } from "./dom.js";
import { supporters } from "./tokens.js";

const ROW = 46;
const TOP = 34;
const MOST_SLOTS = 120;
const LETTER = 8.6;
const NODE = 5;

const shown = (text) => (text === "" ? "∅" : text === " " ? "␣" : text);
const tags = (names, experts) => names.map((name) => experts.of(name).tag).join(" ");

const arcs = (slot, experts) => [
  { text: shown(slot.text), names: supporters(slot, experts), style: experts.of(slot.expert).style, chosen: true },
  ...slot.alternatives.map((other) => ({ text: shown(other.text), names: other.experts, style: experts.of(other.experts[0]).style, chosen: false })),
];

const width = (offers, experts) =>
  Math.max(64, ...offers.map(({ text, names }) => Math.max(LETTER * [...text].length, 6.4 * tags(names, experts).length) + 44));

const drawArc = (offer, left, right, depth, experts) => {
  const middle = (left + right) / 2;
  const y = TOP + depth * ROW;
  const turn = Math.min(26, (right - left) / 3);
  const path = depth === 0
    ? `M${left + NODE},${TOP}H${right - NODE}`
    : `M${left + 2},${TOP + NODE}C${left + 6},${y - 12} ${left + turn / 2},${y} ${left + turn},${y}H${right - turn}C${right - turn / 2},${y} ${right - 6},${y - 12} ${right - 2},${TOP + NODE}`;
  return [
    s("path", { class: `arc ${offer.style} ${offer.chosen ? "chosen" : ""}`, d: path }),
    s("text", { class: `said ${offer.chosen ? "chosen" : ""}`, x: middle, y: y - 8 }, offer.text),
    s("text", { class: "by", x: middle, y: y + 13 }, tags(offer.names, experts)),
  ];
};

export const slotNetwork = (slots, experts) => {
  const drawn = slots.slice(0, MOST_SLOTS).map((slot) => arcs(slot, experts));
  const deepest = Math.max(1, ...drawn.map((offers) => offers.length));
  const parts = [];
  let left = 16;
  const nodes = [left];
  for (const offers of drawn) {
    const right = left + width(offers, experts);
    offers.forEach((offer, depth) => parts.push(drawArc(offer, left, right, depth, experts)));
    left = right;
    nodes.push(left);
  }
  const size = { width: left + 16, height: TOP + (deepest - 1) * ROW + 26 };
  const picture = s("svg", { class: "network", ...size, viewBox: `0 0 ${size.width} ${size.height}`, role: "img",
    "aria-label": `Slot network of ${drawn.length} slots; the chosen path reads: ${slots.map((slot) => slot.text).filter(Boolean).join(" ")}` },
  parts, nodes.map((x) => s("circle", { class: "node", cx: x, cy: TOP, r: NODE })));
  const more = slots.length - drawn.length;
  return h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Slot network" }, picture,
    more > 0 ? h("p", { class: "note" }, `and ${more} more slots`) : null);
};

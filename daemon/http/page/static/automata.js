// A and A', drawn where they are small enough to be read. The daemon lays them out; the colours are the page's own.

import { h, s, put, plural } from "./dom.js";

const draw = (drawing, name) => {
  const [left, top, right, bottom] = drawing.box;
  const { radius, label_height: high } = drawing;
  const states = drawing.states.map(({ x, y, initial, final }, number) => [
    s("circle", { class: `state ${initial ? "initial" : ""}`, cx: x, cy: y, r: radius }),
    final ? s("circle", { class: "inner", cx: x, cy: y, r: radius - 4 }) : null,
    s("text", { x, y, dy: ".35em" }, String(number)),
  ]);
  const curves = drawing.arcs.map((arc) => [s("path", { class: "arc", d: arc.path }), s("polygon", { class: "head", points: arc.head })]);
  const labels = drawing.arcs.map((arc) => [
    s("rect", { class: "ground", x: arc.x - arc.width / 2, y: arc.y - high / 2, width: arc.width, height: high, rx: 4 }),
    s("text", { x: arc.x, y: arc.y, dy: ".35em" }, arc.label),
  ]);
  return s("svg", { class: "automaton", role: "img", "aria-label": `Drawing of ${name}`, width: right - left, height: bottom - top,
    viewBox: `${left} ${top} ${right - left} ${bottom - top}` }, curves, states, labels);
};

const show = ({ name, title, states, transitions, drawing }, limit) => [
  h("h3", {}, h("var", {}, name), `, ${title}: `, h("span", { class: "soft" }, `${plural(states, "state")}, ${plural(transitions, "transition")}`)),
  drawing
    ? h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": `Drawing of ${name}` }, draw(drawing, name))
    : h("p", { class: "empty" }, `Too many transitions to read as a drawing (more than ${limit}).`),
];

export const showAutomata = (place, { automata, limit }) =>
  put(place, automata.length ? automata.map((entry) => show(entry, limit)) : h("p", { class: "empty" }, "This learner has no automaton of a fixed size."));

// Who is who: a colour, a dash pattern and a short tag for each expert, so that colour is never all there is.

import { h } from "./dom.js";

const COLOURS = 7; // engines, of the Okabe-Ito palette; see --e1 to --e7
const DASHES = ["", "7 3", "2 3", "9 3 2 3"];
export const COMBINED = "galloon";

const initials = (name) => {
  const parts = name.split(/[^\p{L}\p{N}]+/u).filter(Boolean);
  const letters = parts.length > 1 ? parts.map((part) => [...part][0]).slice(0, 3) : [...(parts[0] ?? name)].slice(0, 2);
  return letters.join("").toUpperCase();
};

export class Experts {
  constructor(engines, derived = []) {
    this.known = new Map();
    const taken = new Set();
    const add = (name, kind, place) => {
      const base = initials(name) || "?";
      let tag = base;
      for (let n = 2; taken.has(tag); n += 1) tag = `${base}${n}`;
      taken.add(tag);
      const engine = kind === "engine";
      this.known.set(name, {
        name,
        kind,
        tag,
        style: engine ? `e${(place % COLOURS) + 1}` : "derived",
        dash: engine ? DASHES[Math.floor(place / COLOURS) % DASHES.length] : DASHES[1 + (place % 3)],
      });
    };
    engines.forEach((name, place) => add(name, "engine", place));
    derived.forEach((name, place) => this.known.has(name) || add(name, "derived", place));
  }

  of(name) {
    return this.known.get(name) ?? { name, kind: "other", tag: initials(name) || "?", style: "derived", dash: "" };
  }

  names() {
    return [...this.known.keys()];
  }

  chip(name) {
    const expert = this.of(name);
    return h("span", { class: `chip ${expert.style}`, title: name }, h("b", {}, expert.tag), h("span", { class: "name" }, name));
  }

  tag(name) {
    const expert = this.of(name);
    return h("abbr", { class: `tag ${expert.style}`, title: name }, expert.tag);
  }

  // The colours of several experts side by side, as a strip.
  strip(names) {
    const part = 100 / names.length;
    const stops = names.map((name, n) => `var(--${this.of(name).style}) ${(n * part).toFixed(1)}% ${((n + 1) * part).toFixed(1)}%`);
    return `linear-gradient(90deg, ${stops.join(", ")})`;
  }

  legend() {
    return h("ul", { class: "legend", "aria-label": "Experts" }, this.names().map((name) => h("li", {}, this.chip(name))));
  }
}

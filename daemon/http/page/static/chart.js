// A line chart: lines named at their ends, a reading under the pointer or by the arrow keys, and a summary in words.

import { h, s, put, count } from "./dom.js";

const HEIGHT = 250;
const MARGIN = { top: 12, bottom: 30, left: 50 };

const niceStep = (range, ticks) => {
  const rough = range / ticks;
  const power = 10 ** Math.floor(Math.log10(rough));
  return power * ([1, 2, 2.5, 5, 10].find((factor) => factor * power >= rough) ?? 10);
};
const ticksUpTo = (most, ticks) => {
  const step = niceStep(most || 1, ticks);
  return Array.from({ length: Math.floor(most / step + 1e-9) + 1 }, (_, n) => n * step);
};

export class Chart {
  // series: [{name, short, values, style, dash, strong}]; values are numbers or null, as many as there are x.
  constructor({ label, format, xName }) {
    Object.assign(this, { label, format, xName, x: [], series: [], most: 1, at: null });
    this.readout = h("p", { class: "readout", "aria-live": "polite" });
    this.frame = h("div", { class: "chart", tabindex: 0, role: "img" });
    this.element = h("figure", { class: "chart-figure" }, this.frame, this.readout);
    this.frame.addEventListener("pointermove", (event) => this.#point(event));
    this.frame.addEventListener("pointerleave", () => this.#read(null));
    this.frame.addEventListener("blur", () => this.#read(null));
    this.frame.addEventListener("keydown", (event) => this.#key(event));
    new ResizeObserver(() => this.#draw()).observe(this.frame);
  }

  update(x, series, most) {
    Object.assign(this, { x, series, most: most || 1 });
    if (this.at !== null && this.at >= x.length) this.at = null;
    this.#draw();
    if (this.at === null) this.#say();
  }

  #draw() {
    const width = this.frame.clientWidth;
    if (!width) return;
    const ends = this.#ends(width);
    const right = Math.min(0.4 * width, 14 + 7.0 * Math.max(this.xName.length - 1, ...ends.map((end) => end.text.length)));
    const box = { left: MARGIN.left, top: MARGIN.top, width: width - MARGIN.left - right, height: HEIGHT - MARGIN.top - MARGIN.bottom };
    const first = this.x[0] ?? 0;
    const last = Math.max(this.x.at(-1) ?? 1, first + 1);
    this.toX = (value) => ((value - first) / (last - first)) * box.width;
    const toY = (value) => box.height * (1 - value / this.most);
    this.box = box;
    const lines = this.series.map((line) => this.#line(line, toY));
    const plot = s("svg", { x: box.left, y: box.top, width: box.width, height: box.height }, lines);
    if (this.at !== null) {
      const x = this.toX(this.x[this.at]);
      plot.append(s("line", { class: "cursor", x1: x, x2: x, y1: 0, y2: box.height }));
    }
    put(this.frame, s("svg", { width, height: HEIGHT, "aria-hidden": "true" },
      this.#axes(box, first, last, toY), plot, this.#labels(ends, box, toY)));
    this.frame.setAttribute("aria-label", `${this.label}. ${this.#sentence(this.x.length - 1)} Use the arrow keys to read earlier values.`);
  }

  #axes(box, first, last, toY) {
    const rows = ticksUpTo(this.most, 4).map((value) => [
      s("line", { class: "grid", x1: box.left, x2: box.left + box.width, y1: box.top + toY(value), y2: box.top + toY(value) }),
      s("text", { class: "tick", x: box.left - 8, y: box.top + toY(value), dy: ".32em", "text-anchor": "end" }, this.format(value)),
    ]);
    const step = Math.ceil(niceStep(last - first, box.width > 420 ? 5 : 3));  // x counts things
    const columns = [];
    for (let value = Math.ceil(first / step) * step; value <= last; value += step) {
      const x = this.toX(value);
      columns.push(s("text", { class: "tick", x: box.left + x, y: HEIGHT - 12, "text-anchor": x > box.width - 30 ? "end" : "middle" }, count(Math.round(value))));
    }
    const name = s("text", { class: "tick axis", x: box.left + box.width + 8, y: HEIGHT - 12 }, this.xName);
    return [rows, columns, name];
  }

  #line(line, toY) {
    const parts = [];
    let pen = "M";
    line.values.forEach((value, place) => {
      if (value === null || value === undefined) { pen = "M"; return; }
      parts.push(`${pen}${this.toX(this.x[place]).toFixed(1)},${toY(value).toFixed(1)}`);
      pen = "L";
    });
    const single = parts.length === 1 ? `${parts[0]}h.01` : parts.join("");
    return s("path", { class: `line ${line.style} ${line.strong ? "strong" : ""}`, d: single, "stroke-dasharray": line.dash || null });
  }

  // Names at the ends of the lines that are on the scale, moved apart where they would cover each other.
  #ends(width) {
    return this.series
      .map((line) => ({ line, value: line.values.at(-1), text: width < 460 ? line.short : line.name }))
      .filter(({ value }) => value !== null && value !== undefined && value <= this.most);
  }

  #labels(ends, box, toY) {
    const placed = ends.map((end) => ({ ...end, y: box.top + toY(end.value) })).sort((a, b) => a.y - b.y);
    for (let n = 1; n < placed.length; n += 1) placed[n].y = Math.max(placed[n].y, placed[n - 1].y + 15);
    for (let n = placed.length - 1, floor = HEIGHT - MARGIN.bottom + 2; n >= 0; n -= 1, floor -= 15) placed[n].y = Math.min(placed[n].y, floor);
    return placed.map(({ line, text, y }) =>
      s("text", { class: `end ${line.style} ${line.strong ? "strong" : ""}`, x: box.left + box.width + 8, y, dy: ".32em" }, text));
  }

  #point(event) {
    if (!this.box || !this.x.length) return;
    const x = event.clientX - this.frame.getBoundingClientRect().left - this.box.left;
    let nearest = 0;
    this.x.forEach((value, n) => { if (Math.abs(this.toX(value) - x) < Math.abs(this.toX(this.x[nearest]) - x)) nearest = n; });
    this.#read(nearest);
  }

  #key(event) {
    const steps = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity };
    if (!(event.key in steps) || !this.x.length) return;
    event.preventDefault();
    const from = this.at ?? this.x.length - 1;
    this.#read(Math.min(this.x.length - 1, Math.max(0, from + steps[event.key])));
  }

  #read(at) {
    if (at === this.at) return;
    this.at = at;
    this.#draw();
    this.#say();
  }

  #say() {
    this.readout.textContent = this.at === null ? "Point at the curves to read them, or use the arrow keys." : this.#sentence(this.at);
  }

  #sentence(at) {
    if (at < 0) return "Nothing yet.";
    const known = this.series.filter((line) => line.values[at] !== null && line.values[at] !== undefined);
    const parts = known.map((line) => `${line.name} ${this.format(line.values[at])}`);
    return `After ${count(this.x[at])} ${this.xName}: ${parts.join(", ")}.`;
  }
}

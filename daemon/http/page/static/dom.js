// Elements and words. Text that came from clients only ever becomes text nodes, never markup.

const SVG = "http://www.w3.org/2000/svg";

const fill = (element, attributes, children) => {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "vars") for (const [key, v] of Object.entries(value)) element.style.setProperty(key, v);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
};

export const h = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
export const s = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);
export const put = (element, ...children) => {
  element.replaceChildren(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
};
export const byId = (id) => document.getElementById(id);
export const announce = (text) => { byId("announcer").textContent = text; };

const plain = new Intl.NumberFormat("en");
export const count = (value) => (value === null || value === undefined ? "–" : plain.format(value));
export const percent = (value) => (value === null || value === undefined ? "–" : `${value.toFixed(value < 9.95 ? 2 : 1)} %`);
export const share = (p) => {
  if (p === null || p === undefined) return "–";
  if (p > 0 && p < 0.01) return "<1 %";
  return p < 1 && p > 0.99 ? ">99 %" : `${Math.round(100 * p)} %`;
};
export const amount = (value) => {
  if (value === null || value === undefined) return "–";
  const size = Math.abs(value);
  return plain.format(size >= 100 ? Math.round(value) : Number(value.toPrecision(3)));
};
export const bytes = (value) => {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let at = 0;
  for (; value >= 1000 && at < units.length - 1; at += 1) value /= 1000;
  return `${at && value < 10 ? value.toFixed(1) : Math.round(value)} ${units[at]}`;
};
export const seconds = (value) => {
  if (value === null || value === undefined) return "–";
  if (value < 1) return `${Number((1000 * value).toPrecision(2))} ms`;
  if (value < 120) return `${Math.round(value)} s`;
  return value < 7200 ? `${Math.round(value / 60)} min` : `${Math.round(value / 3600)} h`;
};
export const words = (name) => name.replaceAll("_", " ");
export const plural = (n, one, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;

export const card = (title, attributes, ...children) =>
  h("section", { class: "card", ...attributes }, h("h2", {}, title), ...children);
export const figure = (label, value, note, attributes) =>
  h("div", { class: "figure", ...attributes }, h("dt", {}, label), h("dd", {}, h("strong", {}, value), note ? h("small", {}, note) : null));

// Asks for a token when the daemon wants one.

import { token } from "./api.js";
import { h, put } from "./dom.js";

export const askForToken = (root, message, done) => {
  const field = h("input", { id: "token", type: "password", autocomplete: "off", required: true });
  const submit = (event) => {
    event.preventDefault();
    token.set(field.value.trim());
    done();
  };
  put(root, h("form", { class: "card login", id: "login", onsubmit: submit },
    h("h1", {}, "This daemon asks for a token"),
    h("p", { class: "note" }, "It stays in this tab and is forgotten when you close it."),
    h("div", { class: "field" }, h("label", { for: "token" }, "Token"), field),
    message ? h("p", { class: "warning", role: "alert" }, message) : null,
    h("div", { class: "actions" }, h("button", { type: "submit", class: "main" }, "Show me"))));
  field.focus();
};

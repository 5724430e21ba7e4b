// The page: which view is shown, and who hears the news.

import { get, listen, token } from "./api.js";
import { announce, byId, h, put } from "./dom.js";
import { hidePopover } from "./tokens.js";
import { askForToken } from "./login.js";
import { Learner } from "./learner.js";
import { Learners } from "./learners.js";
import { Store } from "./store.js";
import { Try } from "./try.js";

const main = byId("main");
const STATES = { live: "live", waiting: "reconnecting", locked: "locked", quiet: "paused" };
let view = null;
let leave = null;
let session = null;
let visit = 0;

const viewOf = (hash) => {
  if (hash.startsWith("#/learner/")) {
    const name = decodeURIComponent(hash.slice(10));
    return { title: name, nav: "learners", make: () => new Learner(main, name) };
  }
  if (hash === "#/try") return { title: "Try it", nav: "try", make: () => new Try(main, session) };
  if (hash === "#/store") return { title: "Store", nav: "store", make: () => new Store(main) };
  return { title: "Learners", nav: "learners", make: () => new Learners(main) };
};

const told = (state) => {
  byId("link-state").dataset.state = state;
  byId("link-word").textContent = STATES[state];
  if (state === "locked") locked("The token is no longer accepted.");
};

// A tab that nobody looks at holds no connection: browsers allow six to a host, and the daemon should rest.
const quiet = () => {
  leave?.();
  leave = null;
  if (view) told("quiet");
};
const tune = () => {
  if (view && !leave && !document.hidden) leave = listen(view.query(), (news) => view?.hear(news), told);
};

const close = () => {
  leave?.();
  view?.close?.();
  leave = view = null;
  hidePopover();
};

const locked = (message) => {
  close();
  byId("link-state").dataset.state = "locked";
  byId("link-word").textContent = STATES.locked;
  askForToken(main, message, () => start(true));
};

const show = async (moved) => {
  const hash = location.hash || "#/";
  if (!hash.startsWith("#/")) return; // the skip link
  close();
  visit += 1;
  const mine = visit;
  const { title, nav, make } = viewOf(hash);
  document.title = `${title} · galloon`;
  for (const anchor of document.querySelectorAll("nav a")) {
    if (anchor.dataset.view === nav) anchor.setAttribute("aria-current", "page");
    else anchor.removeAttribute("aria-current");
  }
  const next = make();
  try {
    await next.load();
  } catch (problem) {
    if (mine === visit) failed(problem);
    return;
  }
  if (mine !== visit) return next.close?.();
  view = next;
  tune();
  if (moved) {
    main.focus({ preventScroll: true });
    window.scrollTo(0, 0);
    announce(title);
  }
};

const failed = (problem) => {
  if (problem.status === 401) return locked(token.get() ? problem.message : "");
  if (problem.status === undefined) throw problem;
  return put(main, h("div", { class: "card hello" }, h("h1", {}, problem.status === 404 ? "Not here" : "That did not work"), h("p", {}, problem.message),
    h("div", { class: "actions" }, h("a", { class: "button", href: "#/" }, "All learners"), h("button", { type: "button", class: "quiet", onclick: () => start(true) }, "Try again"))));
};

const start = async (moved) => {
  try {
    session = await get("/api/session");
  } catch (problem) {
    return failed(problem);
  }
  byId("about").textContent = `galloon ${session.version}${session.asks_for_tokens ? ` · ${session.principal}` : ""}`;
  byId("log-out").hidden = !session.asks_for_tokens;
  return show(moved);
};

byId("log-out").addEventListener("click", () => {
  token.drop();
  byId("log-out").hidden = true;
  byId("about").textContent = "";
  locked("");
});
window.addEventListener("hashchange", () => (session ? show(true) : start(true)));
document.addEventListener("visibilitychange", () => (document.hidden ? quiet() : tune()));
window.addEventListener("pagehide", quiet);
window.addEventListener("pageshow", tune);
start(false);

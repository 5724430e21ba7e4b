// The theme: as the system says, or light or dark by choice. Loaded before anything is painted, so that nothing flashes.
(() => {
  const root = document.documentElement;
  const NEXT = { auto: "light", light: "dark", dark: "auto" };
  const SIGN = { auto: "◐", light: "☀", dark: "☾" };
  const SAYS = { auto: "as the system", light: "light", dark: "dark" };
  let chosen = localStorage.getItem("galloon-theme") ?? "auto";
  if (!(chosen in NEXT)) chosen = "auto";
  const apply = () => {
    if (chosen === "auto") root.removeAttribute("data-theme");
    else root.dataset.theme = chosen;
  };
  apply();
  document.addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("theme");
    const show = () => {
      button.textContent = SIGN[chosen];
      button.setAttribute("aria-label", `Theme: ${SAYS[chosen]}`);
      button.title = `Theme: ${SAYS[chosen]}`;
    };
    show();
    button.addEventListener("click", () => {
      chosen = NEXT[chosen];
      localStorage.setItem("galloon-theme", chosen);
      apply();
      show();
    });
  });
})();

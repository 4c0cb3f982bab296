"use strict";
// The pages of the navigation: the address names one, and its part is fetched when it is shown.
(() => {
  const find = (selector) => document.querySelector(selector);
  const { errorLine, fetched } = window.contextkit;
  const views = {}; // What to do when a page is shown.

  const fill = (part, answer) => {
    const target = find(`[data-part=${part}]`);
    if (answer.error) target.replaceChildren(errorLine(answer.error));
    else {
      const { key, unset } = document.activeElement?.dataset ?? {};
      target.innerHTML = answer.html; // Escaped by the server, as the context is.
      const same = ({ dataset }) => (key && dataset.key === key) || (unset && dataset.key === unset);
      [...target.querySelectorAll("[data-key]")].find(same)?.focus();
    }
    return !answer.error;
  };
  const load = async (part, path = `/api/${part}`) => {
    const target = find(`[data-part=${part}]`);
    target.setAttribute("aria-busy", "true");
    const done = fill(part, await fetched(path, {}));
    target.removeAttribute("aria-busy");
    return done;
  };

  const names = () => [...document.querySelectorAll(".nav a")].map((link) => link.hash.slice(1));
  const shown = () => names().find((name) => !find(`#${name}-view`).hidden);
  const show = (moved) => {
    const name = location.hash.slice(1) || "ask";
    if (!names().includes(name)) return; // A link within a page.
    for (const each of names()) find(`#${each}-view`).hidden = each !== name;
    for (const link of document.querySelectorAll(".nav a")) {
      if (link.hash === `#${name}`) link.setAttribute("aria-current", "page"); else link.removeAttribute("aria-current");
    }
    const heading = find(`#${name}-view h1`);
    document.title = `${heading.textContent} · contextkit`;
    find("#told").hidden = true;
    if (moved) {
      scrollTo(0, 0);
      heading.focus({ preventScroll: true });
    }
    views[name]?.();
  };

  Object.assign(window.contextkit, { views, fill, load, shown });
  addEventListener("hashchange", () => show(true));
  addEventListener("DOMContentLoaded", () => { if (sessionStorage.getItem("contextkit-token")) setTimeout(show); });
})();

"use strict";
// Sessions: shown again as soon as an agent's hook has written a new context.
(() => {
  const WAIT = 1000;
  const find = (selector) => document.querySelector(selector);
  const { errorLine, fill, say, shown, views, SILENCE } = window.contextkit;

  let tag = "";
  let newest = 0;
  let timer = null;

  const follow = (state, words) => {
    find("#following .light").className = `light ${state}`;
    find("#following-words").textContent = words;
  };
  const opened = () => new Map([...document.querySelectorAll("[data-part=sessions] details")].map((one) => [one.dataset.session ?? one.closest("[data-at]").dataset.at, one.open]));
  const update = ({ html, words, newest: at }) => {
    const open = opened();
    const focus = document.activeElement?.closest("[data-part=sessions] [data-session], [data-part=sessions] [data-at]")?.dataset;
    fill("sessions", { html });
    for (const one of document.querySelectorAll("[data-part=sessions] details")) {
      one.open = open.get(one.dataset.session ?? one.closest("[data-at]").dataset.at) ?? one.open;
    }
    if (focus) {
      const again = [...document.querySelectorAll("[data-part=sessions] [data-session], [data-part=sessions] [data-at]")];
      again.find((one) => one.dataset.session === focus.session && one.dataset.at === focus.at)?.querySelector("summary")?.focus();
    }
    if (newest && at > newest) {
      [...document.querySelectorAll("[data-part=sessions] .moment.given")].at(-1)?.classList.add("new");
      say(words);
    }
    newest = at;
  };
  const look = async () => {
    clearTimeout(timer);
    if (shown() !== "sessions" || document.hidden) return;
    try {
      const headers = { "X-Contextkit-Token": sessionStorage.getItem("contextkit-token") ?? "", "If-None-Match": tag };
      const response = await fetch("/api/sessions", { headers, cache: "no-store" });
      if (response.status !== 304) {
        const answer = await response.json();
        tag = response.headers.get("ETag") ?? "";
        if (answer.error) find("[data-part=sessions]").replaceChildren(errorLine(answer.error)); else update(answer);
      }
      follow("good", "live");
    } catch { follow("bad", SILENCE); }
    timer = setTimeout(look, WAIT);
  };

  addEventListener("DOMContentLoaded", () => {
    views.sessions = look;
    document.addEventListener("visibilitychange", look);
  });
})();

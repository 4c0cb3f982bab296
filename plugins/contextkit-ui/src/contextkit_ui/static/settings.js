"use strict";
// Sources and settings: switches write the user's file.
(() => {
  const find = (selector) => document.querySelector(selector);
  const { fetched, load, say, shown, views } = window.contextkit;

  const tell = (words, failed = false) => {
    const line = find("#told");
    line.hidden = false;
    line.classList.toggle("failed", failed);
    line.textContent = words;
  };
  const focused = (key) => [...document.querySelectorAll(`#${shown()}-view [data-key]`)].find((one) => one.dataset.key === key)?.focus();

  const change = async (key, question) => {
    const answer = await fetched("/api/settings/change", { key, ...question });
    if (answer.chips) find("#chips").innerHTML = answer.chips;
    // After a refusal, the control shows again what counts.
    await load(shown());
    focused(key);
    tell(answer.error ?? answer.words, Boolean(answer.error));
  };

  const test = async () => {
    const button = find("#ask-sources");
    button.disabled = true;
    button.textContent = "Testing…";
    const done = await load("sources", "/api/sources/ask");
    button.disabled = false;
    button.textContent = "Test all";
    button.focus();
    if (!done) return;
    const rows = [...document.querySelectorAll("[data-part=sources] [data-state=bad]")];
    say(rows.length ? `Without an answer: ${rows.map((row) => row.dataset.source).join(", ")}` : "All sources answer");
  };

  addEventListener("DOMContentLoaded", () => {
    views.sources = () => load("sources");
    views.settings = () => load("settings");
    document.addEventListener("change", ({ target }) => {
      const { key } = target.dataset;
      if (key) change(key, { value: target.type === "checkbox" ? String(target.checked) : target.value });
    });
    document.addEventListener("click", ({ target }) => {
      if (target.dataset.unset) change(target.dataset.unset, {});
    });
    find("#ask-sources").addEventListener("click", test);
  });
})();

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
  const filter = () => {
    const wanted = find("#filter-settings").value.trim().toLowerCase();
    for (const row of document.querySelectorAll("[data-setting]")) row.hidden = !`${row.dataset.setting} ${row.textContent}`.toLowerCase().includes(wanted);
    for (const section of document.querySelectorAll(".section")) section.hidden = !section.querySelector("[data-setting]:not([hidden])");
  };
  const change = async (key, question) => {
    const answer = await fetched("/api/settings/change", { key, ...question });
    if (answer.chips) find("#chips").innerHTML = answer.chips;
    // After a refusal, the control shows again what counts.
    await views[shown()]();
    tell(answer.error ?? answer.words, Boolean(answer.error));
  };

  let tested = false;
  const test = async () => {
    const button = find("#ask-sources");
    tested = true;
    button.textContent = "Testing…";
    const done = await load("sources", "/api/sources/ask");
    button.textContent = "Test all";
    if (!done) return;
    const rows = [...document.querySelectorAll("[data-part=sources] [data-state=bad]")];
    say(rows.length ? `Without an answer: ${rows.map((row) => row.dataset.source).join(", ")}` : "All sources answer");
  };

  addEventListener("DOMContentLoaded", () => {
    views.sources = async () => { if (await load("sources") && !tested) test(); };
    views.settings = async () => { if (await load("settings")) filter(); };
    find("#filter-settings").addEventListener("input", filter);
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

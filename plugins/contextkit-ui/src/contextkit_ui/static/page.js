"use strict";
// What the report and the served page have in common: colours, keys, links, copying.
(() => {
  const THEMES = { auto: ["◐", "Auto", "as the system"], light: ["○", "Light", "light"], dark: ["●", "Dark", "dark"] };
  const root = document.documentElement;
  const find = (selector) => document.querySelector(selector);

  // A page that was opened as a file may have no storage.
  const remembered = () => { try { return localStorage.getItem("contextkit-theme"); } catch { return null; } };
  const remember = (name) => { try { localStorage.setItem("contextkit-theme", name); } catch { /* for this page only */ } };

  let theme = remembered() in THEMES ? remembered() : "auto";
  const applyTheme = () => {
    if (theme === "auto") delete root.dataset.theme; else root.dataset.theme = theme;
    const button = find("#theme");
    if (!button) return;
    const [sign, name, words] = THEMES[theme];
    find("#theme-sign").textContent = sign;
    find("#theme-name").textContent = name;
    button.setAttribute("aria-label", `Colours: ${words}`);
  };
  const nextTheme = () => {
    const names = Object.keys(THEMES);
    theme = names[(names.indexOf(theme) + 1) % names.length];
    remember(theme);
    applyTheme();
  };
  applyTheme(); // Before the body is there, so that nothing flashes.

  const say = (words) => { find("#status").textContent = words; };

  const copy = async () => {
    const text = find("#text");
    const button = find("#copy");
    if (!text || !button) return;
    let copied = true;
    try { await navigator.clipboard.writeText(text.textContent); }
    catch { copied = selectAndCopy(text); }
    button.textContent = copied ? "Copied" : "Select and copy";
    say(copied ? "The text is copied" : "The text is selected: copy it");
    setTimeout(() => { button.textContent = "Copy"; }, 1600);
  };
  const selectAndCopy = (element) => {
    const range = document.createRange();
    range.selectNodeContents(element);
    const selection = getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
    return document.execCommand("copy");
  };

  const go = (step) => {
    const all = [...document.querySelectorAll("#items summary")];
    if (!all.length) return;
    const now = all.indexOf(document.activeElement?.closest("#items summary"));
    const next = now < 0 ? (step > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, now + step));
    all[next].focus();
    all[next].scrollIntoView({ block: "nearest" });
  };

  // A link leads into groups that may be closed.
  const openTarget = () => {
    const target = document.getElementById(location.hash.slice(1));
    if (!target?.matches(".item")) return;
    for (let up = target.parentElement; up; up = up.parentElement) if (up.tagName === "DETAILS") up.open = true;
    target.querySelector(":scope > details")?.setAttribute("open", "");
    target.scrollIntoView({ block: "nearest" });
    (target.querySelector("summary") ?? target).focus({ preventScroll: true });
  };

  const light = (anchor, lit) => {
    if (!anchor) return;
    document.querySelectorAll(`[data-of="${anchor}"]`).forEach((part) => part.classList.toggle("lit", lit));
  };

  const help = () => { const dialog = find("#help"); if (dialog.open) dialog.close(); else dialog.showModal(); };

  const KEYS = { c: copy, t: nextTheme, "?": help, j: () => go(1), k: () => go(-1) };
  const typing = (element) => element?.matches?.("input:not([type=checkbox], [type=range]), select, textarea");
  const pressed = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
    if (find("#help").open && event.key !== "?") return;
    const action = KEYS[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  };

  window.contextkit = { keys: KEYS, say };
  addEventListener("keydown", pressed);
  addEventListener("hashchange", openTarget);
  addEventListener("DOMContentLoaded", () => {
    applyTheme();
    openTarget();
    find("#theme").addEventListener("click", nextTheme);
    find("#help-button").addEventListener("click", help);
    document.addEventListener("click", (event) => {
      const link = event.target.closest("a.to");
      // The same link again is no change of the address.
      if (link && link.hash === location.hash) openTarget();
      if (event.target.closest("#copy")) copy();
      const toggle = event.target.closest("[data-toggle-all]");
      if (toggle) {
        const all = [...document.querySelectorAll(`${toggle.dataset.toggleAll} details`)];
        const open = !all.every((one) => one.open);
        all.forEach((one) => { one.open = open; });
        toggle.textContent = open ? "Close all" : "Open all";
      }
    });
    for (const [name, lit] of [["mouseover", true], ["mouseout", false], ["focusin", true], ["focusout", false]]) {
      document.addEventListener(name, (event) => light(event.target.closest?.("#items > li")?.id, lit));
    }
  });
})();

"use strict";
// The served page: asks for contexts, the latest question wins.
(() => {
  const STEPS = [100, 150, 200, 300, 400, 500, 600, 800, 1000, 1200, 1500, 2000, 2500, 3000, 4000, 5000, 6000, 8000, 10000, 12000, 16000, 20000, 24000, 32000];
  const WAIT = 200;
  const SILENCE = "There is no answer: is `contextkit ui` still running?";
  const find = (selector) => document.querySelector(selector);
  const { keys, say } = window.contextkit;

  // The token comes behind the # of the address, which no browser sends anywhere.
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given) {
    sessionStorage.setItem("contextkit-token", given);
    history.replaceState(null, "", location.pathname);
  }

  const asked = () => {
    const form = find("#question");
    const choices = Object.fromEntries([...form.querySelectorAll("select")].map((one) => [one.name, one.value]));
    const sources = [...form.querySelectorAll("[name=source]:checked")].map((one) => one.value);
    return { query: form.query.value, sources, max_tokens: Number(find("#max-tokens").value), ...choices };
  };

  const post = (path, question, signal) => fetch(path, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Contextkit-Token": sessionStorage.getItem("contextkit-token") ?? "" },
    body: JSON.stringify(question),
    signal,
  });
  // The answer's values, or an `error` in words.
  const fetched = async (path, question) => {
    try { return await (await post(path, question)).json(); } catch { return { error: SILENCE }; }
  };
  const errorLine = (words) => Object.assign(document.createElement("p"), { className: "error", role: "alert", textContent: words });
  Object.assign(window.contextkit, { fetched, errorLine, SILENCE });

  let running = null;
  let timer = null;
  const ask = async () => {
    clearTimeout(timer);
    const request = asked();
    if (!request.query.trim()) return;
    running?.abort();
    const mine = running = new AbortController();
    find("#answer").classList.add("busy");
    find("#answer").setAttribute("aria-busy", "true");
    try {
      const response = await post("/api/context", request, mine.signal);
      const answer = await response.json();
      if (response.ok) show(answer); else refuse(answer.error);
    } catch (error) {
      if (mine.signal.aborted) return;
      refuse(SILENCE);
    }
    if (running !== mine) return;
    running = null;
    find("#answer").classList.remove("busy");
    find("#answer").removeAttribute("aria-busy");
  };
  const askSoon = () => { clearTimeout(timer); timer = setTimeout(ask, WAIT); };

  const show = ({ context, html }) => {
    const open = new Map([...document.querySelectorAll("details[data-group]")].map((one) => [one.dataset.group, one.open]));
    find("#answer").innerHTML = html; // Escaped by the server, and the policy of the page runs nothing in it.
    find("#answer").dataset.asked = "yes";
    document.querySelectorAll("details[data-group]").forEach((one) => { one.open = open.get(one.dataset.group) ?? one.open; });
    document.title = `${context.query.slice(0, 80)} · contextkit`;
    say(`${context.token_count} of ${context.max_tokens} tokens, ${context.items.length} of ${context.candidates} items`);
  };
  const refuse = (words) => {
    find("#answer").replaceChildren(errorLine(words));
  };

  const overview = async () => {
    if (!location.hash) find("#query").focus({ preventScroll: true });
    const answer = await fetched("/api/overview", {});
    if (answer.html && !find("#answer").dataset.asked && find("#overview")) find("#overview").outerHTML = answer.html;
  };
  const why = async (item) => {
    const answer = await fetched("/api/explain", { ...asked(), item });
    const words = answer.explanations?.map((one) => one.words) ?? [answer.error];
    const lines = words.map((one) => Object.assign(document.createElement("li"), { textContent: one }));
    find("#why-words")?.replaceChildren(...lines);
  };

  const nearest = (tokens) => {
    const far = STEPS.map((step) => Math.abs(Math.log(step / tokens)));
    return far.indexOf(Math.min(...far));
  };
  const showBudget = () => {
    const slider = find("#budget");
    slider.value = nearest(Math.max(1, Number(find("#max-tokens").value)));
    slider.setAttribute("aria-valuetext", `${find("#max-tokens").value} tokens`);
  };

  addEventListener("DOMContentLoaded", () => {
    const form = find("#question");
    const slider = find("#budget");
    slider.max = STEPS.length - 1;
    showBudget();
    form.addEventListener("submit", (event) => { event.preventDefault(); ask(); });
    document.addEventListener("submit", (event) => {
      if (event.target.id !== "why") return;
      event.preventDefault();
      why(event.target.item.value);
    });
    slider.addEventListener("input", () => {
      find("#max-tokens").value = STEPS[slider.value];
      slider.setAttribute("aria-valuetext", `${STEPS[slider.value]} tokens`);
      askSoon();
    });
    find("#max-tokens").addEventListener("input", () => { showBudget(); askSoon(); });
    form.addEventListener("change", (event) => { if (event.target.matches("select, [name=source]")) ask(); });
    document.addEventListener("click", (event) => {
      const { question } = event.target.dataset;
      if (!question) return;
      form.query.value = question;
      ask();
    });
    const write = () => { form.query.focus(); form.query.select(); };
    keys["/"] = () => {
      if (!find("#ask-view").hidden) { write(); return; } // At once: what is typed next belongs to the question.
      addEventListener("hashchange", write, { once: true }); // After the listener that shows the page.
      location.hash = "#ask";
    };
    for (let digit = 1; digit <= 9; digit++) keys[digit] = () => form.querySelectorAll("[name=source]")[digit - 1]?.click();
    form.query.addEventListener("keydown", (event) => { if (event.key === "Escape") form.query.blur(); });
    if (!sessionStorage.getItem("contextkit-token")) refuse("This page needs the whole address that `contextkit ui` printed.");
    else overview();
  });
})();

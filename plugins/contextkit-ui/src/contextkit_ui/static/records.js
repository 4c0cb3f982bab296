"use strict";
// The records that people write: find, edit, end.
(() => {
  const find = (selector) => document.querySelector(selector);
  const { errorLine, fetched, say, views } = window.contextkit;

  const ask = (path, question) => fetched(`/api/records${path}`, { source: find("#records-of").value, ...question });
  const recordOf = (id) => [...document.querySelectorAll("#record-list [data-id]")].find((one) => one.dataset.id === id);

  let latest = 0;
  const list = async () => {
    const mine = ++latest;
    const question = { query: find("#records-query").value, ended: find("#records-ended").checked };
    const answer = await ask("", question);
    if (mine !== latest) return;
    if (answer.error) find("#record-list").replaceChildren(errorLine(answer.error));
    else find("#record-list").innerHTML = answer.html; // Escaped by the server, as the context is.
    say(answer.error ?? find("#record-list [data-field=shown]").textContent);
  };

  const open = async (id) => {
    if (!recordOf(id)) {
      find("#records-query").value = "";
      find("#records-ended").checked = true;
      await list();
    }
    recordOf(id)?.querySelector("details").setAttribute("open", "");
    recordOf(id)?.querySelector("summary").focus();
  };

  const change = async (form, path, question, done) => {
    const { id } = form.dataset;
    const answer = await ask(path, { source: form.dataset.source, id, ...question });
    if (answer.error) {
      form.querySelector("[role=status]").textContent = answer.error;
      return;
    }
    await list();
    recordOf(id)?.querySelector("details")?.setAttribute("open", "");
    recordOf(id)?.querySelector("summary").focus();
    say(done(answer));
  };

  addEventListener("DOMContentLoaded", () => {
    if (!find("#find-records")) return;
    views.memories = list;
    find("#find-records").addEventListener("submit", (event) => { event.preventDefault(); list(); });
    find("#find-records").addEventListener("change", (event) => { if (event.target.matches("select, [type=checkbox]")) list(); });
    find("#record-list").addEventListener("submit", (event) => {
      event.preventDefault();
      const { document: edited } = event.target.elements;
      const versions = { before: edited.defaultValue, after: edited.value };
      change(event.target, "/edit", versions, ({ outcome }) => (outcome === "unchanged" ? "Nothing changed" : "Saved"));
    });
    find("#record-list").addEventListener("click", (event) => {
      const other = event.target.closest("[data-other]");
      if (other) return open(other.dataset.other);
      const end = event.target.closest("[name=end]");
      if (!end || !confirm(`${end.textContent}?`)) return;
      change(end.form, "/end", {}, ({ outcome }) => (outcome === "ended" ? "Ended" : "Deleted"));
    });
  });
})();

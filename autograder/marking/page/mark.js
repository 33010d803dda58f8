// Keys, and what the mark scheme's buttons write. Every change is a form that works without this script.
(function () {
  "use strict";
  const find = (selector) => document.querySelector(selector);
  const all = (selector) => [...document.querySelectorAll(selector)];
  const form = find("#mark"), points = find("#points"), comment = find("#comment"), said = find("#said");
  const lines = all("#lines button"), answers = all("[data-answer]"), unseen = new Set();
  const single = find("#single-keys");
  let current = -1;

  function say(text) {
    said.textContent = text;
  }

  function paragraphs() {
    return comment ? comment.value.split(/\n[ \t]*\n/).map((part) => part.trim()).filter(Boolean) : [];
  }

  function refresh() {
    const given = paragraphs();
    lines.forEach((line) => line.setAttribute("aria-pressed", String(given.includes(line.dataset.text))));
  }

  function toggle(line) {
    const given = paragraphs(), at = given.indexOf(line.dataset.text), worth = Number(line.dataset.points);
    if (at < 0) { given.push(line.dataset.text); } else { given.splice(at, 1); }
    if (comment) { comment.value = given.join("\n\n"); }
    if (worth) {
      const sum = Number(points.value) + (at < 0 ? worth : -worth);
      points.value = Math.round(1000 * Math.min(Math.max(sum, 0), Number(form.dataset.max))) / 1000;
    }
    refresh();
  }

  function give(value) {
    points.value = value;
    form.requestSubmit();
  }

  function move(step) {
    current = Math.min(Math.max(current + step, 0), answers.length - 1);
    answers[current].focus();
    answers[current].scrollIntoView({ block: "nearest" });
  }

  function inCurrent(selector) {
    const found = (answers[Math.max(current, 0)] || document).querySelector(selector);
    if (found) { found.click(); }
  }

  // A mark for several texts is possible after all of them were on the screen.
  const watch = new IntersectionObserver((entries) => entries.forEach((entry) => {
    if (entry.isIntersecting) { unseen.delete(entry.target); watch.unobserve(entry.target); }
  }));
  all("[data-end]").forEach((end) => { unseen.add(end); watch.observe(end); });

  if (form) {
    form.addEventListener("submit", (event) => {
      if (!unseen.size) { return; }
      event.preventDefault();
      say(`${unseen.size} more to read below.`);
      unseen.values().next().value.parentNode.scrollIntoView({ block: "end" });
    });
    lines.forEach((line) => line.addEventListener("click", (event) => {
      toggle(line);
      if (event.detail) { line.blur(); }  // Enter stores, after a click of the mouse too
    }));
    all("[data-give]").forEach((button) => button.addEventListener("click", () => give(button.dataset.give)));
    if (comment) { comment.addEventListener("input", refresh); }
    refresh();
  }

  try {
    single.checked = localStorage.getItem("single-keys") !== "off";
    single.addEventListener("change", () => localStorage.setItem("single-keys", single.checked ? "on" : "off"));
  } catch (error) { /* a browser that keeps nothing */ }

  document.addEventListener("keydown", (event) => {
    const at = document.activeElement, writes = at.matches("textarea, select, input:not([type=checkbox])");
    if (event.key === "Escape" && writes) { at.blur(); return; }
    if (event.key === "Enter" && form && (event.ctrlKey || event.metaKey)) {
      form.requestSubmit();
      event.preventDefault();
      return;
    }
    if (writes || event.ctrlKey || event.altKey || event.metaKey) { return; }
    if (event.key === "Enter") {
      if (form && !at.matches("a, button, summary, input")) { form.requestSubmit(); event.preventDefault(); }
      return;
    }
    if (!single.checked || event.repeat) { return; }
    const digit = /^(?:Digit|Numpad)([1-9])$/.exec(event.code), line = digit && lines[Number(digit[1]) - 1];
    const keyed = all("[data-key]").find((one) => one.dataset.key === event.key && !one.disabled);
    if (line && event.shiftKey) {
      points.value = "";
      if (comment) { comment.value = ""; }
      toggle(line);
      if (points.value === "") { refresh(); points.focus(); } else { form.requestSubmit(); }
    } else if (line) {
      toggle(line);
    } else if (event.key === "j" || event.key === "k") {
      if (answers.length) { move(event.key === "j" ? 1 : -1); }
    } else if (event.key === "o") {
      inCurrent("a[data-one]");
    } else if (event.key === "x") {
      inCurrent("input[type=checkbox]");
    } else if (keyed && keyed.matches("input, textarea, select")) {
      keyed.focus();
    } else if (keyed) {
      keyed.click();
    } else {
      return;
    }
    event.preventDefault();
  });

  const message = said.dataset.said;
  find("h1").focus({ preventScroll: true });
  if (message) { say(""); setTimeout(() => say(message), 100); }  // so that a screen reader says it
}());

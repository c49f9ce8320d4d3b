"use strict";
(() => {
  const rules = [...document.querySelectorAll("details.rule")];
  const buttons = [...document.querySelectorAll(".filters button")];
  const find = document.getElementById("find");
  const count = document.getElementById("count");

  const apply = () => {
    const outcome = buttons.find((button) => button.getAttribute("aria-pressed") === "true").dataset.outcome;
    const word = find.value.trim().toLowerCase();
    let shown = 0;
    for (const rule of rules) {
      const visible = (!outcome || rule.dataset.outcome === outcome) && rule.dataset.text.includes(word);
      rule.hidden = !visible;
      shown += visible;
    }
    count.textContent = `${shown} ${shown === 1 ? "rule" : "rules"}`;
  };
  const press = (pressed) => {
    for (const button of buttons) button.setAttribute("aria-pressed", String(button === pressed));
    apply();
  };
  for (const button of buttons) button.addEventListener("click", () => press(button));
  find.addEventListener("input", apply);
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.target instanceof HTMLInputElement || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    find.focus();
  });

  const openTarget = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!(target instanceof HTMLDetailsElement)) return;
    if (target.hidden) {
      find.value = "";
      press(buttons[0]);
    }
    target.open = true;
    target.scrollIntoView({ block: "center" });
  };
  window.addEventListener("hashchange", openTarget);
  openTarget();
})();

"use strict";
// Tables sort by the heading chosen: numbers as numbers, all else as text.
for (const table of document.querySelectorAll(".linsep table")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const lines = [...table.tBodies[0].rows];
      const value = (line) => {
        const cell = line.cells[column];
        return cell.dataset.value === undefined ? NaN : Number(cell.dataset.value);
      };
      lines.sort((one, two) => {
        const [a, b] = [value(one), value(two)];
        const order = Number.isNaN(a) || Number.isNaN(b)
          ? Number.isNaN(a) - Number.isNaN(b)
            || one.cells[column].textContent.localeCompare(two.cells[column].textContent)
          : a - b;
        return down ? -order : order;
      });
      table.tBodies[0].append(...lines);
    });
  });
}
// Points say their names at once under the pointer, and one by one by the arrow keys.
for (const chart of document.querySelectorAll(".linsep .chart")) {
  const marked = [...chart.querySelectorAll(".marked_marks > *")];
  const points = marked.length ? marked : [...chart.querySelectorAll(":has(> title)")];
  const tip = document.createElement("div");
  tip.className = "tip";
  tip.setAttribute("role", "status");
  tip.hidden = true;
  chart.append(tip);
  let at = -1;
  const show = (point) => {
    const [box, frame] = [point.getBoundingClientRect(), chart.getBoundingClientRect()];
    tip.textContent = point.textContent;
    tip.hidden = false;
    const left = box.left - frame.left + box.width + 4;
    tip.style.left = `${Math.max(0, Math.min(left, frame.width - tip.offsetWidth))}px`;
    tip.style.top = `${box.top - frame.top + box.height + 4}px`;
  };
  const hide = () => {
    tip.hidden = true;
    for (const point of points) point.classList.remove("current");
  };
  chart.addEventListener("pointerover", (event) => {
    const point = event.target.closest(":has(> title)");
    if (point) show(point);
  });
  chart.addEventListener("pointerout", hide);
  chart.addEventListener("blur", hide);
  chart.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") hide();
    if (!step || !points.length) return;
    event.preventDefault();
    hide();
    at = (at + step + points.length) % points.length;
    points[at].classList.add("current");
    show(points[at]);
  });
}

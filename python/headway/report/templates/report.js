"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const coarse = matchMedia("(pointer: coarse)");
  let printing = false;

  // Colours are names until a figure is shown: the theme says what they are.
  const palette = () => data.themes[dark.matches && !printing ? "dark" : "light"];
  function painted(value, colours) {
    if (typeof value === "string") return colours[value] ?? value;
    if (Array.isArray(value)) return value.map((item) => painted(item, colours));
    if (value && typeof value === "object") {
      return Object.fromEntries(
        Object.entries(value).map(([key, item]) => [key, painted(item, colours)]));
    }
    return value;
  }

  class Drawing {
    constructor(element) {
      this.figure = data.figures[Number(element.dataset.figure)];
      this.plots = [...element.querySelectorAll(".plot")];
      this.titles = [...element.querySelectorAll(".panel h4")];
      this.selects = [...element.querySelectorAll("select")];
      this.hidden = new Set();
      for (const select of this.selects) select.addEventListener("change", () => this.draw());
      for (const button of element.querySelectorAll(".legend button")) {
        button.addEventListener("click", () => this.toggle(button));
      }
    }

    toggle(button) {
      const shown = button.getAttribute("aria-pressed") === "true";
      button.setAttribute("aria-pressed", String(!shown));
      if (shown) this.hidden.add(button.dataset.key);
      else this.hidden.delete(button.dataset.key);
      this.draw();
    }

    draw() {
      const panels = this.figure.frames[this.selects.map((select) => select.value).join(",")];
      const colours = palette();
      return Promise.all(this.plots.map((plot, i) => {
        const traces = painted(panels[i].data, colours);
        for (const trace of traces) {
          trace.visible = ![trace.legendgroup, trace.meta].some((key) => this.hidden.has(key));
        }
        const layout = painted(panels[i].layout, colours);
        layout.dragmode = coarse.matches ? false : "zoom";
        layout.xaxis.fixedrange = layout.yaxis.fixedrange = coarse.matches;
        layout.autosize = true;
        if (plot.clientWidth < 400) layout.xaxis.tickfont.size = 10;
        if (printing) {
          layout.autosize = false;
          layout.width = this.plots.length > 1 ? 330 : 680;
          layout.height = plot.clientHeight;
        }
        return Plotly.react(plot, traces, layout, {
          responsive: !printing,
          displaylogo: false,
          displayModeBar: coarse.matches || printing ? false : "hover",
          modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"],
          toImageButtonOptions: { format: "svg", filename: this.figure.name },
        });
      }));
    }
  }

  const drawings = [...document.querySelectorAll("figure.drawing")].map((e) => new Drawing(e));
  const drawAll = () => Promise.all(drawings.map((drawing) => drawing.draw()));
  drawAll().then(() => { document.documentElement.dataset.drawn = "yes"; });
  dark.addEventListener("change", drawAll);
  addEventListener("beforeprint", () => { printing = true; drawAll(); });
  addEventListener("afterprint", () => { printing = false; drawAll(); });

  // Tables: a head sorts by its column; a second press turns the order round.
  const value = (row, column) => {
    const cell = row.cells[column];
    const key = cell.dataset.key ?? cell.textContent.trim();
    const number = Number(key);
    return key !== "" && !Number.isNaN(number) ? number : key;
  };
  const compare = (a, b) => {
    if (a === "" || b === "") return (a === "") - (b === "");
    if (typeof a === "number" && typeof b === "number") return a - b;
    return String(a).localeCompare(String(b), "en", { numeric: true });
  };
  for (const table of document.querySelectorAll("table.sortable")) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      head.querySelector("button").addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        for (const other of heads) other.setAttribute("aria-sort", "none");
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const body = table.tBodies[0];
        const rows = [...body.rows].map((row) => [value(row, column), row]);
        rows.sort(([a], [b]) => (down && a !== "" && b !== "" ? compare(b, a) : compare(a, b)));
        body.append(...rows.map(([, row]) => row));
      });
    });
  }

  // A row stays when each word of the filter occurs in one of its cells.
  for (const input of document.querySelectorAll("[data-filter]")) {
    const table = document.getElementById(input.dataset.filter);
    const count = document.querySelector(`[data-count="${input.dataset.filter}"]`);
    input.addEventListener("input", () => {
      const wanted = input.value.toLowerCase().split(/[,;]|\s{2,}/).map((w) => w.trim()).filter(Boolean);
      let shown = 0;
      for (const row of table.tBodies[0].rows) {
        const texts = [...row.cells].map((cell) => cell.textContent.trim().toLowerCase());
        const text = texts.join(" ");
        row.hidden = !wanted.every((w) => texts.includes(w) || text.includes(w));
        shown += !row.hidden;
      }
      count.textContent = `${shown} rows`;
    });
  }

  for (const link of document.querySelectorAll("a[data-file]")) {
    link.addEventListener("click", () => {
      const file = new Blob([data.files[link.dataset.file]], { type: "text/csv" });
      const address = URL.createObjectURL(file);
      link.href = address;
      setTimeout(() => { link.href = "#tables"; URL.revokeObjectURL(address); }, 1000);
    });
  }
})();

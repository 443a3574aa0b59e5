/**
 * Pointing at the cells of a chart: the pointer by where it is, the keyboard by going from cell to
 * cell once the picture has the focus. What is pointed at is marked in all views of the page.
 */

import { rowsOfCells } from "./cells.js";
import { createLayer, outline } from "./layer.js";
import { follow, point } from "./links.js";

/** @typedef {import("./cells.js").Cell} Cell */
/** @typedef {import("./cells.js").Row} Row */

const MARKS = ["linked", "chosen"];
const NEAR = 3; // pixels beside a narrow cell that still meet it

/**
 * @param {HTMLElement} figure
 * @param {{paths?: string[], onChoose?: () => void}} [parts]  all paths to draw, from the ground up;
 *   what to do when another cell, or none, is chosen by a click or a key
 */
export function attachPointing(figure, { paths = MARKS, onChoose = () => {} } = {}) {
  const plot = /** @type {HTMLElement} */ (figure.querySelector("[data-plot]"));
  const layer = createLayer(plot, paths);
  /** @type {Row[]} */
  let rows = [];
  let frame = { left: 0, right: 0, top: 0, bottom: 0, height: 1 };
  let at = /** @type {[number, number] | null} */ (null);
  /** @type {string[]} */
  let names = [];
  plot.classList.add("pointing");
  plot.tabIndex = 0;

  /** The row and the cell at a place of the window. */
  function under({ clientX, clientY }) {
    const edge = plot.getBoundingClientRect(), width = edge.width - frame.left - frame.right;
    const x = (clientX - edge.left - frame.left) / width, y = clientY - edge.top - frame.top;
    const row = rows.findIndex((one) => y >= one.y0 && y < one.y1);
    if (row < 0) return null;
    const slack = NEAR / width, { cells } = rows[row];
    const off = (one) => Math.max(one.x0 - x, x - one.x1, 0);
    let best = -1;
    cells.forEach((one, i) => {
      const closer = best < 0 || off(one) < off(cells[best]);
      if (off(one) <= slack && closer && one.x1 > one.x0) best = i;
    });
    const inBar = x >= 0 && y >= rows[row].top - NEAR && y <= rows[row].bottom + NEAR;
    return [row, inBar ? best : -1];
  }

  function linksAt(place) {
    if (!place) return [];
    const row = rows[place[0]], links = row.cells[place[1]]?.links ?? [];
    return links.length ? links : row.links;
  }

  function mark() {
    const found = rows.flatMap(({ top, bottom, links, cells }) => {
      // A row that is marked as a whole says enough about the cells that share its object.
      const own = names.filter((name) => !links.includes(name));
      const marked = cells.filter((one) => one.x1 > one.x0 && one.links.some((name) => own.includes(name)));
      return [...(own.length < names.length ? [{ x0: 0, x1: 1 }] : []), ...marked]
        .map(({ x0, x1 }) => outline(x0, x1, top, bottom));
    });
    layer.draw("linked", found.join(""));
    const cell = at && rows[at[0]]?.cells[at[1]];
    layer.draw("chosen", at && cell ? outline(cell.x0, cell.x1, rows[at[0]].top, rows[at[0]].bottom) : "");
  }

  function choose(place) {
    at = place && place[1] >= 0 ? place : null;
    mark();
    point(linksAt(at));
    onChoose();
  }

  follow((pointed) => {
    names = pointed;
    mark();
  });
  plot.addEventListener("pointermove", (event) => point(linksAt(under(event) ?? at)));
  plot.addEventListener("pointerleave", () => point(linksAt(at)));
  plot.addEventListener("focusout", () => point([]));
  plot.addEventListener("click", (event) => {
    if (/** @type {Element} */ (event.target).matches("input")) return;
    plot.focus({ preventScroll: true }); // from the canvas, which takes the focus but no keys
    choose(under(event));
  });
  plot.addEventListener("keydown", (event) => {
    if (event.target !== plot || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") choose(null);
    const next = moved(rows, at, event.key);
    if (!next) return;
    event.preventDefault();
    choose(next);
  });

  return {
    layer,
    plot,
    choose,
    /** Draws over another picture; what was chosen stays so if it still is there. */
    show(view, drawn) {
      const was = at && rows[at[0]].cells[at[1]].key;
      frame = drawn.frame;
      rows = rowsOfCells(view);
      layer.fit(frame);
      const now = at ? rows[at[0]]?.cells.findIndex((cell) => cell.key === was) ?? -1 : -1;
      at = at && now >= 0 ? [at[0], now] : null;
      mark();
    },
    /** @returns {{row: Row, cell: Cell} | null} */
    get chosen() {
      return at && { row: rows[at[0]], cell: rows[at[0]].cells[at[1]] };
    },
  };
}

/** The cell that an arrow key leads to. @param {Row[]} rows @param {[number, number] | null} at */
function moved(rows, at, key) {
  if (!["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End"].includes(key)) return null;
  const filled = rows.findIndex((row) => row.cells.length);
  if (!at) return filled < 0 ? null : [filled, 0];
  const [row, cell] = at, last = rows[row].cells.length - 1;
  const along = { ArrowLeft: cell - 1, ArrowRight: cell + 1, Home: 0, End: last }[key];
  if (along !== undefined) return [row, Math.min(Math.max(along, 0), last)];
  const by = key === "ArrowUp" ? -1 : 1;
  let other = row + by;
  while (rows[other] && !rows[other].cells.length) other += by;
  if (!rows[other]) return at;
  const middle = (rows[row].cells[cell].x0 + rows[row].cells[cell].x1) / 2;
  const off = (one) => Math.max(one.x0 - middle, middle - one.x1, 0);
  const { cells } = rows[other];
  return [other, cells.reduce((best, one, i) => (off(one) < off(cells[best]) ? i : best), 0)];
}

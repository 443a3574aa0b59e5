/**
 * Pointing at the cells of a chart by pointer, or by arrow keys while the chart has the focus. The
 * object pointed at is highlighted in all views of the page.
 */

import { cellRows } from "./cells.js";
import { createOverlay, rectanglePath } from "./overlay.js";
import { onPoint, pointAt } from "./linked_views.js";

/** @typedef {import("./cells.js").Cell} Cell */
/** @typedef {import("./cells.js").Row} Row */

const PATH_NAMES = ["linked", "chosen"];
const CELL_SLACK = 3; // pixels beside a narrow cell that still meet it

/**
 * @param {HTMLElement} figure
 * @param {{paths?: string[], onChoose?: () => void}} [parts]  all paths to draw, from the ground up;
 *   what to do when another cell, or none, is chosen by a click or a key
 */
export function attachPointing(figure, { paths = PATH_NAMES, onChoose = () => {} } = {}) {
  const plot = /** @type {HTMLElement} */ (figure.querySelector("[data-plot]"));
  const layer = createOverlay(plot, paths);
  /** @type {Row[]} */
  let rows = [];
  let frame = { left: 0, right: 0, top: 0, bottom: 0, height: 1 };
  let chosenIndex = /** @type {[number, number] | null} */ (null);
  /** @type {string[]} */
  let pointedNames = [];
  plot.classList.add("pointing");
  plot.tabIndex = 0;

  /** The row and the cell at a place of the window. */
  function cellUnder({ clientX, clientY }) {
    const plotBox = plot.getBoundingClientRect(), width = plotBox.width - frame.left - frame.right;
    const x = (clientX - plotBox.left - frame.left) / width, y = clientY - plotBox.top - frame.top;
    const row = rows.findIndex((item) => y >= item.y0 && y < item.y1);
    if (row < 0) return null;
    const slack = CELL_SLACK / width, { cells } = rows[row];
    const distanceTo = (item) => Math.max(item.x0 - x, x - item.x1, 0);
    let nearest = -1;
    cells.forEach((item, i) => {
      const closer = nearest < 0 || distanceTo(item) < distanceTo(cells[nearest]);
      if (distanceTo(item) <= slack && closer && item.x1 > item.x0) nearest = i;
    });
    const inBar = x >= 0 && y >= rows[row].top - CELL_SLACK && y <= rows[row].bottom + CELL_SLACK;
    return [row, inBar ? nearest : -1];
  }

  function linksAt(place) {
    if (!place) return [];
    const row = rows[place[0]], links = row.cells[place[1]]?.links ?? [];
    return links.length ? links : row.links;
  }

  function renderMarks() {
    const outlines = rows.flatMap(({ top, bottom, links, cells }) => {
      // A row that is marked as a whole says enough about the cells that share its object.
      const ownNames = pointedNames.filter((name) => !links.includes(name));
      const markedCells = cells.filter((cell) => cell.x1 > cell.x0 && cell.links.some((name) => ownNames.includes(name)));
      return [...(ownNames.length < pointedNames.length ? [{ x0: 0, x1: 1 }] : []), ...markedCells]
        .map(({ x0, x1 }) => rectanglePath(x0, x1, top, bottom));
    });
    layer.draw("linked", outlines.join(""));
    const cell = chosenIndex && rows[chosenIndex[0]]?.cells[chosenIndex[1]];
    layer.draw("chosen", chosenIndex && cell
      ? rectanglePath(cell.x0, cell.x1, rows[chosenIndex[0]].top, rows[chosenIndex[0]].bottom) : "");
  }

  function choose(place) {
    chosenIndex = place && place[1] >= 0 ? place : null;
    renderMarks();
    pointAt(linksAt(chosenIndex));
    onChoose();
  }

  onPoint((pointed) => {
    pointedNames = pointed;
    renderMarks();
  });
  plot.addEventListener("pointermove", (event) => pointAt(linksAt(cellUnder(event) ?? chosenIndex)));
  plot.addEventListener("pointerleave", () => pointAt(linksAt(chosenIndex)));
  plot.addEventListener("focusout", () => pointAt([]));
  plot.addEventListener("click", (event) => {
    if (/** @type {Element} */ (event.target).matches("input, [data-grip]")) return;
    plot.focus({ preventScroll: true }); // from the canvas, which takes the focus but no keys
    choose(cellUnder(event));
  });
  plot.addEventListener("keydown", (event) => {
    if (event.target !== plot || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") choose(null);
    const next = nextCell(rows, chosenIndex, event.key);
    if (!next) return;
    event.preventDefault();
    choose(next);
  });

  return {
    layer,
    plot,
    choose,
    /** Draws over another picture; what was chosen stays so if it still is there. */
    show(view, picture) {
      const chosenKey = chosenIndex && rows[chosenIndex[0]].cells[chosenIndex[1]].key;
      frame = picture.frame;
      rows = cellRows(view);
      layer.fit(frame);
      const newIndex = chosenIndex ? rows[chosenIndex[0]]?.cells.findIndex((cell) => cell.key === chosenKey) ?? -1 : -1;
      chosenIndex = chosenIndex && newIndex >= 0 ? [chosenIndex[0], newIndex] : null;
      renderMarks();
    },
    /** @returns {{row: Row, cell: Cell} | null} */
    get chosen() {
      return chosenIndex && { row: rows[chosenIndex[0]], cell: rows[chosenIndex[0]].cells[chosenIndex[1]] };
    },
  };
}

/** The cell that an arrow key leads to. @param {Row[]} rows @param {[number, number] | null} current */
function nextCell(rows, current, key) {
  if (!["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End"].includes(key)) return null;
  const filled = rows.findIndex((row) => row.cells.length);
  if (!current) return filled < 0 ? null : [filled, 0];
  const [row, cell] = current, last = rows[row].cells.length - 1;
  const indexInRow = { ArrowLeft: cell - 1, ArrowRight: cell + 1, Home: 0, End: last }[key];
  if (indexInRow !== undefined) return [row, Math.min(Math.max(indexInRow, 0), last)];
  const step = key === "ArrowUp" ? -1 : 1;
  let otherRow = row + step;
  while (rows[otherRow] && !rows[otherRow].cells.length) otherRow += step;
  if (!rows[otherRow]) return current;
  const middle = (rows[row].cells[cell].x0 + rows[row].cells[cell].x1) / 2;
  const distanceTo = (cell) => Math.max(cell.x0 - middle, middle - cell.x1, 0);
  const { cells } = rows[otherRow];
  return [otherRow, cells.reduce((best, cell, i) => (distanceTo(cell) < distanceTo(cells[best]) ? i : best), 0)];
}

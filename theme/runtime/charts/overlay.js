// SVG overlay of a chart in the coordinates of its marks: outlines, a cursor.

const SVG = "http://www.w3.org/2000/svg";
const SCALE = 1000; // units across the frame, stretched to the page's width

/** @param {string} tag @param {Record<string, string>} attributes @returns {SVGElement} */
function createSvgElement(tag, attributes) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

/** @param {HTMLElement} plot @param {string[]} names of the paths, each over the one before */
export function createOverlay(plot, names) {
  const overlay = createSvgElement("svg", { class: "layer", "aria-hidden": "true" });
  const inner = createSvgElement("svg", { preserveAspectRatio: "none", overflow: "visible", width: "100%" });
  const paths = Object.fromEntries(names.map((name) => [name, createSvgElement("path", { class: name })]));
  inner.append(...Object.values(paths));
  overlay.append(inner);
  plot.append(overlay);
  return {
    /** @param {import("./frame.js").Frame} frame */
    fit({ left, right, top, height }) {
      const width = `calc(100% - ${left + right}px)`;
      Object.assign(overlay.style, { left: `${left}px`, top: `${top}px`, width, height: `${height}px` });
      inner.setAttribute("viewBox", `0 0 ${SCALE} ${height}`);
      inner.setAttribute("height", String(height));
    },
    /** @param {string} name @param {string} path empty to draw nothing */
    draw(name, path) {
      paths[name].setAttribute("d", path);
    },
    /** Moves a path that is drawn from 0 to the right edge so that it begins at x. */
    setStart(name, x) {
      paths[name].setAttribute("transform", `translate(${x * SCALE} 0) scale(${1 - x} 1)`);
    },
    /** @param {string} name @param {string} text empty for none */
    write(name, text, x, y, align, dx) {
      let label = overlay.querySelector(`text.${name}`);
      if (!label) overlay.append(label = createSvgElement("text", { class: name }));
      label.textContent = text;
      for (const [key, value] of Object.entries({ x: `${100 * x}%`, y, dx, "text-anchor": align })) {
        label.setAttribute(key, String(value));
      }
    },
  };
}

/** A path around a rectangle of shares and pixels. */
export function rectanglePath(x0, x1, y0, y1) {
  return `M${x0 * SCALE} ${y0}H${x1 * SCALE}V${y1}H${x0 * SCALE}Z`;
}

/** A path through points of shares and pixels. */
export function polylinePath(points) {
  return `M${points.map(([x, y]) => `${x * SCALE} ${y}`).join("L")}`;
}

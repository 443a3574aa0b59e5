// Converts TeX to MathML with temml: [{tex, display}] on stdin, [{html} or {error}] on stdout.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const temml = createRequire(process.cwd() + "/")("temml");

const SIGN = /^[=≈≤≥+−]$/;

/**
 * Splits the row of a displayed formula before each relation or sign, so that a narrow page can
 * break the line there. A sign after an operator belongs to a number and does not split.
 */
function splitRows(math) {
  const [holder] = math.children; // a fragment, which is written as its children
  const row = holder.children?.[0];
  if (holder.children?.length !== 1 || row.type !== "mrow") return;
  const rows = [];
  let before = null;
  for (const node of row.children) {
    const splits = node.type === "mo" && SIGN.test(node.toText()) && before?.type !== "mo";
    if (splits && before) node.setAttribute("form", "infix"); // as the first of a row it is a prefix
    if (!before || splits) rows.push([]);
    rows.at(-1).push(node);
    before = node;
  }
  if (rows.length < 2) return;
  holder.children = rows.map((children) =>
    Object.assign(Object.create(Object.getPrototypeOf(row)), row, { children }),
  );
}

/** @param {{tex: string, display: boolean}} formula */
function typeset({ tex, display }) {
  try {
    const options = { displayMode: display, throwOnError: true };
    const math = temml.__renderToMathMLTree(tex, options);
    if (display) splitRows(math);
    return { html: math.toMarkup() };
  } catch (error) {
    return { error: String(error.message) };
  }
}

process.stdout.write(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map(typeset)));

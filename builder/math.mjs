// TeX -> MathML with temml: [{tex, display}] on stdin, [{html} or {error}] on stdout.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const temml = createRequire(process.cwd() + "/")("temml");

/** @param {{tex: string, display: boolean}} formula */
function typeset({ tex, display }) {
  try {
    return { html: temml.renderToString(tex, { displayMode: display, throwOnError: true }) };
  } catch (error) {
    return { error: String(error.message) };
  }
}

process.stdout.write(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map(typeset)));

// Texts -> documents, as the page's reader makes them: {reader: path, texts: [text], chunk: bytes}
// on stdin; on stdout a rank or {"fault": parts} each.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { reader, texts, chunk } = JSON.parse(readFileSync(0, "utf8"));
const { createReader, Fault } = await import(pathToFileURL(reader));

function read(text) {
  const bytes = new TextEncoder().encode(text);
  const found = createReader("my.json");
  try {
    for (let at = 0; at < bytes.length; at += chunk) found.take(bytes.slice(at, at + chunk));
    return found.end();
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { fault: error.parts };
  }
}

process.stdout.write(JSON.stringify(texts.map(read)));

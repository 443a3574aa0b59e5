// Parquet files -> CSV, as the page's reader makes it: {reader: path, files: [base64]} on stdin; on
// stdout a text or {"error": name} each.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { reader, files } = JSON.parse(readFileSync(0, "utf8"));
const { parquetToCsv } = await import(pathToFileURL(reader));
const read = (file) => parquetToCsv(new Uint8Array(Buffer.from(file, "base64"))).catch(({ name }) => ({ error: name }));

process.stdout.write(JSON.stringify(await Promise.all(files.map(read))));

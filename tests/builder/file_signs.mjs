// {signs: path, starts: [text]} on stdin; on stdout the folder of the tool that each opens.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { signs, starts } = JSON.parse(readFileSync(0, "utf8"));
const { toolFor } = await import(pathToFileURL(signs));
process.stdout.write(JSON.stringify(starts.map(toolFor)));

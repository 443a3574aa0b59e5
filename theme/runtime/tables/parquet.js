/**
 * Converter from Parquet to CSV: flat tables, plain or packed with Snappy or gzip, with the encodings that
 * PyArrow, pandas and DuckDB write unasked (parquet.apache.org/docs/file-format). Whatever else a
 * file holds is an error; nothing is guessed.
 */

import { ByteReader, readStruct } from "./thrift.js";
import { unpackPage } from "./unpack.js";

const FOOTER_LENGTH = 8; // length of the metadata, and "PAR1" again
const PLAIN = 0, PLAIN_DICTIONARY = 2, RLE = 3, RLE_DICTIONARY = 8;
const DATA_PAGE = 0, DICTIONARY_PAGE = 2, DATA_PAGE_V2 = 3;
const OPTIONAL = 1, REPEATED = 2;
const MAX_CELLS = 1_000_000; // cells
const READERS = [
  null, // bits, which come eight in a byte
  (b) => b.view.getInt32((b.at += 4) - 4, true),
  (b) => b.view.getBigInt64((b.at += 8) - 8, true),
  null,
  (b) => b.view.getFloat32((b.at += 4) - 4, true),
  (b) => b.view.getFloat64((b.at += 8) - 8, true),
  (b) => new TextDecoder().decode(b.take(b.view.getUint32((b.at += 4) - 4, true))),
];

/**
 * @param {Uint8Array} file
 * @returns {Promise<string>} a first line of names, then the rows
 * @throws {RangeError} for whatever is wrong with the file
 */
export async function parquetToCsv(file) {
  try {
    return await readTable(file);
  } catch (error) {
    // A damaged file may also lead to a field that its records do not have.
    throw error instanceof RangeError ? error : new RangeError(String(error));
  }
}

async function readTable(file) {
  const end = new ByteReader(file, file.length - FOOTER_LENGTH);
  const length = end.view.getUint32(end.at, true);
  const { 2: schema, 3: rows, 4: groups } = readStruct(new ByteReader(file, file.length - FOOTER_LENGTH - length));
  const names = schema.slice(1).map(columnName);
  if (rows * names.length > MAX_CELLS) throw new RangeError("too many cells");
  const columns = names.map(() => []);
  for (const { 1: chunks } of groups) {
    if (chunks.length !== names.length) throw new RangeError("not every column is there");
    for (const [i, { 3: chunk }] of chunks.entries()) {
      for (const value of await readColumn(file, chunk, schema[i + 1])) columns[i].push(value);
    }
  }
  if (columns.some((cells) => cells.length !== rows)) throw new RangeError("columns of other lengths");
  const lines = Array.from({ length: rows }, (_, row) => columns.map((cells) => cells[row]));
  return [names, ...lines].map((cells) => `${cells.map(formatCell).join(",")}\n`).join("");
}

function columnName({ 3: repetition, 4: name, 5: children }) {
  if (children || repetition === REPEATED) throw new RangeError("a column within a column");
  return new TextDecoder().decode(name);
}

function formatCell(value) {
  if (value === null) return "";
  const text = typeof value === "boolean" ? (value ? "True" : "False") : String(value);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Reads the cells of one column in one row group; null where a cell is missing. */
async function readColumn(file, chunk, { 3: repetition }) {
  const { 1: kind, 4: codec, 5: count, 9: first, 11: dictionary } = chunk;
  const bytes = new ByteReader(file, dictionary ? Math.min(dictionary, first) : first);
  const columnCells = [];
  let dictionaryValues = [];
  while (columnCells.length < count) {
    const header = readStruct(bytes);
    const packed = bytes.take(header[3]);
    if (header[1] === DICTIONARY_PAGE) {
      const page = new ByteReader(await unpackPage(packed, codec, header[2]));
      dictionaryValues = decodePlain(page, kind, header[7][1]);
    } else if (header[1] === DATA_PAGE || header[1] === DATA_PAGE_V2) {
      const page = await readPage(packed, codec, header);
      for (const cell of pageCells(page, { kind, words: dictionaryValues, optional: repetition === OPTIONAL }))
        columnCells.push(cell);
    }
  }
  return columnCells;
}

/** A data page of either version: how many cells, which of them are there, and their values. */
async function readPage(packed, codec, { 1: type, 2: size, 5: dataHeader, 8: dataHeaderV2 }) {
  if (type === DATA_PAGE) {
    return { count: dataHeader[1], encoding: dataHeader[2], values: new ByteReader(await unpackPage(packed, codec, size)) };
  }
  const levels = (dataHeaderV2[5] ?? 0) + (dataHeaderV2[6] ?? 0), values = packed.subarray(levels);
  const unpacked = dataHeaderV2[7] === false ? values : await unpackPage(values, codec, size - levels);
  return { count: dataHeaderV2[1], encoding: dataHeaderV2[4], values: new ByteReader(unpacked),
    levels: new ByteReader(packed.subarray(0, levels)) };
}

function pageCells({ count, encoding, values, levels }, { kind, words: dictionary, optional }) {
  if (count > MAX_CELLS) throw new RangeError("too many cells");
  const presence = optional ? presenceLevels(levels ?? sizedLevels(values), count) : Array(count).fill(1);
  const presentCount = presence.reduce((sum, isPresent) => sum + isPresent, 0);
  const presentValues = decodeValues(values, { encoding, kind, words: dictionary, some: presentCount });
  let next = 0;
  return presence.map((isPresent) => (isPresent ? presentValues[next++] : null));
}

/** Levels of the first version say their length before themselves. */
function sizedLevels(values) {
  const length = values.view.getUint32((values.at += 4) - 4, true);
  return new ByteReader(values.take(length));
}

function presenceLevels(levels, count) {
  return decodeRuns(levels, 1, count);
}

function decodeValues(values, { encoding, kind, words: dictionary, some: presentCount }) {
  if (encoding === PLAIN) return decodePlain(values, kind, presentCount);
  if (encoding === RLE && kind === 0) return decodeRuns(sizedLevels(values), 1, presentCount).map(Boolean);
  if (encoding !== PLAIN_DICTIONARY && encoding !== RLE_DICTIONARY) throw new RangeError("another encoding");
  if (!presentCount) return [];
  return decodeRuns(values, values.byte(), presentCount).map((place) => {
    if (place >= dictionary.length) throw new RangeError("a word that is not in the dictionary");
    return dictionary[place];
  });
}

function decodePlain(bytes, kind, count) {
  if (count > MAX_CELLS) throw new RangeError("too many cells");
  if (kind === 0) return decodeBits(bytes.take(Math.ceil(count / 8)), 1, count).map(Boolean);
  const readValue = READERS[kind];
  if (!readValue) throw new RangeError("a type that tables of numbers and words do not have");
  return Array.from({ length: count }, () => readValue(bytes));
}

/** Runs of one number, and groups of eight that are packed by their bits. */
function decodeRuns(bytes, width, count) {
  if (width > 32 || count > MAX_CELLS) throw new RangeError("too wide or too long");
  const values = [], valueBytes = Math.ceil(width / 8);
  while (values.length < count) {
    const head = bytes.varint(), remaining = count - values.length;
    if (head % 2) {
      const groups = (head - 1) / 2;
      values.push(...decodeBits(bytes.take(groups * width), width, Math.min(remaining, groups * 8)));
      if (!groups) throw new RangeError("a run of nothing");
    } else {
      const value = bytes.take(valueBytes).reduce((sum, byte, i) => sum + byte * 256 ** i, 0);
      if (!head) throw new RangeError("a run of nothing");
      for (let n = Math.min(remaining, head / 2); n > 0; n--) values.push(value);
    }
  }
  return values;
}

function decodeBits(bytes, width, count) {
  const bit = (at) => (bytes[at >> 3] >> (at & 7)) & 1;
  return Array.from({ length: count }, (_, i) => {
    let value = 0;
    for (let n = 0; n < width; n++) value += bit(i * width + n) * 2 ** n;
    return value;
  });
}

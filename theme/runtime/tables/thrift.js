/** Reader of Thrift's compact protocol, as far as Parquet's metadata needs it: a struct is {number: value}. */

const TRUE = 1, FALSE = 2, BYTE = 3, DOUBLE = 7, BINARY = 8, LIST = 9, SET = 10, STRUCT = 12;
const LONG_LIST = 15; // a list of so many or more says its length behind its head
const MAX_DEPTH = 32;

/** Reader of bytes with a position; reading beyond the end is a RangeError. */
export class ByteReader {
  /** @param {Uint8Array} all */
  constructor(all, at = 0) {
    if (!(at >= 0)) throw new RangeError("no place in the file");
    this.all = all;
    this.view = new DataView(all.buffer, all.byteOffset, all.byteLength);
    this.at = at;
  }

  byte() {
    return this.view.getUint8(this.at++);
  }

  /** @param {number} length */
  take(length) {
    // Not a number either, where a damaged record lacks the length.
    if (!(length >= 0 && this.at + length <= this.all.length)) throw new RangeError("beyond the end");
    this.at += length;
    return this.all.subarray(this.at - length, this.at);
  }

  varint() {
    let value = 0, scale = 1;
    for (;;) {
      const byte = this.byte();
      value += (byte & 127) * scale;
      if (byte < 128) return value;
      scale *= 128;
      if (scale > 2 ** 63) throw new RangeError("no end to a number");
    }
  }

  signed() {
    const value = this.varint();
    return value % 2 ? -(value + 1) / 2 : value / 2;
  }
}

/** @param {ByteReader} bytes @returns {Record<number, any>} */
export function readStruct(bytes, depth = 0) {
  if (depth > MAX_DEPTH) throw new RangeError("too deep");
  const fields = {};
  let field = 0;
  for (;;) {
    const head = bytes.byte(), kind = head & 15;
    if (!head) return fields;
    field = head >> 4 ? field + (head >> 4) : bytes.signed();
    fields[field] = kind === TRUE || kind === FALSE ? kind === TRUE : readValue(bytes, kind, depth);
  }
}

function readValue(bytes, kind, depth) {
  if (kind === TRUE || kind === FALSE) return bytes.byte() === TRUE; // within a list
  if (kind === BYTE) return bytes.byte();
  if (kind < DOUBLE) return bytes.signed();
  if (kind === DOUBLE) return bytes.take(8);
  if (kind === BINARY) return bytes.take(bytes.varint());
  if (kind === LIST || kind === SET) return readList(bytes, depth);
  if (kind === STRUCT) return readStruct(bytes, depth + 1);
  throw new RangeError("a kind that Parquet's records do not have");
}

function readList(bytes, depth) {
  const head = bytes.byte();
  const length = head >> 4 < LONG_LIST ? head >> 4 : bytes.varint();
  if (length > bytes.all.length) throw new RangeError("longer than the file");
  return Array.from({ length }, () => readValue(bytes, head & 15, depth + 1));
}

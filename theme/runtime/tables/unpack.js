/** Decompression of Parquet pages: none, Snappy or gzip. */

import { ByteReader } from "./thrift.js";

const PLAIN = 0, SNAPPY = 1, GZIP = 2;
const MAX_PAGE_BYTES = 1 << 26; // bytes

/** @param {Uint8Array} packed @param {number} codec @param {number} size unpacked */
export async function unpackPage(packed, codec, size) {
  if (size < 0 || size > MAX_PAGE_BYTES) throw new RangeError("a page of another size");
  if (codec === PLAIN) return packed;
  if (codec === SNAPPY) return unpackSnappy(packed);
  if (codec !== GZIP) throw new RangeError("packed in another way");
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Decompresses Snappy's raw format (github.com/google/snappy, format_description.txt): literals and copies. */
function unpackSnappy(packed) {
  const bytes = new ByteReader(packed), length = bytes.varint();
  if (length > MAX_PAGE_BYTES) throw new RangeError("a page of another size");
  const out = new Uint8Array(length);
  let position = 0;
  while (bytes.at < packed.length) {
    const tag = bytes.byte(), kind = tag & 3;
    if (kind === 0) {
      const literal = bytes.take(1 + (tag >> 2 < 60 ? tag >> 2 : readLittleEndian(bytes, (tag >> 2) - 59)));
      out.set(literal, position);
      position += literal.length;
      continue;
    }
    const [count, back] = kind === 1
      ? [4 + ((tag >> 2) & 7), (tag >> 5) * 256 + bytes.byte()]
      : [1 + (tag >> 2), readLittleEndian(bytes, kind === 2 ? 2 : 4)];
    if (!back || back > position || position + count > length) throw new RangeError("a copy of nothing");
    for (let n = 0; n < count; n++, position++) out[position] = out[position - back]; // it may copy what it writes
  }
  if (position !== length) throw new RangeError("shorter than it says");
  return out;
}

function readLittleEndian(bytes, count) {
  return bytes.take(count).reduce((sum, byte, i) => sum + byte * 256 ** i, 0);
}

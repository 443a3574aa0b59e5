/** Files for the reader, made in the page. */

const SCALE = 2;

/** @param {string} file @param {Blob} blob */
function offer(file, blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = file;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** @param {string} file @param {string} text @param {string} type */
export function saveText(file, text, type) {
  offer(file, new Blob([text], { type: `${type};charset=utf-8` }));
}

/** @param {string} file @param {string} svg with its own width, height and colors */
export async function savePicture(file, svg) {
  const image = new Image();
  const source = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  try {
    image.src = source;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = image.naturalWidth * SCALE;
    canvas.height = image.naturalHeight * SCALE;
    canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
    const blob = await new Promise((done) => canvas.toBlob(done, "image/png"));
    if (!blob) throw new Error(file);
    offer(file, blob);
  } finally {
    URL.revokeObjectURL(source);
  }
}

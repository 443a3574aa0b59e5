/** Downloads of files made in the page. */

const PIXEL_RATIO = 2;

/** @param {string} file @param {Blob} blob */
function downloadBlob(file, blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = file;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** @param {string} file @param {string} text @param {string} type */
export function downloadText(file, text, type) {
  downloadBlob(file, new Blob([text], { type: `${type};charset=utf-8` }));
}

/** @param {string} file @param {string} svg with its own width, height and colors */
export async function downloadPng(file, svg) {
  const image = new Image();
  const source = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  try {
    image.src = source;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = image.naturalWidth * PIXEL_RATIO;
    canvas.height = image.naturalHeight * PIXEL_RATIO;
    canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
    const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
    if (!blob) throw new Error(file);
    downloadBlob(file, blob);
  } finally {
    URL.revokeObjectURL(source);
  }
}

/** Long work in pieces: what the reader does is heard between them. */
export function breath() {
  return new Promise((done) => setTimeout(done));
}

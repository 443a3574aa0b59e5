/** On paper, this site shows no more than on the screen. */
export function listenForPrint() {
  document.body.dataset.paper = "as on the screen";
}

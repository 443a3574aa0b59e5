/** Files that one page hands to the next, in the browser's own database; taken once. */

/** At the end of an address: the page takes what was handed to it. */
export const HANDED = "#handed";
const DATABASE = "wallclock", STORE = "handed";

/** @returns {Promise<IDBDatabase>} */
function openDatabase() {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(DATABASE, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
    request.onblocked = () => reject(new Error("blocked"));
  });
}

/** @param {(store: IDBObjectStore) => IDBRequest} act @returns {Promise<any>} its result */
async function inStore(act) {
  const database = await openDatabase();
  try {
    return await new Promise((resolve, reject) => {
      const transaction = database.transaction(STORE, "readwrite");
      const request = act(transaction.objectStore(STORE));
      transaction.oncomplete = () => resolve(request.result);
      transaction.onerror = () => reject(transaction.error);
      transaction.onabort = () => reject(transaction.error);
    });
  } finally {
    database.close();
  }
}

/** @param {string} folder of the tool @param {File[]} files @returns {Promise<boolean>} whether they are kept */
export async function keepFiles(folder, files) {
  return inStore((store) => store.put(files, folder)).then(() => true, () => false);
}

/** Returns the files handed to a tool, which are forgotten with it. @param {string} folder @returns {Promise<File[]>} */
export async function takeFiles(folder) {
  const files = await inStore((store) => store.get(folder)).catch(() => undefined);
  if (files) await inStore((store) => store.delete(folder)).catch(() => {});
  return files ?? [];
}

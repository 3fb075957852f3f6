/** Opens the import, whose script the page loads only then. */

import { attempt } from "../parts/messages.tsx";

const NOT_LOADED =
  "The page could not load the import. Try again, or load the page again if the service was updated";

export async function openImport(): Promise<void> {
  await attempt("import", async () => {
    const { openImportDialog } = await import("./import_dialog.tsx").catch(() => {
      throw new Error(NOT_LOADED);
    });
    openImportDialog();
  });
}

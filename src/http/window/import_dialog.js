// The dialog that imports a CSV file: choose it, see what it would do, import it, and see which lines failed.

import { animals } from "./count_words.js";
import { changeDialog, showDialog } from "./dialog.js";
import { html } from "./elements.js";
import { planImport } from "./import_plan.js";
import { ImportPreview } from "./import_preview.js";
import { ImportReport, outcomeOf } from "./import_report.js";
import { messageOf } from "./pet_fields.js";
import { runImport } from "./run_import.js";
import { attempt } from "./session.js";
import { state } from "./state.js";
import { showToast } from "./toast.js";

/** The hash of the file needs Web Crypto, which browsers have on safe origins only. */
const NOT_SECURE =
  "Browsers allow an import only over https or on localhost: open this page at such an address.";

const UNREADABLE = { fault: "The browser cannot read the file" };

const STOPPED = "The import was stopped. To continue, import the same file again within a day.";

export function showImportDialog() {
  const fault = globalThis.isSecureContext ? undefined : NOT_SECURE;
  showDialog({ title: "Import animals", content: Choice, no: "Cancel", fault });
}

function Choice({ fault }) {
  return html`
    <p class="soft">
      A CSV file, as spreadsheets save it. Its first line names the columns: Name, Category, and
      Status if you like.
    </p>
    <label>
      <span>File</span>
      <input
        type="file"
        accept=".csv,.tsv,.txt,text/csv"
        disabled=${!globalThis.isSecureContext}
        aria-invalid=${fault !== undefined}
        aria-describedby="fault-file"
        onChange=${({ target }) => choose(target)}
      />
    </label>
    <p class="fault" id="fault-file" role="alert">${fault}</p>
  `;
}

async function choose({ files: [file] }) {
  if (file === undefined) return;
  const { dialog } = state;
  const plan = await attempt(() => planImport(file), () => {}) ?? UNREADABLE;
  // The reader may have closed the dialog meanwhile.
  if (state.dialog?.content !== dialog.content) return;
  if (plan.fault !== undefined) {
    changeDialog({ fault: plan.fault });
    return;
  }
  const { length } = plan.entries;
  changeDialog({
    title: html`Import <bdi>${file.name}</bdi>`,
    content: ImportPreview,
    yes: length === 0 ? undefined : `Import ${animals(length)}`,
    onYes: (event) => {
      event.preventDefault();
      start(plan);
    },
    plan,
  });
}

async function start(plan) {
  const stop = new AbortController();
  const progress = { done: 0, added: 0, failed: [] };
  const onClose = () => stop.abort();
  changeDialog({ content: ImportReport, no: "Stop", yes: undefined, progress, onClose });
  const show = (change) => {
    if (!stop.signal.aborted) changeDialog(change);
  };
  const onProgress = (entry, outcome) => {
    note(entry, outcome, progress);
    show({ progress });
  };
  addEventListener("beforeunload", askToStay);
  await attempt(
    () => runImport(plan, { onProgress, signal: stop.signal }),
    (error) => show({ fault: messageOf(error) }),
  );
  removeEventListener("beforeunload", askToStay);
  if (stop.signal.aborted) showToast(`${STOPPED} ${outcomeOf(progress)}`);
  else changeDialog({ isDone: true, no: "Done" });
}

function note({ line }, { isNew, fault }, progress) {
  progress.done++;
  if (isNew) progress.added++;
  if (fault !== undefined) progress.failed.push({ line, fault: messageOf({ message: fault }) });
}

function askToStay(event) {
  event.preventDefault();
}

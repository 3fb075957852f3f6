/** The window at /window: a page on which people see and change the animals. It uses only the interface. */

import { pagePolicy } from "../docs/page_policy.ts";
import { type StaticAsset, staticAsset } from "../docs/static_asset.ts";
import { loadHtmPreact } from "this-runtime/page_scripts.ts";
import { joinModules } from "./join_modules.ts";
import ACTIVITY from "./activity.js" with { type: "text" };
import ADD_DIALOG from "./add_dialog.js" with { type: "text" };
import ADDRESS from "./address.js" with { type: "text" };
import ANIMAL_HISTORY from "./animal_history.js" with { type: "text" };
import ANIMAL_LIST from "./animal_list.js" with { type: "text" };
import ANIMAL_PAGE from "./animal_page.js" with { type: "text" };
import ANIMAL_ROW from "./animal_row.js" with { type: "text" };
import ANIMALS from "./animals.js" with { type: "text" };
import API from "./api.js" with { type: "text" };
import CHANGE_ANIMAL from "./change_animal.js" with { type: "text" };
import COUNT_WORDS from "./count_words.js" with { type: "text" };
import COUNTS from "./counts.js" with { type: "text" };
import CSV from "./csv.js" with { type: "text" };
import DIALOG from "./dialog.js" with { type: "text" };
import EDIT_ROW from "./edit_row.js" with { type: "text" };
import EDITS from "./edits.js" with { type: "text" };
import ELEMENTS from "./elements.js" with { type: "text" };
import EMPTY_LIST from "./empty_list.js" with { type: "text" };
import EVENT_RUNS from "./event_runs.js" with { type: "text" };
import EVENT_SENTENCES from "./event_sentences.js" with { type: "text" };
import EXPORT_ANIMALS from "./export_animals.js" with { type: "text" };
import FEED from "./feed.js" with { type: "text" };
import FIELD from "./field.js" with { type: "text" };
import FOLD_CASE from "./fold_case.js" with { type: "text" };
import ICONS from "./icons.js" with { type: "text" };
import IMPORT_DIALOG from "./import_dialog.js" with { type: "text" };
import IMPORT_PLAN from "./import_plan.js" with { type: "text" };
import IMPORT_PREVIEW from "./import_preview.js" with { type: "text" };
import IMPORT_REPORT from "./import_report.js" with { type: "text" };
import KEY_FORM from "./key_form.js" with { type: "text" };
import KINDS from "./kinds.js" with { type: "text" };
import MAIN from "./main.js" with { type: "text" };
import NAMES from "./names.js" with { type: "text" };
import NAVIGATION from "./navigation.js" with { type: "text" };
import PAGE from "./page.js" with { type: "text" };
import PET_FIELDS from "./pet_fields.js" with { type: "text" };
import RELATIVE_TIME from "./relative_time.js" with { type: "text" };
import ROW_FOCUS from "./row_focus.js" with { type: "text" };
import ROWS from "./rows.js" with { type: "text" };
import RUN_IMPORT from "./run_import.js" with { type: "text" };
import SESSION from "./session.js" with { type: "text" };
import STATE from "./state.js" with { type: "text" };
import STATUS_SELECT from "./status_select.js" with { type: "text" };
import STATUSES from "./statuses.js" with { type: "text" };
import TOAST from "./toast.js" with { type: "text" };
import TOOLBAR from "./toolbar.js" with { type: "text" };
import STYLE from "./window.css" with { type: "text" };
import HTML from "./window.html" with { type: "text" };

const MODULES: Record<string, string> = {
  "activity.js": ACTIVITY,
  "add_dialog.js": ADD_DIALOG,
  "address.js": ADDRESS,
  "animal_history.js": ANIMAL_HISTORY,
  "animal_list.js": ANIMAL_LIST,
  "animal_page.js": ANIMAL_PAGE,
  "animal_row.js": ANIMAL_ROW,
  "animals.js": ANIMALS,
  "api.js": API,
  "change_animal.js": CHANGE_ANIMAL,
  "count_words.js": COUNT_WORDS,
  "counts.js": COUNTS,
  "csv.js": CSV,
  "dialog.js": DIALOG,
  "edit_row.js": EDIT_ROW,
  "edits.js": EDITS,
  "elements.js": ELEMENTS,
  "empty_list.js": EMPTY_LIST,
  "event_runs.js": EVENT_RUNS,
  "event_sentences.js": EVENT_SENTENCES,
  "export_animals.js": EXPORT_ANIMALS,
  "feed.js": FEED,
  "field.js": FIELD,
  "fold_case.js": FOLD_CASE,
  "icons.js": ICONS,
  "import_dialog.js": IMPORT_DIALOG,
  "import_plan.js": IMPORT_PLAN,
  "import_preview.js": IMPORT_PREVIEW,
  "import_report.js": IMPORT_REPORT,
  "key_form.js": KEY_FORM,
  "kinds.js": KINDS,
  "main.js": MAIN,
  "names.js": NAMES,
  "navigation.js": NAVIGATION,
  "page.js": PAGE,
  "pet_fields.js": PET_FIELDS,
  "relative_time.js": RELATIVE_TIME,
  "row_focus.js": ROW_FOCUS,
  "rows.js": ROWS,
  "run_import.js": RUN_IMPORT,
  "session.js": SESSION,
  "state.js": STATE,
  "status_select.js": STATUS_SELECT,
  "statuses.js": STATUSES,
  "toast.js": TOAST,
  "toolbar.js": TOOLBAR,
};

/** The page and its files, each by its path. */
export function windowAssets(): ReadonlyMap<string, StaticAsset> {
  const policy = {
    ...pagePolicy({ styles: "'self'", requests: "'self'" }),
    // A page that opens this one, or that this one opens, gets no handle on it.
    "cross-origin-opener-policy": "same-origin",
  };
  const assets = new Map<string, StaticAsset>();
  assets.set("/window", staticAsset("text/html; charset=utf-8", () => HTML, policy));
  assets.set("/window/window.css", staticAsset("text/css; charset=utf-8", () => STYLE));
  assets.set("/window/htm_preact.js", scriptAsset(loadHtmPreact));
  assets.set("/window/window.js", scriptAsset(() => joinModules(MODULES)));
  return assets;
}

function scriptAsset(load: () => string | Promise<string>): StaticAsset {
  return staticAsset("text/javascript; charset=utf-8", load);
}

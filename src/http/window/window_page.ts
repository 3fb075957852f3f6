/** The window at /window: a page on which people see and change the animals. It uses only the interface. */

import { pagePolicy } from "../docs/page_policy.ts";
import { type StaticAsset, staticAsset } from "../docs/static_asset.ts";
import { loadHtmPreact } from "this-runtime/page_scripts.ts";
import ACTIVITY from "./activity.js" with { type: "text" };
import ADD_DIALOG from "./add_dialog.js" with { type: "text" };
import ANIMAL_LIST from "./animal_list.js" with { type: "text" };
import ANIMAL_ROW from "./animal_row.js" with { type: "text" };
import ANIMALS from "./animals.js" with { type: "text" };
import API from "./api.js" with { type: "text" };
import DETAIL_DIALOG from "./detail_dialog.js" with { type: "text" };
import DIALOG from "./dialog.js" with { type: "text" };
import ELEMENTS from "./elements.js" with { type: "text" };
import FEED from "./feed.js" with { type: "text" };
import KEY_FORM from "./key_form.js" with { type: "text" };
import MAIN from "./main.js" with { type: "text" };
import PAGE from "./page.js" with { type: "text" };
import SESSION from "./session.js" with { type: "text" };
import STATE from "./state.js" with { type: "text" };
import STATUS_OPTIONS from "./status_options.js" with { type: "text" };
import STATUSES from "./statuses.js" with { type: "text" };
import STYLE from "./window.css" with { type: "text" };
import HTML from "./window.html" with { type: "text" };

const MODULES: Record<string, string> = {
  "activity.js": ACTIVITY,
  "add_dialog.js": ADD_DIALOG,
  "animal_list.js": ANIMAL_LIST,
  "animal_row.js": ANIMAL_ROW,
  "animals.js": ANIMALS,
  "api.js": API,
  "detail_dialog.js": DETAIL_DIALOG,
  "dialog.js": DIALOG,
  "elements.js": ELEMENTS,
  "feed.js": FEED,
  "key_form.js": KEY_FORM,
  "main.js": MAIN,
  "page.js": PAGE,
  "session.js": SESSION,
  "state.js": STATE,
  "status_options.js": STATUS_OPTIONS,
  "statuses.js": STATUSES,
};

/** The page and its files, each by its path. */
export function windowAssets(): ReadonlyMap<string, StaticAsset> {
  const policy = pagePolicy({ styles: "'self'", requests: "'self'" });
  const assets = new Map<string, StaticAsset>();
  assets.set("/window", staticAsset("text/html; charset=utf-8", () => HTML, policy));
  assets.set("/window/window.css", staticAsset("text/css; charset=utf-8", () => STYLE));
  assets.set("/window/htm_preact.js", scriptAsset(loadHtmPreact));
  for (const [name, text] of Object.entries(MODULES)) {
    assets.set(`/window/${name}`, scriptAsset(() => text));
  }
  return assets;
}

function scriptAsset(load: () => string | Promise<string>): StaticAsset {
  return staticAsset("text/javascript; charset=utf-8", load);
}

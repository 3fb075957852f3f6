// The state of the page, in one place. Each change of it draws the page again.

/** The page forgets older events. */
export const EVENTS_KEPT = 1_000;

/**
 * A pet is as the interface returns it, but its `categoryId` is a text (see `api.js`). An event is as in the feed.
 */
export const state = {
  /** The API key of this tab; `undefined` if the page asks for one. */
  apiKey: undefined,
  /** The key as the interface describes it; `undefined` until that is read. */
  key: undefined,
  /** Why the page asks for a key again. */
  keyProblem: undefined,
  /** Position of the log when the page opened the store; `undefined` before that. */
  openedAt: undefined,
  /** The last position that the page knows. */
  position: undefined,
  /** Why the service does not respond; "" while it does, `undefined` before its first response. */
  connectionProblem: undefined,
  /** Why the last action failed. */
  problem: undefined,
  /** The success of the last action, in words. It is shown for some seconds. */
  toast: undefined,

  /** The filter of the list: "" stands for every status, every category or every name. */
  filter: { status: "", categoryId: "", name: "" },
  /** The text in the fields of the filter. The list follows when the reader pauses. */
  typed: { categoryId: "", name: "" },
  /** Why the list does not show what its category field says. */
  filterFault: undefined,
  /** Number of animals of each tab. */
  counts: {},
  /** The loaded animals by their id. */
  pets: new Map(),
  /** The ids of the rows of the list: descending. */
  order: [],
  /** The list is loaded down to this id. */
  end: Infinity,
  /** Path of the next page; `undefined` if there is none. */
  nextPage: undefined,
  isLoading: false,
  isExporting: false,
  /**
   * The part of the list on the screen: its first row, which is negative while the list begins below the top of the
   * screen, and the height of each row in pixels.
   */
  view: { firstRow: 0, rowHeight: 0 },

  /** The edits of rows by the ids of their animals: see `edits.js`. */
  edits: new Map(),
  /** The animals that are being changed, by their id, each with the fields that it gets. */
  busy: new Map(),

  /** The animal whose page is shown: see `animal_history.js`; `undefined` while the list is shown. */
  animal: undefined,

  /** The newest events, the last one first. */
  events: [],
  /** The number of events of each kind, by the hour since the Unix epoch. */
  hours: {},
  /** Whether the last day had more events than the page counts. */
  isDayCut: false,
  /** Whether a narrow page shows the activity. */
  isActivityOpen: false,

  /** What `showDialog()` shows; `undefined` if no dialog is open. */
  dialog: undefined,
};

let draw = () => {};

/** Sets the function that draws the page. */
export function drawWith(newDraw) {
  draw = newDraw;
}

export function setState(change) {
  Object.assign(state, change);
  draw();
}

/** Draws a state that was changed in place. */
export function redraw() {
  draw();
}

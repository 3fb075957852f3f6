// The state of the page, in one place. Each change of it draws the page again.

/**
 * A pet is as the interface returns it, but its `categoryId` is a text (see `api.js`). An event is as in the feed.
 */
export const state = {
  /** The API key of this tab. */
  apiKey: undefined,
  /** Position of the log when the page opened the store; `undefined` before that. */
  openedAt: undefined,
  /** The last position that the page knows. */
  position: undefined,
  mayWrite: undefined,
  /** What the footer says about the connection. */
  connection: undefined,
  /** What the footer says about the last action. */
  message: undefined,

  /** What the list shows: "" stands for every status, or every category. */
  filter: { status: "", categoryId: "" },
  /** Number of animals of each tab. */
  counts: {},
  /** The loaded animals by their id. */
  pets: new Map(),
  /** The ids of the loaded animals as the list shows them: descending. */
  order: [],
  /** The list is loaded down to this id. */
  end: Infinity,
  /** Path of the next page; `undefined` if there is none. */
  nextPage: undefined,
  isLoading: false,
  /** The part of the list on the screen: its first row, and the height of each row in pixels. */
  view: { firstRow: 0, rowHeight: 0 },

  /** The animals that are edited, by their id, each as it was when its edit began. */
  edits: new Map(),
  /** The animals that are being changed, by their id, each with the fields that it gets. */
  busy: new Map(),

  /** The newest events, the last one first. */
  events: [],
  /** The number of events of each kind, by the hour since the Unix epoch. */
  hours: {},

  /** What `showDialog()` shows; `undefined` if no dialog is open. */
  dialog: undefined,
  /** The animal of the dialog about one animal, with its `etag`. */
  detail: undefined,
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

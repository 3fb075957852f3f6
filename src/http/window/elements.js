// How the page writes its elements: templates of `htm`, drawn by `preact`, which `htm_preact.js` defines.

export const { html, render } = globalThis.htmPreact;

/** Handles the submission of a form: calls `action` with the fields, each a text by its name. */
export function onSubmit(action) {
  return (event) => {
    event.preventDefault();
    const fields = new FormData(event.target);
    action(Object.fromEntries(fields));
  };
}

/** Handles a click on a link that stays on the page. The browser handles a click that opens a new tab. */
export function onFollow(action) {
  return (event) => {
    const opensElsewhere = event.ctrlKey || event.metaKey || event.shiftKey;
    if (opensElsewhere) return;
    event.preventDefault();
    action();
  };
}

import { escape } from "@std/html/entities";
import { GUIDES } from "./guides.ts";

/** An operation, for the side bar. */
export interface OperationLink {
  method: string;
  summary: string;
  /** The part of the address after `docs#`. */
  anchor: string;
  isDeprecated: boolean;
}

export interface PageOptions {
  title: string;
  /** The relative path from the page to the root of the service: empty, or ends with a slash. */
  root: string;
  /** The name of the guide that is shown. */
  guide?: string;
  operations: readonly OperationLink[];
  /** HTML for the end of the head. */
  head?: string;
  /** HTML. */
  content: string;
}

/** A page with the side bar that all pages share. All its addresses are relative, in case a proxy adds a prefix. */
export function pageLayout({ title, root, guide, operations, head, content }: PageOptions): string {
  const operationItems = operations.map(({ method, summary, anchor, isDeprecated }) =>
    `<li><a href="${root}docs#${escape(anchor)}">${
      isDeprecated ? `<s>${escape(summary)}</s>` : escape(summary)
    }<span class="${method.toLowerCase()}">${method}</span></a></li>`
  );
  const guideItems = GUIDES.map(({ name, title, summary }) =>
    `<li><a href="${root}docs/${name}" title="${escape(summary)}"${
      name === guide ? ' aria-current="page"' : ""
    }>${title}</a></li>`
  );
  return `<!DOCTYPE html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>${escape(title)}</title>
    <link rel="icon" href="${root}docs/icon.svg" type="image/svg+xml">
    <link rel="stylesheet" href="${root}docs/docs_pages.css">
    <script src="${root}docs/color_mode.js"></script>${head ?? ""}
  </head>
  <body>
    <div id="page">
      <header>
        <a href="${root}docs">Animal Store API</a>
        <button popovertarget="side-bar">Menu</button>
      </header>
      <nav id="side-bar" popover aria-label="Reference">
        <a class="home" href="${root}docs">Animal Store API</a>
        <h2>Operations</h2>
        <ul>${operationItems.join("")}</ul>
        <h2>Guides</h2>
        <ul id="guides">${guideItems.join("")}</ul>
        <h2>For programs</h2>
        <ul><li><a href="${root}openapi.json">OpenAPI description</a></li></ul>
      </nav>
      <main>${content}</main>
    </div>
  </body>
</html>
`;
}

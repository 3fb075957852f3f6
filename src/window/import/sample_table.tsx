/** A table of some rows of a file, which scrolls by itself if it has more columns than room. */

import type { ComponentChildren, JSX } from "preact";

interface SampleTableProps {
  title: string;
  /** The choice of the rows in words, unless the table has all. */
  words?: string;
  children: ComponentChildren;
}

export function SampleTable({ title, words, children }: SampleTableProps): JSX.Element {
  return (
    <>
      <h3>{title}</h3>
      {words !== undefined && <p class="soft small">{words}</p>}
      <div class="import-sample" tabIndex={0} role="region" aria-label={title}>
        <table>{children}</table>
      </div>
    </>
  );
}

/** The heading of a page other than the list. It gets the focus when the page is opened, so that it is read out. */

import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { useHome } from "./focus.ts";

export function PageHeading({ children }: { children: ComponentChildren }): JSX.Element {
  const heading = useRef<HTMLHeadingElement>(null);
  useHome(heading);
  useEffect(() => heading.current!.focus(), []);
  return <h2 class="title" ref={heading} tabIndex={-1}>{children}</h2>;
}

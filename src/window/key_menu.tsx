/** The menu of the access key: its label, what it may do and when it ends, and the rest of the header. */

import type { JSX } from "preact";
import { useId, useRef } from "preact/hooks";
import { Icon } from "./icon.tsx";
import { keyInfo } from "./key_info.ts";
import { formatDate } from "./relative_time.tsx";
import { openHelp } from "./shortcuts.tsx";

export function KeyMenu({ onSignOut }: { onSignOut: () => void }): JSX.Element | null {
  const id = useId();
  const menu = useRef<HTMLDivElement>(null);
  if (keyInfo.value === undefined) return null;
  const { label, readOnly, expiresAt } = keyInfo.value;
  const act = (action: () => void) => () => {
    menu.current?.hidePopover();
    action();
  };
  return (
    <>
      {readOnly && (
        <span class="pill none" title="Your access key may not change animals">Read only</span>
      )}
      <button type="button" class="quiet key" title="Your access key" popovertarget={id}>
        <span class="unseen">Access key</span>
        <span class="label wide">
          <bdi>{label}</bdi>
          <Icon name="open" />
        </span>
        <span class="narrow">
          <Icon name="menu" />
        </span>
      </button>
      <div ref={menu} id={id} popover="auto" class="menu" role="group" aria-label="Your key">
        <p>
          <b>
            <bdi>{label}</bdi>
          </b>
        </p>
        <p class="soft small">
          {readOnly ? "Can see everything, and change nothing" : "Can see and change everything"}
        </p>
        <p class="soft small">
          {expiresAt === undefined
            ? "Never expires"
            : `Expires on ${formatDate(new Date(expiresAt))}`}
        </p>
        <button type="button" class="quiet keyboard" onClick={act(openHelp)}>
          Keyboard shortcuts
        </button>
        <a href="docs">For programs: the API reference</a>
        <button type="button" class="quiet narrow" onClick={act(onSignOut)}>Sign out</button>
      </div>
    </>
  );
}

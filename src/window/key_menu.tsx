/** The menu of the access key: its label, what it may do, when it ends, and what is rarely needed. */

import type { JSX } from "preact";
import { Icon } from "./parts/icon.tsx";
import { type KeyInfo, keyInfo } from "./data/key_info.ts";
import { Menu } from "./parts/menu.tsx";
import { formatDate } from "./parts/relative_time.tsx";
import { openHelp } from "./shortcuts.tsx";

export function KeyMenu({ onSignOut }: { onSignOut: () => void }): JSX.Element {
  const info = keyInfo.value;
  return (
    <>
      {info?.readOnly && (
        <span class="pill none" title="Your access key may not change animals">Read only</span>
      )}
      <Menu
        class="quiet key"
        title="Your access key"
        label="Your key"
        button={
          <>
            <span class="unseen">Access key</span>
            <span class="label wide">
              <bdi translate={false}>{info?.label ?? "Your key"}</bdi>
              <Icon name="open" />
            </span>
            <span class="narrow">
              <Icon name="menu" />
            </span>
          </>
        }
      >
        {info !== undefined && <About {...info} />}
        <button type="button" class="keyboard" onClick={openHelp}>Keyboard shortcuts</button>
        <a href="docs">For programs: the API reference</a>
        <button type="button" onClick={onSignOut}>Sign out</button>
      </Menu>
    </>
  );
}

function About({ label, readOnly, expiresAt }: KeyInfo): JSX.Element {
  return (
    <div class="about">
      <p>
        <b>
          <bdi translate={false}>{label}</bdi>
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
    </div>
  );
}

/** The form that asks for an API key. */

import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Dialog } from "./parts/dialog.tsx";
import { restoreFocus } from "./parts/focus.ts";
import { Form } from "./parts/form.tsx";
import { FormField } from "./parts/form_field.tsx";
import { TextInput } from "./parts/text_input.tsx";
import {
  addressProblem,
  canKeep,
  faultOfKey,
  isKept,
  keyProblem,
  signIn,
  UNUSED_HOURS,
} from "./data/session.ts";

const TITLE = "Sign in";

const UNTIL_UNUSED =
  `Otherwise you stay signed in, in all tabs of this browser, until nobody has used the page for ${UNUSED_HOURS} hours or you sign out.`;
const UNTIL_SIGNED_OUT = "You stay signed in, in all tabs of this browser, until you sign out.";
const NOT_KEPT =
  "This browser keeps nothing for this page, so each new tab, and each time that you load the page again, asks for the key.";

/** The page that a reader without a key sees. */
export function SignInPage(): JSX.Element {
  const { fields, open } = useKeyForm();
  useEffect(() => restoreFocus, []);
  return (
    <main class="card">
      <Form onSend={open}>
        <h2 class="title">{TITLE}</h2>
        {fields}
        <p class="buttons">
          <button type="submit" class="primary">Sign in</button>
        </p>
      </Form>
    </main>
  );
}

/** Asks for another key above the page, which stays as it is: so nothing that was typed is lost. */
export function SignInDialog(): JSX.Element {
  const { fields, open } = useKeyForm();
  return <Dialog title={TITLE} yes="Sign in" onYes={open}>{fields}</Dialog>;
}

/** How long the browser keeps the key, in words. */
function untilWhen(stays: boolean): string {
  if (!canKeep) return NOT_KEPT;
  return stays ? UNTIL_SIGNED_OUT : UNTIL_UNUSED;
}

function useKeyForm(): { fields: JSX.Element; open: () => void } {
  const [key, setKey] = useState("");
  const [stays, setStays] = useState(isKept);
  const [fault, setFault] = useState(keyProblem.value ?? addressProblem.value);
  const input = useRef<HTMLInputElement>(null);
  const open = async () => {
    const found = key.trim() === "" ? "The access key is missing" : await faultOfKey(key);
    setFault(found);
    if (found === undefined) signIn(key, { stays });
    else input.current?.select();
  };
  const fields = (
    <>
      {/* A password manager wants a name to which a password belongs. */}
      <input
        class="unseen"
        type="text"
        name="username"
        autocomplete="username"
        aria-hidden
        tabIndex={-1}
        readOnly
        value="Animal Store"
      />
      <FormField label="Access key" fault={fault}>
        {(attributes) => (
          <TextInput
            {...attributes}
            control={input}
            type="password"
            name="password"
            autocomplete="current-password"
            autofocus
            text={key}
            onText={(text) => {
              setKey(text);
              setFault(undefined);
            }}
          />
        )}
      </FormField>
      <p class="soft small">Ask the person who runs the store for a key.</p>
      {canKeep && (
        <label class="choice">
          <input
            type="checkbox"
            checked={stays}
            onChange={({ currentTarget }) => setStays(currentTarget.checked)}
          />
          <span>Stay signed in on this computer</span>
        </label>
      )}
      <p class="soft small">{untilWhen(stays)}</p>
    </>
  );
  return { fields, open };
}

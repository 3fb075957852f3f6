/** The form that asks for an API key, and the question about a key in the address. */

import type { JSX } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Dialog } from "./dialog.tsx";
import { FormField } from "./form_field.tsx";
import {
  addressProblem,
  apiKey,
  isKept,
  keyFromAddress,
  keyProblem,
  signIn,
  useKey,
} from "./session.ts";

/** The page that a reader without a key sees. */
export function SignInPage(): JSX.Element {
  return (
    <main class="card">
      <KeyForm fault={keyProblem.value ?? addressProblem.value} />
    </main>
  );
}

/** Asks for another key above the page, which stays as it is: so nothing that was typed is lost. */
export function SignInDialog(): JSX.Element {
  const element = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useLayoutEffect(() => {
    const dialog = element.current!;
    dialog.showModal();
    return () => dialog.close();
  }, []);
  return (
    <dialog
      ref={element}
      aria-labelledby={titleId}
      onKeyDown={(event) => event.key === "Escape" && event.preventDefault()}
      onCancel={(event) => event.preventDefault()}
    >
      <KeyForm titleId={titleId} fault={keyProblem.value} />
    </dialog>
  );
}

function KeyForm({ fault, titleId }: { fault: string | undefined; titleId?: string }): JSX.Element {
  const [key, setKey] = useState("");
  const [ownFault, setOwnFault] = useState<string | undefined>(undefined);
  const [isTyped, setIsTyped] = useState(false);
  const [stays, setStays] = useState(isKept);
  const open = () => {
    if (key.trim() === "") setOwnFault("The access key is missing");
    else signIn(key, { stays });
    setIsTyped(false);
  };
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        open();
      }}
    >
      <h2 class="title" id={titleId}>Open the store</h2>
      <p class="soft">See the animals, sell one, and watch what happens.</p>
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
      <FormField label="Access key" fault={isTyped ? undefined : ownFault ?? fault}>
        {(attributes) => (
          <input
            {...attributes}
            type="password"
            name="password"
            autocomplete="current-password"
            autofocus
            value={key}
            onInput={({ currentTarget }) => {
              setKey(currentTarget.value);
              setIsTyped(true);
            }}
          />
        )}
      </FormField>
      <p class="soft small">Ask the person who runs the store for a key.</p>
      <label class="choice">
        <input
          type="checkbox"
          checked={stays}
          onChange={({ currentTarget }) => setStays(currentTarget.checked)}
        />
        <span>Stay signed in on this computer</span>
      </label>
      <p class="buttons">
        <button type="submit" class="primary">Open</button>
      </p>
    </form>
  );
}

/** Until the reader has answered, the page uses neither key: that of the tab may be an old one, which is refused. */
export function KeyQuestion(): JSX.Element {
  return (
    <Dialog
      title="Use the key in the address?"
      no="Keep the key of this tab"
      yes="Use the other key"
      isDangerous
      onYes={() => useKey(keyFromAddress.value!)}
      onClose={() => useKey(apiKey.value!)}
    >
      <p>
        This tab already has another access key. If you use the one in the address, the tab forgets
        its own.
      </p>
    </Dialog>
  );
}

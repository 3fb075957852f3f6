/** The form that asks for an API key, and the question about a key in the address. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Dialog } from "./dialog.tsx";
import { FormField } from "./form_field.tsx";
import { addressProblem, apiKey, keyFromAddress, keyProblem, useKey } from "./session.ts";

const TITLE = "Open the store";

/** The page that a reader without a key sees. */
export function SignInPage(): JSX.Element {
  const { fields, open } = useKeyForm();
  return (
    <main class="card">
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          open();
        }}
      >
        <h2 class="title">{TITLE}</h2>
        {fields}
        <p class="buttons">
          <button type="submit" class="primary">Open</button>
        </p>
      </form>
    </main>
  );
}

/** Asks for another key above the page, which stays as it is: so nothing that was typed is lost. */
export function SignInDialog(): JSX.Element {
  const { fields, open } = useKeyForm();
  return <Dialog title={TITLE} yes="Open" onYes={open}>{fields}</Dialog>;
}

function useKeyForm(): { fields: JSX.Element; open: () => void } {
  const [key, setKey] = useState("");
  const [fault, setFault] = useState(keyProblem.value ?? addressProblem.value);
  const open = () => {
    if (key.trim() === "") setFault("The API key is missing");
    else useKey(key);
  };
  const fields = (
    <>
      <p class="soft">See the animals, sell one, and watch what happens.</p>
      <FormField label="API key" fault={fault}>
        {(attributes) => (
          <input
            {...attributes}
            type="password"
            autocomplete="off"
            autofocus
            value={key}
            onInput={({ currentTarget }) => {
              setKey(currentTarget.value);
              setFault(undefined);
            }}
          />
        )}
      </FormField>
      <p class="soft small">
        The key stays in the tabs of this store, and is forgotten when you close them.
      </p>
    </>
  );
  return { fields, open };
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
        This tab already has another API key. If you use the one in the address, the tab forgets its
        own.
      </p>
    </Dialog>
  );
}

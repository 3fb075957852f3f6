/** The form that asks for an API key, and the question about a key in the address. */

import type { JSX } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Dialog } from "./dialog.tsx";
import { FormField } from "./form_field.tsx";
import { addressProblem, apiKey, keyFromAddress, keyProblem, useKey } from "./session.ts";

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
  const open = () => {
    if (key.trim() === "") setOwnFault("The API key is missing");
    else useKey(key);
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
      <FormField label="API key" fault={isTyped ? undefined : ownFault ?? fault}>
        {(attributes) => (
          <input
            {...attributes}
            type="password"
            autocomplete="off"
            autofocus
            value={key}
            onInput={({ currentTarget }) => {
              setKey(currentTarget.value);
              setIsTyped(true);
            }}
          />
        )}
      </FormField>
      <p class="soft small">
        The key stays in the tabs of this store, and is forgotten when you close them.
      </p>
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
        This tab already has another API key. If you use the one in the address, the tab forgets its
        own.
      </p>
    </Dialog>
  );
}

/** The form that names a category, or renames one. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { addCategory, addUnusedCategory, renameCategory } from "./categories.ts";
import { namedCategories, type NamedCategory, nameOfCategory } from "./category_names.ts";
import { Dialog, mayDiscard, openDialog } from "./dialog.tsx";
import { FIELDS } from "./fields.tsx";
import { FormField } from "./form_field.tsx";
import { attempt, showToast } from "./messages.tsx";
import { isBlank, Name } from "./name.tsx";
import { useUnsaved } from "./unsaved.ts";

/** The limit of the interface, in Unicode code points. */
const NAME_MAX_LENGTH = 100;

interface CategoryDialogOptions {
  /** The category that gets another name; `undefined` to name one that has none. */
  renamed?: NamedCategory;
  /** The name that the reader has typed already. */
  name?: string;
  onAdded?: (id: bigint) => void;
}

export function openCategoryDialog(options: CategoryDialogOptions = {}): void {
  openDialog((close) => <CategoryDialog {...options} close={close} />);
}

interface CategoryDialogProps extends CategoryDialogOptions {
  close: () => void;
}

function CategoryDialog(props: CategoryDialogProps): JSX.Element {
  const { renamed, name: given = "", onAdded, close } = props;
  const [before] = useState({
    id: renamed === undefined ? firstFreeId() : String(renamed.id),
    name: renamed?.name ?? given,
  });
  const [{ id, name }, setTexts] = useState(before);
  const [fault, setFault] = useState<string | undefined>(undefined);
  const [isTried, setIsTried] = useState(false);
  const [isSaving, setIsSaving] = useState(false);
  const isTyped = id !== before.id || name !== before.name;
  const faultOfName = isTried ? faultOf(name) : undefined;
  const faultOfId = isTried && renamed === undefined ? faultOfNewId(id) : undefined;
  useUnsaved(isTyped || isSaving);

  const change = (texts: { id?: string; name?: string }) => {
    setTexts({ id, name, ...texts });
    setFault(undefined);
  };
  const save = async () => {
    setIsTried(true);
    const isIdSound = renamed !== undefined || faultOfNewId(id) === undefined;
    if (faultOf(name) !== undefined || !isIdSound) return;
    setIsSaving(true);
    const isSaved = await attempt(async () => {
      const trimmed = name.trim();
      const saved = await saveName({ id: BigInt(id.trim()), name: trimmed });
      showToast(
        <>
          Category {String(saved)} is <Name of={trimmed} /> now
        </>,
      );
      if (renamed === undefined) onAdded?.(saved);
    }, (error) => setFault((error as Error).message));
    setIsSaving(false);
    if (isSaved) close();
  };
  /** Resolves to the id of the category. An id that the reader has typed may have animals. */
  const saveName = async (category: NamedCategory): Promise<bigint> => {
    if (renamed !== undefined) await renameCategory(renamed, category.name);
    else if (id === before.id) return await addUnusedCategory(category);
    else await addCategory(category);
    return category.id;
  };
  const cancel = async () => {
    const isSure = await mayDiscard(isTyped, "Discard this name?");
    if (isSure) close();
  };
  return (
    <Dialog
      title={renamed === undefined ? "Add a category" : <Renaming name={renamed.name} />}
      no="Cancel"
      yes="Save"
      busy={isSaving ? "Saving …" : undefined}
      fault={fault}
      onYes={save}
      onClose={cancel}
    >
      <FormField label="Name" fault={faultOfName} isLocked={isSaving}>
        {(attributes) => (
          <input
            {...attributes}
            autofocus
            autocomplete="off"
            value={name}
            onInput={({ currentTarget }) => change({ name: currentTarget.value })}
          />
        )}
      </FormField>
      {renamed === undefined && (
        <>
          <FormField label="Id" fault={faultOfId} isLocked={isSaving}>
            {(attributes) => (
              <input
                {...attributes}
                inputMode="numeric"
                autocomplete="off"
                value={id}
                onInput={({ currentTarget }) => change({ id: currentTarget.value })}
              />
            )}
          </FormField>
          <p class="soft small">Change it only to name a number that animals have already.</p>
        </>
      )}
    </Dialog>
  );
}

function Renaming({ name }: { name: string }): JSX.Element {
  return (
    <>
      Rename <Name of={name} />
    </>
  );
}

function faultOf(name: string): string | undefined {
  if (name.trim() === "") return "Name is missing";
  if (isBlank(name)) return "Name has no visible character";
  const isTooLong = [...name.trim()].length > NAME_MAX_LENGTH;
  return isTooLong ? `Name has more than ${NAME_MAX_LENGTH} characters` : undefined;
}

function faultOfNewId(text: string): string | undefined {
  if (text.trim() === "") return "Id is missing";
  if (!/^(0|-?[1-9]\d*)$/.test(text.trim())) return "Id must be a whole number";
  const category = FIELDS.find(({ name }) => name === "categoryId")!;
  const parsed = category.parse(text);
  if (!parsed.isSound) return parsed.fault.replace("Category", "Id");
  const name = nameOfCategory(parsed.value as bigint);
  return name === undefined ? undefined : `Category ${text.trim()} has the name ${name} already`;
}

/** The smallest number above those of all categories with names. */
export function firstFreeId(): string {
  const ids = namedCategories.value.map(({ id }) => id);
  const largest = ids.reduce((most, id) => id > most ? id : most, 0n);
  return String(largest + 1n);
}

/** The form that adds a category, or gives one a name. A new category gets an id by itself. */

import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import { addUnusedCategory, nameCategory, renameCategory } from "../data/write_category.ts";
import { categoriesWithName, type Category } from "../data/categories.ts";
import { Dialog, mayDiscard, openDialog, useIsOpen } from "../parts/dialog.tsx";
import { FormField } from "../parts/form_field.tsx";
import { attempt, showProblem, showStillSaving, showToast } from "../parts/messages.tsx";
import { isBlank } from "../parts/blank.ts";
import { Name } from "../parts/name.tsx";
import { useUnsaved } from "../data/unsaved.ts";

/** The limit of the interface, in Unicode code points. */
const NAME_MAX_LENGTH = 100;

interface CategoryDialogOptions {
  /** The category that gets a name, or another one; `undefined` to add one. */
  category?: Category;
  /** The name that the reader has typed already. */
  typed?: string;
  /** Called with the id of a category that was added. */
  onAdded?: (id: bigint) => void;
}

export function openCategoryDialog(options: CategoryDialogOptions = {}): void {
  openDialog((close) => <CategoryDialog {...options} close={close} />);
}

interface CategoryDialogProps extends CategoryDialogOptions {
  close: () => void;
}

function CategoryDialog(props: CategoryDialogProps): JSX.Element {
  const { category, typed = "", onAdded, close } = props;
  const before = category?.name ?? typed;
  const [name, setName] = useState(before);
  const [problem, setProblem] = useState<string | undefined>(undefined);
  const [isTried, setIsTried] = useState(false);
  const [isSaving, setIsSaving] = useState(false);
  const isOpen = useIsOpen();
  const isTyped = name !== before;
  const fault = faultOf(name, category);
  useUnsaved(isTyped || isSaving);

  const save = async () => {
    setIsTried(true);
    if (fault !== undefined) return;
    setIsSaving(true);
    const isSaved = await attempt(async () => {
      showToast(await saveName(name.trim()));
    }, (error) => {
      if (isOpen.current) setProblem((error as Error).message);
      else showProblem(error);
    });
    setIsSaving(false);
    if (isSaved) close();
  };
  /** Resolves to what was done, in words. */
  const saveName = async (saved: string): Promise<ComponentChildren> => {
    if (category === undefined) {
      const id = await addUnusedCategory(saved);
      // Somebody may have changed the form below since the dialog was left. Its field has this name as its text.
      if (isOpen.current) onAdded?.(id);
      return (
        <>
          <Name of={saved} /> was added
        </>
      );
    }
    const { id, name: old } = category;
    if (old === undefined) await nameCategory({ id, name: saved });
    else await renameCategory({ id, name: old }, saved);
    return (
      <>
        {old === undefined ? `Category ${id}` : <Name of={old} />} is <Name of={saved} /> now
      </>
    );
  };
  const leave = () => {
    close();
    showStillSaving(name);
  };
  const cancel = async () => {
    const isSure = await mayDiscard(isTyped, "Discard this name?");
    if (isSure) close();
  };
  return (
    <Dialog
      title={<Title category={category} />}
      no="Cancel"
      yes={category === undefined ? "Add" : "Save"}
      busy={isSaving ? "Saving …" : undefined}
      onLeave={leave}
      fault={problem}
      onYes={save}
      onClose={cancel}
    >
      <FormField label="Name" fault={isTried ? fault : undefined} isLocked={isSaving}>
        {(attributes) => (
          <input
            {...attributes}
            autofocus
            autocomplete="off"
            value={name}
            onInput={({ currentTarget }) => {
              setName(currentTarget.value);
              setProblem(undefined);
            }}
          />
        )}
      </FormField>
    </Dialog>
  );
}

function Title({ category }: { category: Category | undefined }): JSX.Element {
  if (category === undefined) return <>Add a category</>;
  if (category.name === undefined) return <>Name category {String(category.id)}</>;
  return (
    <>
      Rename <Name of={category.name} />
    </>
  );
}

function faultOf(name: string, category: Category | undefined): string | undefined {
  if (name.trim() === "") return "Name is missing";
  if (isBlank(name)) return "Name has no visible character";
  const isTooLong = [...name.trim()].length > NAME_MAX_LENGTH;
  if (isTooLong) return `Name has more than ${NAME_MAX_LENGTH} characters`;
  const isTaken = categoriesWithName(name).some((id) => id !== category?.id);
  return isTaken ? "Another category has this name" : undefined;
}

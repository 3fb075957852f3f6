/** The form that adds a category, or gives one a name. A new category gets an id by itself. */

import { useSignal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import { addUnusedCategory, nameCategory, renameCategory } from "../data/write_category.ts";
import { categoriesWithName, type Category, faultOfCategoryName } from "../data/categories.ts";
import { countOfCategory } from "../data/category_counts.ts";
import { DistinctCategory } from "./category_name.tsx";
import { Dialog, mayDiscard, openDialog } from "../parts/dialog.tsx";
import { FormField } from "../parts/form_field.tsx";
import { attempt, showToast } from "../parts/messages.tsx";
import { Name } from "../parts/name.tsx";
import { TextInput } from "../parts/text_input.tsx";
import { useUnsaved } from "../data/unsaved.ts";

/** A category that gets a name. */
interface Renaming {
  category: Category;
  /** Lets the reader move all animals of the category to `target`, which has the name already. */
  onMove: (category: Category, target: bigint) => void;
}

/** Opens the form for a name of a category, or for a new category. */
export function openCategoryDialog(renaming?: Renaming): void {
  openDialog((close) => <CategoryDialog renaming={renaming} close={close} />);
}

interface CategoryDialogProps {
  renaming: Renaming | undefined;
  close: () => void;
}

function CategoryDialog({ renaming, close }: CategoryDialogProps): JSX.Element {
  const category = renaming?.category;
  const before = category?.name ?? "";
  const [name, setName] = useState(before);
  const [problem, setProblem] = useState<string | undefined>(undefined);
  const [isTried, setIsTried] = useState(false);
  const [isSaving, setIsSaving] = useState(false);
  const isLeft = useSignal(false);
  const isTyped = name !== before;
  const fault = faultOfCategoryName(name, category);
  useUnsaved(isTyped || isSaving);
  const target = categoriesWithName(name).find((id) => id !== category?.id);
  const mayMove = category !== undefined && countOfCategory(category.id) !== 0;
  const moveInstead = renaming !== undefined && target !== undefined && mayMove
    ? {
      label: (
        <>
          Move its animals to <DistinctCategory id={target} />
        </>
      ),
      onPress: () => {
        close();
        renaming.onMove(renaming.category, target);
      },
    }
    : undefined;

  const save = async () => {
    setIsTried(true);
    if (fault !== undefined) return;
    setIsSaving(true);
    const isSaved = await attempt(`category ${category?.id}`, async () => {
      showToast(await saveName(name.trim()));
    }, (error) => setProblem((error as Error).message));
    setIsSaving(false);
    if (isSaved) close();
  };
  /** Resolves to what was done, in words. */
  const saveName = async (saved: string): Promise<ComponentChildren> => {
    if (category === undefined) {
      await addUnusedCategory(saved);
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
      background={{ subject: <Name of={name} />, isLeft }}
      fault={problem}
      onYes={save}
      onClose={cancel}
    >
      <FormField
        label="Name"
        fault={isTried ? fault : undefined}
        remedy={moveInstead}
        isLocked={isSaving}
      >
        {(attributes) => (
          <TextInput
            {...attributes}
            autofocus
            text={name}
            onText={(text) => {
              setName(text);
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

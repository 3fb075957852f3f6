/** The form that moves several animals to another category, also all animals of one. It is the question before that. */

import { useSignal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import type { Pet } from "../../../events/pet.ts";
import { DistinctCategory } from "../categories/category_name.tsx";
import { AnimalFields, focusFault } from "./animal_fields.tsx";
import { moveAnimals } from "./change_animals.tsx";
import { type Category, faultOfCategoryName, isNewCategoryName } from "../data/categories.ts";
import { countOfCategory } from "../data/category_counts.ts";
import { EDITABLE_FIELDS, type Faults, parseChange } from "../data/fields.ts";
import { readCategory } from "../data/read_category.ts";
import { useUnsaved } from "../data/unsaved.ts";
import { addUnusedCategory } from "../data/write_category.ts";
import { animals } from "../parts/count_words.ts";
import { Dialog, openDialog } from "../parts/dialog.tsx";
import { Name } from "../parts/name.tsx";

const CATEGORY = EDITABLE_FIELDS.filter(({ name }) => name === "categoryId");

/** The animals to move. */
interface Source {
  /** The number, if anybody knows it. */
  count: () => number | undefined;
  /** The category of all of them. */
  category?: Category;
  /** Resolves to the animals. `onRead` is called with the number of those that have come. */
  read: (onRead: (count: number) => void) => Promise<readonly Pet[]>;
}

/** Opens the form for these animals. */
export function openMoveDialog(pets: readonly Pet[]): void {
  open({ count: () => pets.length, read: () => Promise.resolve(pets) });
}

/** Opens the form for all animals of a category. With `target`, that is chosen already. */
export function openMergeDialog(category: Category, target?: bigint): void {
  const { id } = category;
  const source: Source = {
    count: () => countOfCategory(id),
    category,
    read: (onRead) => readCategory(id, onRead),
  };
  open(source, target);
}

function open(source: Source, target?: bigint): void {
  const first = target === undefined ? "" : String(target);
  openDialog((close) => <MoveDialog source={source} first={first} close={close} />);
}

interface MoveDialogProps {
  source: Source;
  /** The text of the category before anybody types. */
  first: string;
  close: () => void;
}

/** The category that the text means: one that is there, or the name of a new one. */
type Destination = { id: bigint } | { newName: string } | { fault: string };

function MoveDialog({ source, first, close }: MoveDialogProps): JSX.Element {
  const [text, setText] = useState(first);
  /** The name of a category that the reader adds, as long as it is the text of the field. */
  const [newName, setNewName] = useState<string | undefined>(undefined);
  const [faults, setFaults] = useState<Faults>({});
  const [problem, setProblem] = useState<string | undefined>(undefined);
  const [busy, setBusy] = useState<string | undefined>(undefined);
  const isLeft = useSignal(false);
  const form = useRef<HTMLDivElement>(null);
  useUnsaved(busy !== undefined);
  const isNewCategory = text === newName && isNewCategoryName(text);
  const target = isNewCategory ? newDestination(text) : destinationOf(text, source.category);

  const move = async () => {
    if ("fault" in target) {
      setFaults({ categoryId: target.fault });
      focusFault(form.current);
      return;
    }
    setProblem(undefined);
    setBusy("Reading …");
    try {
      const pets = await source.read((count) => setBusy(`Reading ${animals(count)} …`));
      const id = "id" in target ? target.id : await addUnusedCategory(target.newName);
      close();
      await moveAnimals(pets, id);
    } catch (error) {
      setProblem((error as Error).message);
      setBusy(undefined);
    }
  };
  const title = <>Move {wordsOf(source)} to another category</>;
  return (
    <Dialog
      title={title}
      no="Cancel"
      yes="Move"
      busy={busy}
      background={{ subject: title, isLeft }}
      fault={problem}
      onYes={move}
      onClose={close}
    >
      <div ref={form}>
        <AnimalFields
          fields={CATEGORY}
          texts={{ categoryId: text }}
          faults={faults}
          isNewCategory={isNewCategory}
          newCategoryHint="A new category, which is added first"
          isSending={busy !== undefined}
          onChange={(texts, found) => {
            setText(texts.categoryId ?? "");
            setFaults(found);
            setProblem(undefined);
          }}
          onNewCategory={setNewName}
          onFault={setFaults}
        />
      </div>
      <p role="status">
        <MoveQuestion source={source} target={target} />
      </p>
    </Dialog>
  );
}

interface MoveQuestionProps {
  source: Source;
  target: Destination;
}

/** What the button will do, as soon as a category is chosen. */
function MoveQuestion({ source, target }: MoveQuestionProps): JSX.Element | null {
  if ("fault" in target) return null;
  const { category } = source;
  const to = "id" in target ? <DistinctCategory id={target.id} /> : <Name of={target.newName} />;
  return (
    <>
      Move {wordsOf(source)} to <b>{to}</b>? You can stop it, and undo it for a few seconds.
      {category !== undefined && (
        <>
          {" "}
          <DistinctCategory id={category.id} /> stays, without animals
          {category.name !== undefined && ", until you remove it"}.
        </>
      )}
    </>
  );
}

function wordsOf({ count, category }: Source): ComponentChildren {
  const known = count();
  if (category === undefined) return animals(known!);
  return (
    <>
      {known === undefined ? "the animals" : `the ${animals(known)}`} of{" "}
      <DistinctCategory id={category.id} />
    </>
  );
}

function destinationOf(text: string, source: Category | undefined): Destination {
  const parsed = parseChange({}, { categoryId: text });
  if (!parsed.isSound) return { fault: parsed.faults.categoryId! };
  const { categoryId } = parsed.patch;
  if (categoryId === undefined || categoryId === null) return { fault: "Category is missing" };
  return categoryId === source?.id
    ? { fault: "The animals have this category already" }
    : { id: categoryId };
}

function newDestination(newName: string): Destination {
  const fault = faultOfCategoryName(newName);
  return fault === undefined ? { newName } : { fault };
}

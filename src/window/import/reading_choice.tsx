/** The choices of how a file is read: its columns, its encoding or its sheet. */

import type { JSX } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { ENCODINGS } from "../csv/decode_text.ts";
import { FormField } from "../parts/form_field.tsx";
import { type Choice, Select } from "../parts/select.tsx";
import { mayHaveChoices, missingColumns, type Target, TARGETS } from "./columns.ts";
import { type Draft, withColumn, withEncoding } from "./draft.ts";
import { FirstRows, firstRowsOf } from "./first_rows.tsx";
import type { Plan } from "./plan.ts";
import { hasSpecialLetters } from "./preview_sample.ts";
import type { CsvOrigin, Table, WorkbookOrigin } from "./table.ts";

export interface ReadingChoiceProps {
  draft: Draft;
  /** `undefined` while a column is missing, or the animals are being read. */
  plan: Plan | undefined;
  /** Takes another draft, which `make` returns, or shows the error that it throws. */
  onChange: (make: () => Draft) => void;
  /** Reads another sheet of the workbook. */
  onSheet: (sheet: number) => void;
}

/** The choices of how the file is read. They are folded if the file left none of them open. */
export function ReadingChoice(props: ReadingChoiceProps): JSX.Element {
  const { draft, plan, onChange, onSheet } = props;
  const { table: { origin, titles }, columns } = draft;
  const hasOpenColumn = missingColumns(columns).length > 0 || mayHaveChoices(titles, columns);
  const [isOpen] = useState(isOpenQuestion(origin) || hasOpenColumn);
  const isCsv = origin.kind === "csv";
  return (
    <details open={isOpen}>
      <summary>{isCsv ? "Columns and encoding" : "Columns and sheet"}</summary>
      <ColumnChoice draft={draft} onChange={onChange} />
      {isCsv
        ? (
          <EncodingChoice
            origin={origin}
            hasLettersBelow={plan !== undefined || hasLetters(draft)}
            onEncoding={(encoding) => onChange(() => withEncoding(draft, encoding))}
          />
        )
        : <SheetChoice origin={origin} onSheet={onSheet} />}
      <FirstRows draft={draft} />
    </details>
  );
}

/** Whether people should look at the encoding or the sheet. */
function isOpenQuestion(origin: Table["origin"]): boolean {
  return origin.kind === "csv" ? origin.isAssumed : origin.sheetNames.length > 1;
}

/** Whether the first lines show letters by which people know the encoding. */
function hasLetters({ table }: Draft): boolean {
  const texts = [...table.titles, ...firstRowsOf(table).map(({ text }) => text)];
  return hasSpecialLetters(texts.join());
}

interface EncodingChoiceProps {
  origin: CsvOrigin;
  /** Whether people see letters of the file below. */
  hasLettersBelow: boolean;
  onEncoding: (encoding: string) => void;
}

function EncodingChoice(props: EncodingChoiceProps): JSX.Element {
  const { origin: { encoding, isAssumed }, hasLettersBelow, onEncoding } = props;
  return (
    <>
      <FormField label="Encoding" fault={undefined}>
        {(attributes) => (
          <Select
            {...attributes}
            choices={Object.entries(ENCODINGS).map(([text, label]) => ({ text, label }))}
            text={encoding}
            onText={onEncoding}
          />
        )}
      </FormField>
      <p role="status">
        {isAssumed && hasLettersBelow && "If letters below look wrong, choose another encoding."}
      </p>
    </>
  );
}

interface SheetChoiceProps {
  origin: WorkbookOrigin;
  onSheet: (sheet: number) => void;
}

function SheetChoice({ origin, onSheet }: SheetChoiceProps): JSX.Element {
  const { sheetNames, sheet } = origin;
  return (
    <FormField label="Sheet" fault={undefined}>
      {(attributes) => (
        <Select
          {...attributes}
          choices={sheetNames.map((label, index) => ({ text: String(index), label }))}
          text={String(sheet)}
          onText={(text) => onSheet(Number(text))}
        />
      )}
    </FormField>
  );
}

const NO_COLUMN: Choice = { text: "", label: "(none)" };

function ColumnChoice(
  { draft, onChange }: Pick<ReadingChoiceProps, "draft" | "onChange">,
): JSX.Element {
  const { table: { titles }, columns } = draft;
  const group = useRef<HTMLFieldSetElement>(null);
  useLayoutEffect(() => {
    const missing = TARGETS.findIndex(({ label }) => missingColumns(columns).includes(label));
    group.current?.querySelectorAll("select").item(missing)?.focus();
    // Another file is another element.
  }, []);
  const choices = [
    NO_COLUMN,
    ...titles.map((title, index) => ({
      text: String(index),
      label: title || `Column ${index + 1}`,
    })),
  ];
  const choose = (target: Target, text: string) => {
    const index = text === NO_COLUMN.text ? undefined : Number(text);
    onChange(() => withColumn(draft, target, index));
  };
  return (
    <fieldset ref={group}>
      <legend class="unseen">Columns</legend>
      <div class="import-columns">
        {TARGETS.map(({ target, label }) => (
          <FormField key={target} label={label} fault={undefined}>
            {(attributes) => (
              <Select
                {...attributes}
                choices={choices}
                text={String(columns[target] ?? NO_COLUMN.text)}
                onText={(text) => choose(target, text)}
              />
            )}
          </FormField>
        ))}
      </div>
    </fieldset>
  );
}

/** The preview of an import, and the choices of how the file is read. */

import { Fragment, type JSX } from "preact";
import { useId, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { animals, lines, linesAre } from "../parts/count_words.ts";
import { ENCODINGS } from "../csv/decode_text.ts";
import { EDITABLE_FIELDS } from "../data/fields.ts";
import { viewOf } from "../animal/field_views.tsx";
import { FormField } from "../parts/form_field.tsx";
import { Name } from "../parts/name.tsx";
import { type Choice, Select } from "../parts/select.tsx";
import { doubledField, missingColumns, type Target, TARGETS } from "./columns.ts";
import { type Draft, withColumn, withEncoding, withMeaning } from "./draft.ts";
import { FirstRows } from "./first_rows.tsx";
import { LeftOutLines } from "./left_out_lines.tsx";
import { unknownWords } from "./meanings.ts";
import { MeaningsChoice } from "./meanings_choice.tsx";
import type { Addition, Change, Plan } from "./plan.ts";
import { hasSpecialLetters, previewSample, sampleWords } from "./preview_sample.ts";
import { countLines, linesOf } from "./row_lines.ts";
import { SampleTable } from "./sample_table.tsx";

interface PreviewProps {
  draft: Draft;
  /** `undefined` while a column is missing, or the animals are being read. */
  plan: Plan | undefined;
  /** Takes another draft, which `make` returns, or shows the error that it throws. */
  onChange: (make: () => Draft) => void;
  onAddCategories: (names: readonly string[]) => void;
}

export function ImportPreview(props: PreviewProps): JSX.Element {
  const { draft, plan, onChange, onAddCategories } = props;
  return (
    <>
      <Reading draft={draft} plan={plan} onChange={onChange} />
      {draft.columns.id !== undefined && <ModeChoice draft={draft} onChange={onChange} />}
      <Meanings draft={draft} onChange={onChange} />
      {plan !== undefined && (
        <Effects
          draft={draft}
          plan={plan}
          onAddCategories={onAddCategories}
        />
      )}
    </>
  );
}

type ChoiceProps = Pick<PreviewProps, "draft" | "onChange">;

/** The effect of the import in words, or the reason why it cannot begin yet. */
export function ImportSummary({ draft, plan }: Pick<PreviewProps, "draft" | "plan">): JSX.Element {
  const [first, ...others] = plan === undefined ? [whyNot(draft)] : partsOf(plan);
  return (
    <p class="import-summary" role="status">
      <b>{first}</b>
      {others.map((part) => `, ${part}`)}
    </p>
  );
}

function whyNot({ isOfChanges, columns }: Draft): string {
  if (isOfChanges) return "Reading the animals …";
  return `Choose the column of ${missingColumns(columns).join(" and ")}`;
}

function partsOf({ entries, leftOut, unchanged }: Plan): string[] {
  const changed = entries.filter(({ kind }) => kind === "change").length;
  const added = entries.length - changed;
  const parts = [
    entries.length === 0 && "Nothing to import",
    added > 0 && `${animals(added)} to add`,
    changed > 0 && `${animals(changed)} to change`,
    unchanged > 0 && `${animals(unchanged)} up to date already`,
    leftOut.length > 0 && `${lines(countLines(leftOut))} left out`,
  ];
  return parts.filter((it) => it !== false);
}

/** The choices of how the file is read. They are folded if the file left none of them open. */
function Reading({ draft, plan, onChange }: ChoiceProps & Pick<PreviewProps, "plan">): JSX.Element {
  const { table: { isAssumed }, columns } = draft;
  const [isOpen] = useState(isAssumed || missingColumns(columns).length > 0);
  return (
    <details open={isOpen}>
      <summary>Columns and encoding</summary>
      <ColumnChoice draft={draft} onChange={onChange} />
      <FirstRows draft={draft} />
      <EncodingChoice draft={draft} lettersIn={lettersIn(draft, plan)} onChange={onChange} />
    </details>
  );
}

/** The place of letters of the file on the page, in words; `undefined` if the page shows none. */
function lettersIn({ table: { titles } }: Draft, plan: Plan | undefined): string | undefined {
  if (plan !== undefined) return "letters below";
  return hasSpecialLetters(titles.join()) ? "titles of columns" : undefined;
}

interface EncodingChoiceProps extends ChoiceProps {
  lettersIn: string | undefined;
}

function EncodingChoice({ draft, lettersIn, onChange }: EncodingChoiceProps): JSX.Element {
  const { encoding, isAssumed } = draft.table;
  const choose = (chosen: string) => onChange(() => withEncoding(draft, chosen));
  return (
    <>
      <FormField label="Encoding" fault={undefined}>
        {(attributes) => (
          <Select
            {...attributes}
            choices={Object.entries(ENCODINGS).map(([text, label]) => ({ text, label }))}
            text={encoding}
            onText={choose}
          />
        )}
      </FormField>
      <p role="status">
        {isAssumed && lettersIn !== undefined &&
          `If ${lettersIn} look wrong, choose another encoding.`}
      </p>
    </>
  );
}

const NO_COLUMN: Choice = { text: "", label: "(none)" };

function ColumnChoice({ draft, onChange }: ChoiceProps): JSX.Element {
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

function ModeChoice({ draft, onChange }: ChoiceProps): JSX.Element {
  const group = useId();
  const choices = [
    { isOfChanges: true, label: "Change the animals with these ids" },
    { isOfChanges: false, label: "Add all as new animals" },
  ];
  return (
    <fieldset>
      <legend>The file has ids</legend>
      {choices.map(({ isOfChanges, label }) => (
        <label key={label} class="choice">
          <input
            type="radio"
            name={group}
            checked={draft.isOfChanges === isOfChanges}
            onChange={() => onChange(() => ({ ...draft, isOfChanges }))}
          />
          <span>{label}</span>
        </label>
      ))}
    </fieldset>
  );
}

/** What the words of the file mean that the store does not know. */
function Meanings({ draft, onChange }: ChoiceProps): JSX.Element {
  const { table, columns, meanings } = draft;
  const unknown = useMemo(() => unknownWords(table, columns), [table, columns]);
  return (
    <>
      {unknown.map((it) => (
        <MeaningsChoice
          key={it.field.name}
          unknown={it}
          meanings={meanings}
          onMeaning={(key, text) => onChange(() => withMeaning(draft, key, text))}
        />
      ))}
    </>
  );
}

type EffectsProps = Pick<PreviewProps, "draft" | "onAddCategories"> & { plan: Plan };

function Effects({ draft, plan, onAddCategories }: EffectsProps): JSX.Element {
  const { entries, leftOut } = plan;
  return (
    <>
      <UnusedColumns draft={draft} />
      <LeftOutLines
        draft={draft}
        title={`${linesAre(countLines(leftOut))} left out`}
        leftOut={leftOut}
        onAddCategories={onAddCategories}
      />
      <Changes changes={entries.filter((it) => it.kind === "change")} />
      <Additions additions={entries.filter((it) => it.kind === "addition")} />
    </>
  );
}

function UnusedColumns({ draft }: { draft: Draft }): JSX.Element | null {
  const used = Object.values(draft.columns);
  const unused = draft.table.titles.filter((_, index) => !used.includes(index));
  if (unused.length === 0) return null;
  const doubled = unused.filter((title) => doubledField(title) !== undefined);
  return (
    <>
      <p class="soft small">
        Columns that are left out: {unused.map((title, index) => (
          <Fragment key={index}>
            {index > 0 && ", "}
            <bdi translate={false}>{title || "(no title)"}</bdi>
          </Fragment>
        ))}
      </p>
      {doubled.map((title) => (
        <p key={title}>
          The file has another column of the {doubledField(title)?.toLowerCase()}. What{" "}
          <b>
            <bdi translate={false}>{title}</bdi>
          </b>{" "}
          says is not imported.
        </p>
      ))}
    </>
  );
}

function Additions({ additions }: { additions: Addition[] }): JSX.Element | null {
  if (additions.length === 0) return null;
  const sample = previewSample(additions);
  return (
    <SampleTable title="New animals" words={sampleWords(sample, additions.length)}>
      <thead>
        <tr>
          <th class="number">Line</th>
          {EDITABLE_FIELDS.map(({ name, label }) => <th key={name}>{label}</th>)}
        </tr>
      </thead>
      <tbody>
        {[...sample.first, ...sample.special].map(({ row, pet }) => (
          <tr key={row.line}>
            <td class="number">{linesOf(row)}</td>
            {EDITABLE_FIELDS.map((it) => <td key={it.name}>{viewOf(it).show(pet[it.name])}</td>)}
          </tr>
        ))}
      </tbody>
    </SampleTable>
  );
}

function Changes({ changes }: { changes: Change[] }): JSX.Element | null {
  if (changes.length === 0) return null;
  const sample = previewSample(changes);
  return (
    <SampleTable title="Changes" words={sampleWords(sample, changes.length)}>
      <thead>
        <tr>
          <th class="number">Line</th>
          <th class="number">Id</th>
          <th>Animal</th>
          <th>Change</th>
        </tr>
      </thead>
      <tbody>
        {[...sample.first, ...sample.special].map(({ row, before, patch }) => (
          <tr key={row.line}>
            <td class="number">{linesOf(row)}</td>
            <td class="number">{before.id}</td>
            <td>
              <Name of={before.name} />
            </td>
            <td>
              {EDITABLE_FIELDS.filter(({ name }) => name in patch).map((field) => (
                <div key={field.name}>
                  {field.label}: <del>{viewOf(field).show(before[field.name])}</del>{" "}
                  <ins>{viewOf(field).show(patch[field.name] ?? undefined)}</ins>
                </div>
              ))}
            </td>
          </tr>
        ))}
      </tbody>
    </SampleTable>
  );
}

/** The preview of an import, and the choices of how the file is read. */

import { Fragment, type JSX } from "preact";
import { useId, useState } from "preact/hooks";
import { animals, lines, linesAre } from "../count_words.ts";
import { ENCODINGS } from "../csv/decode_text.ts";
import { EDITABLE_FIELDS } from "../fields.tsx";
import { FormField } from "../form_field.tsx";
import type { Choice } from "../list_box.tsx";
import { Name } from "../name.tsx";
import { Select } from "../select.tsx";
import { missingColumns, type Target, TARGETS } from "./columns.ts";
import { type Draft, withColumn, withEncoding, withTitles } from "./draft.ts";
import { DownloadLeftOut } from "./import_report.tsx";
import { Lines, linesOf } from "./lines.tsx";
import type { Addition, Change, Plan } from "./plan.ts";
import { previewSample } from "./preview_sample.ts";

interface PreviewProps {
  draft: Draft;
  /** `undefined` while a column is missing, or the animals are being read. */
  plan: Plan | undefined;
  /** Takes another draft, which `make` returns, or shows the error that it throws. */
  onChange: (make: () => Draft) => void;
}

export function ImportPreview({ draft, plan, onChange }: PreviewProps): JSX.Element {
  return (
    <>
      {plan !== undefined && <p role="status">{summaryOf(plan)}</p>}
      <Reading draft={draft} onChange={onChange} />
      {draft.columns.id !== undefined && <ModeChoice draft={draft} onChange={onChange} />}
      {plan === undefined ? <WhyNot draft={draft} /> : <Effects draft={draft} plan={plan} />}
    </>
  );
}

type ChoiceProps = Pick<PreviewProps, "draft" | "onChange">;

/** The effect of the import, in one sentence. */
function summaryOf({ entries, leftOut, unchanged }: Plan): string {
  const changed = entries.filter(({ kind }) => kind === "change").length;
  const added = entries.length - changed;
  const parts = [
    (added > 0 || changed === 0) && `${animals(added)} to add`,
    changed > 0 && `${animals(changed)} to change`,
    unchanged > 0 && `${animals(unchanged)} as the file says already`,
    leftOut.length > 0 && `${lines(leftOut.length)} left out`,
  ];
  return `${parts.filter((it) => it !== false).join(", ")}.`;
}

/** The choices of how the file is read. They are folded if the file left none of them open. */
function Reading({ draft, onChange }: ChoiceProps): JSX.Element {
  const { table: { titles, isAssumed }, columns } = draft;
  const isEachUsed = Object.keys(columns).length === titles.length;
  const [isOpen] = useState(isAssumed || !isEachUsed || missingColumns(columns).length > 0);
  return (
    <details open={isOpen}>
      <summary>Encoding and columns</summary>
      <EncodingChoice draft={draft} onChange={onChange} />
      <ColumnChoice draft={draft} onChange={onChange} />
    </details>
  );
}

function EncodingChoice({ draft, onChange }: ChoiceProps): JSX.Element {
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
      <p role="status">{isAssumed && <AssumedEncoding encoding={encoding} />}</p>
    </>
  );
}

function AssumedEncoding({ encoding }: { encoding: string }): JSX.Element {
  return (
    <>
      The file does not say its encoding, and is assumed to be{" "}
      {ENCODINGS[encoding]}. If letters below are wrong, choose another encoding.
    </>
  );
}

const NO_COLUMN: Choice = { text: "", label: "(none)" };

function ColumnChoice({ draft, onChange }: ChoiceProps): JSX.Element {
  const { table: { titles, hasTitles }, columns } = draft;
  const used = Object.values(columns);
  const unused = titles.filter((_, index) => !used.includes(index));
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
    <fieldset>
      <legend>Columns</legend>
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
      <label class="choice">
        <input
          type="checkbox"
          checked={hasTitles}
          onChange={({ currentTarget }) => onChange(() => withTitles(draft, currentTarget.checked))}
        />
        <span>The first line has the titles of the columns</span>
      </label>
      {unused.length > 0 && (
        <p class="soft small">
          Columns that are left out: {unused.map((title, index) => (
            <Fragment key={index}>
              {index > 0 && ", "}
              <bdi>{title || "(no title)"}</bdi>
            </Fragment>
          ))}
        </p>
      )}
    </fieldset>
  );
}

function ModeChoice({ draft, onChange }: ChoiceProps): JSX.Element {
  const group = useId();
  const choices = [
    { isOfChanges: true, label: "Change the animals with these ids" },
    { isOfChanges: false, label: "Add all of them again, with new ids" },
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

function WhyNot({ draft }: { draft: Draft }): JSX.Element {
  if (draft.isOfChanges) return <p role="status">Reading the animals …</p>;
  const missing = missingColumns(draft.columns).join(" and ");
  return <p class="fault" role="alert">Choose the column of {missing}</p>;
}

function Effects({ draft, plan }: { draft: Draft; plan: Plan }): JSX.Element {
  const { entries, leftOut } = plan;
  const sample = previewSample(entries);
  return (
    <>
      <Changes changes={sample.filter((it) => it.kind === "change")} />
      <Additions additions={sample.filter((it) => it.kind === "addition")} />
      {sample.length < entries.length && (
        <p class="soft small">
          These are the first lines, and more with letters outside ASCII or line breaks.
        </p>
      )}
      <Lines title={`${linesAre(leftOut.length)} left out`} lines={leftOut}>
        <DownloadLeftOut draft={draft} leftOut={leftOut} />
      </Lines>
    </>
  );
}

function Additions({ additions }: { additions: Addition[] }): JSX.Element | null {
  if (additions.length === 0) return null;
  return (
    <>
      <h3>New animals</h3>
      <table>
        <thead>
          <tr>
            <th class="number">Line</th>
            {EDITABLE_FIELDS.map(({ name, label }) => <th key={name}>{label}</th>)}
          </tr>
        </thead>
        <tbody>
          {additions.map(({ row, pet }) => (
            <tr key={row.line}>
              <td class="number">{linesOf(row)}</td>
              {EDITABLE_FIELDS.map(({ name, show }) => <td key={name}>{show(pet[name])}</td>)}
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

function Changes({ changes }: { changes: Change[] }): JSX.Element | null {
  if (changes.length === 0) return null;
  return (
    <>
      <h3>Changes</h3>
      <table>
        <thead>
          <tr>
            <th class="number">Line</th>
            <th class="number">Id</th>
            <th>Animal</th>
            <th>Change</th>
          </tr>
        </thead>
        <tbody>
          {changes.map(({ row, before, patch }) => (
            <tr key={row.line}>
              <td class="number">{linesOf(row)}</td>
              <td class="number">{before.id}</td>
              <td>
                <Name of={before.name} />
              </td>
              <td>
                {EDITABLE_FIELDS.filter(({ name }) => name in patch).map((
                  { name, label, show },
                ) => (
                  <div key={name}>
                    {label}: <del>{show(before[name])}</del>{" "}
                    <ins>{show(patch[name] ?? undefined)}</ins>
                  </div>
                ))}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

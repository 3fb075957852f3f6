/** The preview of an import, and the choices of how the file is read. */

import { Fragment, type JSX } from "preact";
import { useId, useMemo } from "preact/hooks";
import { animals, animalsAre } from "../parts/count_words.ts";
import { EDITABLE_FIELDS } from "../data/fields.ts";
import { viewOf } from "../animal/field_views.tsx";
import { Name } from "../parts/name.tsx";
import { doubledField, missingColumns } from "./columns.ts";
import { type Draft, withMeaning } from "./draft.ts";
import { LeftOutLines } from "./left_out_lines.tsx";
import { unknownWords } from "./meanings.ts";
import { MeaningsChoice } from "./meanings_choice.tsx";
import type { Addition, Change, Plan } from "./plan.ts";
import { previewSample, sampleWords } from "./preview_sample.ts";
import { PresentLines } from "./present_lines.tsx";
import { ReadingChoice, type ReadingChoiceProps } from "./reading_choice.tsx";
import { countAnimals } from "./row_lines.ts";
import { SampleTable } from "./sample_table.tsx";

interface PreviewProps extends ReadingChoiceProps {
  /** Adds the animals again that are there already. */
  onAddAgain: () => void;
  onAddCategories: (names: readonly string[]) => void;
}

export function ImportPreview(props: PreviewProps): JSX.Element {
  const { draft, plan, onChange, onSheet, onAddCategories, onAddAgain } = props;
  return (
    <>
      <ReadingChoice draft={draft} plan={plan} onChange={onChange} onSheet={onSheet} />
      {draft.columns.id !== undefined && <ModeChoice draft={draft} onChange={onChange} />}
      <MeaningsOfFile draft={draft} onChange={onChange} />
      {plan !== undefined && (
        <Effects
          draft={draft}
          plan={plan}
          onAddCategories={onAddCategories}
          onAddAgain={onAddAgain}
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

function partsOf({ entries, leftOut, present, unchanged }: Plan): string[] {
  const changed = entries.filter(({ kind }) => kind === "change").length;
  const added = entries.length - changed;
  const parts = [
    entries.length === 0 && "Nothing to import",
    added > 0 && `${animals(added)} to add`,
    changed > 0 && `${animals(changed)} to change`,
    present.length > 0 && `${animals(present.length)} here already`,
    unchanged > 0 && `${animals(unchanged)} up to date already`,
    leftOut.length > 0 && `${animals(countAnimals(leftOut))} left out`,
  ];
  return parts.filter((it) => it !== false);
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
function MeaningsOfFile({ draft, onChange }: ChoiceProps): JSX.Element {
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

type EffectsProps = Pick<PreviewProps, "draft" | "onAddCategories" | "onAddAgain"> & { plan: Plan };

function Effects({ draft, plan, onAddCategories, onAddAgain }: EffectsProps): JSX.Element {
  const { entries, leftOut, present } = plan;
  return (
    <>
      <UnusedColumns draft={draft} />
      <PresentLines present={present} onAddAgain={onAddAgain} />
      <LeftOutLines
        draft={draft}
        title={`${animalsAre(countAnimals(leftOut))} left out`}
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
            <td class="number">{row.line}</td>
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
            <td class="number">{row.line}</td>
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

/** The choice of what the unknown words of a file mean. */

import type { JSX } from "preact";
import { animals, grouped } from "../parts/count_words.ts";
import { FormField } from "../parts/form_field.tsx";
import { Select } from "../parts/select.tsx";
import type { Meanings, UnknownWord, UnknownWords } from "./meanings.ts";

const WORDS_SHOWN = 20;
const CHARACTERS_SHOWN = 40;

/** No text of a choice has a blank before it. */
const LEAVE_OUT = { text: " leave out", label: "Leave out" };

interface MeaningsChoiceProps {
  unknown: UnknownWords;
  meanings: Meanings;
  /** Takes the meaning of a word: `undefined` leaves its lines out. */
  onMeaning: (key: string, text: string | undefined) => void;
}

export function MeaningsChoice({ unknown, meanings, onMeaning }: MeaningsChoiceProps): JSX.Element {
  const { field, choices, words } = unknown;
  const others = words.length - WORDS_SHOWN;
  return (
    <fieldset>
      <legend>What these words in {field.label} mean</legend>
      <div class="import-columns">
        {words.slice(0, WORDS_SHOWN).map((word) => (
          <FormField key={word.key} label={wordsOf(word)} fault={undefined}>
            {(attributes) => (
              <Select
                {...attributes}
                choices={[LEAVE_OUT, ...choices]}
                text={meanings.get(word.key) ?? LEAVE_OUT.text}
                onText={(text) => onMeaning(word.key, text === LEAVE_OUT.text ? undefined : text)}
              />
            )}
          </FormField>
        ))}
      </div>
      {others > 0 && (
        <p class="soft small">
          and {grouped(others)} more: is it the right column?
        </p>
      )}
    </fieldset>
  );
}

function wordsOf({ text, count }: UnknownWord): string {
  const shown = text.length > CHARACTERS_SHOWN ? `${text.slice(0, CHARACTERS_SHOWN)} …` : text;
  return `“${shown}”, ${animals(count)}`;
}

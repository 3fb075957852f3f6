/**
 * A line of text. A browser or a password manager may fill it in, and some of these send no event then: the text stays,
 * and counts as typed when its form is sent or closed.
 */

import type { InputHTMLAttributes, JSX, PartialInputHTMLAttributes, RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

type Own = "value" | "onInput" | "onChange" | "ref";

interface TextInputProps extends Omit<PartialInputHTMLAttributes<HTMLInputElement>, Own> {
  text: string;
  onText: (text: string) => void;
  control?: RefObject<HTMLInputElement | null>;
}

export function TextInput({ text, onText, control, ...attributes }: TextInputProps): JSX.Element {
  const own = useRef<HTMLInputElement>(null);
  const input = control ?? own;
  // An attribute `value` would replace what was filled in whenever the page is drawn.
  useLayoutEffect(() => {
    if (input.current!.value !== text) input.current!.value = text;
  }, [text]);
  const takeFilled = () => {
    const { value } = input.current!;
    if (value !== text) onText(value);
  };
  return (
    <input
      autocomplete="off"
      {
        // The type of Preact has a role for each type of an input.
        ...attributes as InputHTMLAttributes
      }
      ref={input}
      onInput={({ currentTarget }) => onText(currentTarget.value)}
      onChange={takeFilled}
    />
  );
}

/** A text of several lines, which is as high as its lines. A browser may fill it in, as {@linkcode TextInput} says. */

import type { JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { ControlProps } from "./control_props.ts";

const ROWS = 3;

export function TextArea(
  { text, onText, onNew: _, onLeave: __, ...attributes }: ControlProps,
): JSX.Element {
  const area = useRef<HTMLTextAreaElement>(null);
  // An attribute `value` would replace what was filled in whenever the page is drawn.
  useLayoutEffect(() => {
    if (area.current!.value !== text) area.current!.value = text;
  }, [text]);
  return (
    <textarea
      {...attributes}
      ref={area}
      rows={ROWS}
      autocomplete="off"
      onInput={({ currentTarget }) => onText(currentTarget.value)}
      onChange={({ currentTarget }) => onText(currentTarget.value)}
    />
  );
}

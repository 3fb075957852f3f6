/** The lines whose animals an earlier import has added, and the button that adds these again. */

import type { JSX } from "preact";
import { animals } from "../parts/count_words.ts";
import { LineGroup } from "./line_group.tsx";
import type { Entry } from "./plan.ts";

interface PresentLinesProps {
  present: readonly Entry[];
  onAddAgain: () => void;
}

export function PresentLines({ present, onAddAgain }: PresentLinesProps): JSX.Element | null {
  if (present.length === 0) return null;
  return (
    <LineGroup words="Added by an earlier import in the last 24 hours" group={present}>
      <button type="button" onClick={onAddAgain}>Add {animals(present.length)} again</button>
    </LineGroup>
  );
}

/** The style sheet of the page: a part for each folder, in the order of their layers. */

import ACTIVITY from "./activity/activity.css" with { type: "text" };
import ANIMAL from "./animal/animal.css" with { type: "text" };
import CATEGORIES from "./categories/categories.css" with { type: "text" };
import IMPORT from "./import/import.css" with { type: "text" };
import LIST from "./list/list.css" with { type: "text" };
import NAVIGATION from "./navigation/navigation.css" with { type: "text" };
import PARTS from "./parts/parts.css" with { type: "text" };
import WINDOW from "./window.css" with { type: "text" };

export const STYLES = [WINDOW, PARTS, NAVIGATION, CATEGORIES, ANIMAL, IMPORT, LIST, ACTIVITY].join(
  "\n",
);

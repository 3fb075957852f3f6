/** A list that opens below a control, and stays there while the page moves. */

import { useLayoutEffect } from "preact/hooks";

interface Ref<Type> {
  readonly current: Type | null;
}

/** Shows the list, a popover, while `isOpen`. A change of `size` may change its place. */
export function useListBelow(
  isOpen: boolean,
  list: Ref<HTMLElement>,
  control: Ref<HTMLElement>,
  size = 0,
): void {
  useLayoutEffect(() => {
    if (!isOpen) return;
    list.current!.showPopover();
    const follow = () => placeBelow(list.current!, control.current!);
    follow();
    addEventListener("scroll", follow, true);
    addEventListener("resize", follow);
    return () => {
      removeEventListener("scroll", follow, true);
      removeEventListener("resize", follow);
    };
  }, [isOpen, size]);
}

/** Puts the list below its control, or above it if there is more room. */
function placeBelow(list: HTMLElement, control: HTMLElement): void {
  const { left, right, top, bottom } = control.getBoundingClientRect();
  const { width, height } = list.getBoundingClientRect();
  const isBelow = bottom + height <= innerHeight || top < height;
  const x = Math.min(left, Math.max(0, innerWidth - width));
  list.style.left = `${Math.max(0, Math.min(x, right))}px`;
  list.style.top = `${isBelow ? bottom : top - height}px`;
}

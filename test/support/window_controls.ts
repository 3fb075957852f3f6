/** How tests in a browser find and use the controls of the window. */

import { assertEquals } from "@std/assert";
import type { Page } from "./chromium.ts";
import { importTestPackage } from "./import_test_package.ts";
import { until } from "./until.ts";

export const ROWS = "[data-id]";

export const button = (parent: Page, name: string | RegExp) =>
  parent.getByRole("button", { name, exact: true });

export const press = (parent: Page, name: string | RegExp) => button(parent, name).click();

/** The row of the animal with that name. */
export const row = (page: Page, name: string) =>
  page.locator(ROWS).filter({ has: page.getByRole("link", { name, exact: true }) });

/** The link to the page of an animal in the list. The activity may have others. */
export const linkOf = (page: Page, name: string) =>
  page.locator(ROWS).getByRole("link", { name, exact: true });

/** The message about what was done. */
export const toast = (page: Page, text: string | RegExp) =>
  page.getByRole("status").filter({ hasText: text });

export const statusOf = (page: Page, name: string) => page.getByLabel(`Status of ${name}`);

export const statusText = (page: Page, name: string): Promise<string> =>
  statusOf(page, name).evaluate((it: Page) => it.selectedOptions[0].text);

/** Chooses another status of an animal. */
export const pickStatus = (page: Page, name: string, status: string): Promise<void> =>
  pickFrom(page, `Status of ${name}`, status);

/** Chooses from the list of a control. */
export async function pickFrom(parent: Page, label: string, choice: string): Promise<void> {
  const control = parent.getByRole("combobox", { name: label, exact: true });
  // A select in the list has all its options from then on.
  await focusOn(control);
  await control.selectOption({ label: choice });
}

export const tab = (page: Page, name: string) => page.getByRole("tab", { name, exact: true });

export async function enterKey(page: Page, key: string): Promise<void> {
  await page.getByLabel("Access key").fill(key);
  await press(page, "Sign in");
}

/** The button is in the menu of the key. */
export async function signOut(page: Page): Promise<void> {
  await press(page, /^Access key/);
  await press(page, "Sign out");
}

/** Fills the form of an animal. */
export async function fill(form: Page, name: string, category: string): Promise<void> {
  await form.getByLabel(/^Category/).fill(category);
  await form.getByLabel(/^Name/).fill(name);
}

/** Turns the wheel over the list until it shows the target. Fewer pixels than a screen, or the target is passed. */
export async function scrollTo(page: Page, target: Page, pixels: number): Promise<void> {
  await scrollUntil(page, pixels, () => target.isVisible());
}

/** Turns the wheel over the list until a condition holds, which is asked when the rows are drawn. */
export async function scrollUntil(
  page: Page,
  pixels: number,
  isReached: () => Promise<boolean>,
): Promise<void> {
  await page.locator(ROWS).first().hover();
  await until(async () => {
    await page.mouse.wheel(0, pixels);
    await page.evaluate(
      "new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))",
    );
    return await isReached();
  });
}

/** Asserts that axe finds no fault of the page in a state, light and dark, or with forced colours. */
export async function expectAccessible(page: Page, state: string): Promise<void> {
  const { default: { source } } = await importTestPackage("axe-core");
  const isLoaded = await page.evaluate("'axe' in window");
  if (!isLoaded) await page.evaluate(source);
  // No fade begins any more.
  await page.emulateMedia({ reducedMotion: "reduce" });
  const violations = async (options: object) => {
    // Text that fades in has too little contrast for a moment.
    await page.evaluate("document.getAnimations().forEach((it) => it.finish())");
    // Axe describes the elements that pass, too, unless it is told not to. That takes longer than its rules.
    const described = JSON.stringify({ ...options, resultTypes: ["violations"] });
    return await page.evaluate(`axe.run(${described}).then((results) => results.violations)`);
  };
  const isDark = await page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches");
  const [own, other] = isDark ? ["dark", "light"] : ["light", "dark"];
  assertEquals(await violations({}), [], `${state}, ${own}`);
  // With forced colours, the system chooses them.
  if (await page.evaluate("matchMedia('(forced-colors: active)').matches")) return;
  // Only colours differ.
  await page.emulateMedia({ colorScheme: other });
  assertEquals(await violations({ runOnly: ["color-contrast"] }), [], `${state}, ${other}`);
  await page.emulateMedia({ colorScheme: own });
}

/** Waits until the element has the focus. */
export const expectFocus = (target: Page): Promise<boolean> =>
  until(() => hasFocus(target), `The focus is not on ${target}`);

/** Gives the element the focus. While a dialog that has just been sent closes, nothing behind it takes the focus. */
export const focusOn = (target: Page): Promise<boolean> =>
  until(async () => {
    await target.focus();
    return await hasFocus(target);
  }, `The focus does not go to ${target}`);

/** Whether the element has the focus. */
export const hasFocus = (target: Page): Promise<boolean> =>
  target.evaluate((it: Page) => it.matches(":focus"));

/** Opens the page of the last events. */
export async function showActivity(page: Page): Promise<void> {
  await page.getByRole("link", { name: "Activity", exact: true }).click();
  await page.getByRole("heading", { name: "Activity" }).waitFor();
}

/** The text of the page of the last events. */
export const happened = (page: Page, text: string | RegExp) =>
  page.getByRole("article").getByText(text);

export async function showListAgain(page: Page): Promise<void> {
  await page.getByRole("link", { name: "All animals" }).click();
}

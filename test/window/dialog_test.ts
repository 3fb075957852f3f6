/** Nothing that a person has typed or begun is lost. */

import { assertEquals } from "@std/assert";
import { type Page, testInBrowser } from "../support/chromium.ts";
import { expectSoon } from "../support/expect_soon.ts";
import { issueApiKey, revokeApiKey } from "../../src/keys/write_api_key.ts";
import {
  button,
  enterKey,
  expectFocus,
  fill,
  press,
  row,
  signOut,
  statusOf,
  tab,
  toast,
} from "../support/window_controls.ts";

const OPEN_AGAIN = "Open the form again";

/** The line of a form that was left to the background. */
const line = (page: Page, words: string) =>
  page.locator("p").filter({ has: button(page, OPEN_AGAIN) }).filter({ hasText: words });

testInBrowser(
  "a dialog that is sending says so, cannot be cancelled, and is left to the background if it takes long",
  async ({ service, network, open }) => {
    const page = await open(`/window#key=${service.token}`);
    const dialog = page.getByRole("dialog");
    const gate = Promise.withResolvers<void>();
    network.fetch = async (request) => {
      if (request.method === "POST") await gate.promise;
      return await service.fetch(request);
    };
    await page.getByText("No animals yet").waitFor();
    await page.clock.install();
    // The time of the page passes only when the test says so.
    await page.clock.pauseAt(Date.now() + 60_000);
    await press(page, "Add an animal");
    await fill(dialog, "Rex", "7");
    await press(dialog, "Add");
    await dialog.getByText("Saving …").waitFor();
    await expectSoon(() => button(dialog, "Cancel").isDisabled(), true);
    // Text that is typed now would be lost.
    await dialog.getByLabel("Name").press("x");
    await dialog.getByLabel("Status").press("ArrowDown");
    assertEquals(await page.getByRole("listbox").count(), 0);
    await expectSoon(() => dialog.getByLabel("Name").inputValue(), "Rex");
    for (let count = 0; count < 3; count++) await page.keyboard.press("Escape");
    await expectSoon(() => dialog.isVisible(), true);
    // A phone may close it all the same.
    await page.evaluate("document.querySelector('dialog').close()");
    await dialog.getByText("Saving …").waitFor();
    await page.clock.runFor(4_000);
    await press(dialog, "Save in the background");
    await dialog.waitFor({ state: "hidden" });
    // A line says that it waits, and opens the form again.
    await line(page, "Rex: Saving …").waitFor();
    await press(page, OPEN_AGAIN);
    await dialog.getByText("Saving …").waitFor();
    await expectSoon(() => dialog.getByLabel("Name").inputValue(), "Rex");
    await press(dialog, "Save in the background");
    gate.resolve();
    await line(page, "Rex: Saving …").waitFor({ state: "hidden" });
    await toast(page, "Rex was added").waitFor();
    await row(page, "Rex").waitFor();
    assertEquals(await service.listIds(), [1]);
  },
);

testInBrowser(
  "without a connection, a form is left to the background at once, and its other buttons stay where they are",
  async ({ service, open }) => {
    const page = await open(`/window#key=${service.token}`);
    const dialog = page.getByRole("dialog");
    await page.getByText("No animals yet").waitFor();
    await page.clock.install();
    await page.clock.pauseAt(Date.now() + 60_000);
    await press(page, "Add an animal");
    await fill(dialog, "Rex", "7");
    const placeOf = async (name: string) => {
      const { x, y } = await button(dialog, name).boundingBox();
      return [Math.round(x), Math.round(y)];
    };
    const places = await Promise.all(["Add and next", "Add"].map(placeOf));
    await page.context().setOffline(true);
    await press(dialog, "Add");
    await dialog.getByText("Connection lost. Trying again …").waitFor();
    await button(dialog, "Save in the background").waitFor();
    assertEquals(await Promise.all(["Add and next", "Add"].map(placeOf)), places);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "hidden" });
    await line(page, "Rex: Connection lost").waitFor();
    await page.context().setOffline(false);
    await toast(page, "Rex was added").waitFor();
  },
);

testInBrowser(
  "what was left to the background is saved when the service answers, or the page says that nobody knows",
  async ({ service, network, open }) => {
    const page = await open("/window", { width: 320 });
    const dialog = page.getByRole("dialog");
    // The key does not end while the computer sleeps.
    await page.getByLabel("Stay signed in").check();
    await enterKey(page, service.token);
    await page.getByText("No animals yet").waitFor();
    await page.clock.install();
    await page.clock.pauseAt(Date.now() + 60_000);
    const answers: Record<string, () => Response> = {
      "Mia: Name is not allowed": () =>
        Response.json({ code: "forbidden", message: "Name is not allowed" }, { status: 403 }),
      "Zoe: It is not known whether this was saved": () => new Response(null, { status: 503 }),
    };
    let later = Date.now();
    for (const [words, answer] of Object.entries(answers)) {
      const [name] = words.split(":");
      const gate = Promise.withResolvers<void>();
      let posts = 0;
      network.fetch = async (request) => {
        if (request.method !== "POST") return await service.fetch(request);
        posts++;
        await gate.promise;
        return answer();
      };
      await press(page, "Add an animal");
      await fill(dialog, name, "7");
      await press(dialog, "Add");
      await dialog.getByText("Saving …").waitFor();
      await page.clock.runFor(4_000);
      await press(dialog, "Save in the background");
      await dialog.waitFor({ state: "hidden" });
      const asked = page.waitForEvent("dialog");
      const leaving = page.close({ runBeforeUnload: true });
      await (await asked).dismiss();
      await leaving;
      gate.resolve();
      if (name === "Zoe") await page.getByText("Trying again …").first().waitFor();
      // The computer sleeps meanwhile. The service may have forgotten the write, and would do it twice.
      later += 25 * 3_600_000;
      await page.clock.setSystemTime(later);
      await page.clock.runFor(6_000);
      await page.getByRole("alert").filter({ hasText: words }).waitFor();
      assertEquals(posts, 1);
      assertEquals(
        await line(page, words).evaluate((it: Page) => it.scrollWidth - it.clientWidth),
        0,
      );
      // What was typed is not lost, and is not saved twice if it is sent again.
      await press(page, OPEN_AGAIN);
      await expectSoon(() => dialog.getByLabel("Name").inputValue(), name);
      await press(dialog, "Cancel");
      await press(dialog.filter({ hasText: "Discard" }), "Discard");
      await dialog.first().waitFor({ state: "hidden" });
    }
    assertEquals(await service.listIds(), []);
    // The name of a category is left to the background, too, also before anything is written.
    const gate = Promise.withResolvers<void>();
    network.fetch = async (request) => {
      if (request.url.includes("/v1/categories/")) await gate.promise;
      return await service.fetch(request);
    };
    await page.getByRole("link", { name: "Categories" }).click();
    await press(page, "Add a category");
    await dialog.getByLabel("Name").fill("Birds");
    await press(dialog, "Add");
    await page.locator("dialog[aria-busy=true]").waitFor();
    await page.clock.runFor(4_000);
    await press(dialog, "Save in the background");
    await line(page, "Birds: ").waitFor();
    const asked = page.waitForEvent("dialog");
    const leaving = page.close({ runBeforeUnload: true });
    await (await asked).dismiss();
    await leaving;
    gate.resolve();
    await toast(page, "Birds was added").waitFor();
    assertEquals((await service.listCategories()).map(({ name }) => name), ["Birds"]);
  },
);

testInBrowser(
  "several forms wait in the background, with a new category, a conflict and a fault, each until it is settled",
  async ({ service, network, open }) => {
    for (const name of ["Rex", "Mia"]) await service.add({ name, categoryId: 7 });
    const page = await open(`/window#key=${service.token}`);
    const dialog = page.getByRole("dialog");
    await row(page, "Rex").waitFor();
    await page.clock.install();
    await page.clock.pauseAt(Date.now() + 60_000);
    const gate = Promise.withResolvers<void>();
    const message = 'Field "name" is too long';
    network.fetch = async (request) => {
      const isRefused = request.url.endsWith("/pets/2");
      if (request.method !== "GET") await gate.promise;
      if (!isRefused) return await service.fetch(request);
      return Response.json({ code: "invalid_body", status: 400, message }, { status: 400 });
    };
    const leave = async (yes: string) => {
      await press(dialog, yes);
      await dialog.getByText("Saving …").waitFor();
      await page.clock.runFor(4_000);
      await press(dialog, "Save in the background");
      await dialog.waitFor({ state: "hidden" });
    };
    await press(page, "Add an animal");
    await dialog.getByLabel("Name").fill("Tweety");
    await dialog.getByLabel("Category").fill("Birds");
    await page.keyboard.press("Enter");
    await leave("Add and next");
    for (const name of ["Rex", "Mia"]) {
      await press(page, `Edit ${name}`);
      await dialog.getByLabel("Name").fill(`My ${name}`);
      await leave("Save");
    }
    await service.change(1, { name: "Max" });
    await expectSoon(() => line(page, ": Saving …").count(), 3);
    // Signing out would lose them.
    await signOut(page);
    await press(dialog, "Stay");
    gate.resolve();
    await row(page, "Tweety").filter({ hasText: "Birds" }).waitFor();
    await expectSoon(() => line(page, ": Saving …").count(), 0);
    await line(page, "My Mia: Name is too long").waitFor();
    const conflict = line(page, "My Rex: Somebody else changed this animal. It is now Max");
    await press(conflict, OPEN_AGAIN);
    await press(dialog, "Change anyway");
    await row(page, "My Rex").waitFor();
    network.fetch = service.fetch;
    await press(page, OPEN_AGAIN);
    await expectSoon(() => dialog.getByLabel("Name").getAttribute("aria-invalid"), "true");
    await press(dialog, "Save");
    await row(page, "My Mia").waitFor();
    await expectSoon(() => button(page, OPEN_AGAIN).count(), 0);
  },
);

testInBrowser(
  "a text that was filled in without an event counts as typed, and the keys of an input method are its own",
  async ({ service, open }) => {
    const page = await open("/window");
    const dialog = page.getByRole("dialog");
    const fillIn = (field: Page, text: string) =>
      field.evaluate((it: Page, value: string) => it.value = value, text);
    /** Chromium sends such an Enter while an input method is open, and Safari after it. */
    const compose = async (field: Page, key: string) => {
      for (const how of [{ isComposing: true }, { keyCode: 229 }]) {
        const isFree = await field.evaluate(
          (it: Page, options: object) => {
            const { KeyboardEvent } = it.ownerDocument.defaultView;
            return it.dispatchEvent(new KeyboardEvent("keydown", options));
          },
          { key, bubbles: true, cancelable: true, ...how },
        );
        assertEquals(isFree, false);
      }
    };
    const key = page.getByLabel("Access key");
    await fillIn(key, service.token);
    await compose(key, "Enter");
    // What is drawn meanwhile keeps it.
    await page.getByLabel("Stay signed in").check();
    await press(page, "Sign in");
    await page.getByText("No animals yet").waitFor();
    await press(page, "Add an animal");
    const name = dialog.getByLabel("Name");
    await fillIn(name, "Rex");
    await compose(name, "Enter");
    await compose(name, "Escape");
    await page.keyboard.press("Escape");
    await press(dialog.filter({ hasText: "What you typed would be lost." }), "Keep typing");
    await dialog.getByLabel("Category").fill("7");
    await fillIn(name, "Max");
    await press(dialog, "Add");
    await row(page, "Max").waitFor();
  },
);

testInBrowser(
  "a half-written form is discarded only after a question",
  async ({ service, open }) => {
    await service.add({ name: "Rex", categoryId: 7 });
    const page = await open(`/window#key=${service.token}`);
    const form = page.getByRole("dialog").filter({ hasText: "Add an animal" });
    const question = page.getByRole("dialog").filter({ hasText: "What you typed would be lost." });
    await press(page, "Add an animal");
    await form.getByLabel("Name").fill("Mia");
    for (const [key, answer] of [["Escape", "Keep typing"], ["Escape", "Discard"]]) {
      await page.keyboard.press(key);
      await press(question, answer);
      await question.waitFor({ state: "hidden" });
      if (answer === "Keep typing") {
        await expectSoon(() => form.getByLabel("Name").inputValue(), "Mia");
      }
    }
    await form.waitFor({ state: "hidden" });
    // An empty form needs no question.
    await press(page, "Add an animal");
    await press(form, "Cancel");
    await form.waitFor({ state: "hidden" });
    // The browser asks before a page with a half-written form is left.
    await press(page, "Edit Rex");
    const edit = page.getByRole("dialog").filter({ hasText: "Edit Rex" });
    await edit.getByLabel("Name").fill("Max");
    const asked = page.waitForEvent("dialog");
    const leaving = page.close({ runBeforeUnload: true });
    await (await asked).dismiss();
    await leaving;
    await expectSoon(() => edit.getByLabel("Name").inputValue(), "Max");
    await press(edit, "Cancel");
    await press(question, "Discard");
    await edit.waitFor({ state: "hidden" });
  },
);

testInBrowser(
  "a question never replaces another open dialog",
  async ({ service, network, open }) => {
    await service.add({ name: "Rex", categoryId: 7, status: "available" });
    const page = await open(`/window#key=${service.token}`);
    const gate = Promise.withResolvers<void>();
    network.fetch = async (request) => {
      if (request.url.includes("ids=1")) await gate.promise;
      return await service.fetch(request);
    };
    await statusOf(page, "Rex").click();
    await page.getByRole("option", { name: "Sold" }).click();
    await press(page, "Add an animal");
    const form = page.getByRole("dialog").filter({ hasText: "Add an animal" });
    await fill(form, "Mia", "8");
    // The conflict of the first change is found while the form is open.
    await service.change(1, { name: "Zoe" });
    gate.resolve();
    const question = page.getByRole("dialog").filter({ hasText: "It is now Zoe" });
    await press(question, "Keep theirs");
    await question.waitFor({ state: "hidden" });
    await expectSoon(() => form.getByLabel("Name").inputValue(), "Mia");
    await press(form, "Add");
    await row(page, "Mia").waitFor();
    await row(page, "Zoe").filter({ hasText: "Available" }).waitFor();
  },
);

testInBrowser(
  "a key that ends is asked for above the page, and what was being written is saved with the next one",
  async ({ service, open }) => {
    const page = await open(`/window#key=${service.token}`);
    const form = page.getByRole("dialog").filter({ hasText: "Add an animal" });
    await press(page, "Add an animal");
    await fill(form, "Mia", "8");
    const { token } = await issueApiKey(service, { label: "next" });
    await revokeApiKey(service, service.keyId);
    await press(form, "Add");
    const signIn = page.getByRole("dialog").filter({ hasText: "Sign in" });
    await signIn.getByText(/revoked/).waitFor();
    await page.keyboard.press("Escape");
    await enterKey(signIn, token);
    await signIn.waitFor({ state: "hidden" });
    await row(page, "Mia").waitFor();
    await tab(page, "All 1").waitFor();
    await button(page, /^Access key/).filter({ hasText: "next" }).waitFor();
  },
);

testInBrowser(
  "one animal after the other is added, with the category kept and Available chosen",
  async ({ service, open }) => {
    await service.nameCategory(7n, "Dogs");
    const page = await open(`/window#key=${service.token}`);
    const dialog = page.getByRole("dialog");
    const name = dialog.getByLabel("Name");
    await press(page, "Add an animal");
    for (const it of ["Rex", "Rex", "Mia"]) {
      await expectSoon(() => dialog.getByLabel("Status").inputValue(), "available");
      await name.fill(it);
      if (it === "Rex") await dialog.getByLabel("Category").fill("dogs");
      if (it === "Mia") await name.press("Control+Enter");
      else await press(dialog, "Add and next");
      await expectSoon(() => name.inputValue(), "");
      await expectFocus(name);
      await dialog.getByRole("status").getByText(`${it} was added. Add the next one.`).waitFor();
    }
    await expectSoon(() => dialog.getByLabel("Category").inputValue(), "dogs");
    // The form asks nothing, because the reader typed none of the texts that are left.
    await press(dialog, "Done");
    await dialog.waitFor({ state: "hidden" });
    const stored = await (await service.send("/v1/pets?order=asc")).json();
    assertEquals(stored, [
      { id: 1, name: "Rex", categoryId: 7, status: "available" },
      { id: 2, name: "Rex", categoryId: 7, status: "available" },
      { id: 3, name: "Mia", categoryId: 7, status: "available" },
    ]);
  },
);

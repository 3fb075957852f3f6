/** The page of an animal: what is done there, its facts, who did what, and its neighbours in the list. */

import { assertEquals } from "@std/assert";
import { issueApiKey } from "../../src/keys/write_api_key.ts";
import { testInBrowser } from "../support/chromium.ts";
import { expectSoon } from "../support/expect_soon.ts";
import {
  button,
  expectAccessible,
  happened,
  linkOf,
  pickStatus,
  press,
  tab,
  toast,
} from "../support/window_controls.ts";

testInBrowser(
  "the page of an animal edits, sells and removes it",
  async ({ service, open }) => {
    await service.add({ name: "Rex", categoryId: 7, status: "available" });
    const page = await open(`/window?animal=1#key=${service.token}`);
    const heading = (name: string) => page.getByRole("heading", { name, exact: true });
    await press(page, "Edit");
    await page.getByLabel("Name", { exact: true }).fill("");
    await press(page, "Save");
    await page.getByText("Name is missing").waitFor();
    await expectAccessible(page, "edit on the page");
    await page.getByLabel("Name", { exact: true }).fill("Max");
    await page.getByLabel("Category", { exact: true }).fill("9");
    await press(page, "Save");
    await heading("Max").waitFor();
    await toast(page, "Rex was renamed Max and moved to category 9").waitFor();
    const facts = page.getByRole("article").locator("dl").first();
    await facts.getByText("Category 9").waitFor();
    await pickStatus(page, "Max", "Sold");
    await toast(page, "Max was sold").waitFor();
    await press(page, "Remove");
    await press(page.getByRole("dialog"), "Remove");
    await page.getByText("This animal was removed.").waitFor();
    await press(toast(page, "Max was removed"), "Undo");
    await toast(page, "Max was added again. Its new id is 2").waitFor();
    await button(page, "Edit").waitFor({ state: "hidden" });
  },
);

testInBrowser(
  "the history says what was done by you, and the short id of another key",
  async ({ service, open }) => {
    await service.add({ name: "Rex", categoryId: 7 });
    const { token, id: keyId } = await issueApiKey(service, { label: "other" });
    await service.send("/v1/pets/1", {
      method: "PATCH",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: '{"status":"sold"}',
    });
    const page = await open(`/window?animal=1#key=${service.token}`);
    const entries = page.locator("ol.history li");
    await entries.nth(1).getByText(/, by you$/).waitFor();
    const code = entries.first().locator("code");
    await expectSoon(() => code.innerText(), `…${keyId.slice(-6)}`);
    await expectSoon(() => code.getAttribute("title"), keyId);
    const facts = page.getByRole("article").locator("dl").first();
    await facts.getByText(/by you/).waitFor();
    await facts.getByText(/by the key/).waitFor();
    await expectAccessible(page, "page of an animal");
  },
);

testInBrowser(
  "previous and next follow the list, and one step back is the list",
  async ({ service, open }) => {
    for (let id = 1; id <= 103; id++) {
      await service.add({
        name: `Pet ${id}`,
        categoryId: 7,
        status: id === 50 ? "sold" : "pending",
      });
    }
    const page = await open(`/window#key=${service.token}`);
    const link = (name: string) => page.getByRole("link", { name, exact: true });
    const heading = (name: string) => page.getByRole("heading", { name, exact: true });
    await tab(page, "Pending 102").click();
    await tab(page, "Pending 102").and(page.locator("[aria-selected=true]")).waitFor();
    await linkOf(page, "Pet 102").click();
    await link("Previous: Pet 103").click();
    await heading("Pet 103").waitFor();
    await link("Next: Pet 102").waitFor();
    assertEquals(await page.getByRole("link", { name: /^Previous/ }).count(), 0);
    for (let id = 102; id >= 1; id--) {
      if (id === 50) continue;
      await link(`Next: Pet ${id}`).click();
    }
    await heading("Pet 1").waitFor();
    await link("Previous: Pet 2").waitFor();
    assertEquals(await page.getByRole("link", { name: /^Next/ }).count(), 0);
    await page.goBack();
    await tab(page, "Pending 102").waitFor();
  },
);

testInBrowser(
  "the sentences of the activity link to the animals that have a page",
  async ({ service, open }) => {
    await service.add({ name: "Rex", categoryId: 7 });
    await service.add({ name: "Gone", categoryId: 7 });
    await service.change(1, { status: "sold" });
    await service.remove(2);
    const page = await open(`/window#key=${service.token}`);
    await happened(page, "Gone was removed").waitFor();
    const activity = page.getByRole("region", { name: "Activity" });
    await expectSoon(() => activity.getByRole("link").allInnerTexts(), ["Rex", "Rex"]);
    await activity.getByRole("link", { name: "Rex" }).first().click();
    await page.getByRole("heading", { name: "Rex" }).waitFor();
  },
);

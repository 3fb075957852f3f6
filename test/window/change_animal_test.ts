/** Changes behind proxies that handle ETags badly: a few tries, then a reason. */

import { assertEquals } from "@std/assert";
import { type Page, testInBrowser } from "../support/chromium.ts";
import { pickStatus, press, row, toast } from "../support/window_controls.ts";

/** Responses as a proxy sends them, with another ETag or none. */
function withEtag(response: Response, change: (etag: string) => string | undefined): Response {
  const etag = response.headers.get("etag");
  if (etag === null) return response;
  const headers = new Headers(response.headers);
  const changed = change(etag);
  if (changed === undefined) headers.delete("etag");
  else headers.set("etag", changed);
  return new Response(response.body, { status: response.status, headers });
}

const message = (page: Page) => page.getByRole("alert").filter({ hasText: "Nothing was changed" });

testInBrowser(
  "a change behind a proxy that changes or removes ETags is tried three times, and then says that it failed",
  async ({ service, network, open }) => {
    await service.add({ name: "Rex", categoryId: 7, status: "available" });
    const page = await open(`/window#key=${service.token}`);
    await row(page, "Rex").waitFor();
    for (const change of [() => '"other"', () => undefined]) {
      let patches = 0;
      network.fetch = async (request) => {
        if (request.method === "PATCH") patches++;
        return withEtag(await service.fetch(request), change);
      };
      await pickStatus(page, "Rex", "Sold");
      await message(page).waitFor();
      assertEquals(patches, 3);
      await row(page, "Rex").filter({ hasText: "Available" }).waitFor();
      await press(page, "Close this message");
    }
    // An ETag that became weak still names the animal.
    network.fetch = async (request) =>
      withEtag(await service.fetch(request), (etag) => `W/${etag.replace("W/", "")}`);
    await pickStatus(page, "Rex", "Sold");
    await toast(page, "Rex was sold").waitFor();
  },
);

import { assert, assertEquals } from "@std/assert";
import { issueKey } from "../../../src/commands/issue_key.ts";
import { revokeKey } from "../../../src/commands/revoke_key.ts";
import { assertRefused, testEachWay } from "../../support/test_each_way.ts";

const MISSING = { status: 401, code: "missing_credentials" };
const INVALID = { status: 401, code: "invalid_credentials" };

/** Requests that would be refused for another reason if their credentials were checked later. */
const FAULTY: [fault: string, path: string, init?: RequestInit][] = [
  ["an unknown path", "/v1/horses"],
  ["a path outside /v1", "/nothing"],
  ["an unknown method", "/v1/pets", { method: "DELETE" }],
  ["an unknown parameter", "/v1/pets?colour=red"],
  ["an unknown pet", "/v1/pets/9"],
  ["a missing media type", "/v1/pets", { method: "POST", body: new Uint8Array([123]) }],
  ["malformed JSON", "/v1/pets", {
    method: "POST",
    body: "{",
    headers: { "content-type": "application/json" },
  }],
  ["a body too large", "/v1/pets", {
    method: "POST",
    body: new Uint8Array(100_000),
    headers: { "content-type": "application/json" },
  }],
];

for (const [fault, path, init] of FAULTY) {
  testEachWay(
    `${fault} without credentials gets 401`,
    async (service) => {
      await assertRefused(service, () => service.sendBare(path, init), MISSING);
      const headers = { ...init?.headers, authorization: "Bearer nonsense" };
      await assertRefused(service, () => service.sendBare(path, { ...init, headers }), INVALID);
    },
  );
}

testEachWay(
  "credentials of another scheme and missing ones get the bare challenge",
  async (service) => {
    const values = [undefined, "", "Basic cGV0czpwZXRz", "Bearer", "Bearertoken", service.token];
    for (const authorization of values) {
      const headers: HeadersInit = authorization === undefined ? {} : { authorization };
      const response = await assertRefused(
        service,
        () => service.sendBare("/v1/pets", { headers }),
        MISSING,
      );
      assertEquals(response.headers.get("www-authenticate"), "Bearer");
    }
  },
);

testEachWay(
  "credentials that are not a key get the challenge with invalid_token",
  async (service) => {
    const values = [
      "nonsense",
      `${service.token} x`,
      `${service.token}, Bearer ${service.token}`,
      "é",
    ];
    for (const value of values) {
      const headers = { authorization: `Bearer ${value}` };
      const response = await assertRefused(
        service,
        () => service.sendBare("/v1/pets", { headers }),
        INVALID,
      );
      assertEquals(response.headers.get("www-authenticate"), 'Bearer error="invalid_token"');
    }
  },
);

testEachWay("the scheme of credentials is case-insensitive", async ({ sendBare, token }) => {
  for (const scheme of ["Bearer", "bearer", "BEARER", "bEARER  "]) {
    const headers = { authorization: `${scheme} ${token}` };
    const response = await sendBare("/v1/pets", { headers });
    await response.body?.cancel();
    assertEquals(response.status, 200);
  }
});

testEachWay("a key is valid up to its revocation", async (service) => {
  const { id, token } = await issueKey(service, { label: "short" });
  const headers = { authorization: `Bearer ${token}` };
  const add = () => service.add({ name: "Rex", categoryId: 1 }, headers);
  assertEquals((await (await add()).json()).id, 1);
  await revokeKey(service, id);
  const message = /^The API key is revoked; /;
  await assertRefused(service, () => service.sendBare("/v1/pets", { headers }), {
    ...INVALID,
    message,
  });
  await assertRefused(service, add, { ...INVALID, message });
  assert((await service.send("/v1/pets/1")).ok);
});

testEachWay("a key is valid up to its expiry", async (service) => {
  const expiresAt = service.runtime.now() + 60_000;
  const { token } = await issueKey(service, { label: "short", expiresAt });
  const headers = { authorization: `Bearer ${token}` };
  const add = () => service.add({ name: "Rex", categoryId: 1 }, headers);
  await service.runtime.advance(59_999);
  assertEquals((await (await add()).json()).id, 1);
  await service.runtime.advance(1);
  const message = /^The API key is expired; /;
  await assertRefused(service, () => service.sendBare("/v1/pets", { headers }), {
    ...INVALID,
    message,
  });
  await assertRefused(service, add, { ...INVALID, message });
});

import { assertEquals } from "@std/assert";
import { issueKey } from "../../../src/commands/issue_key.ts";
import { revokeKey } from "../../../src/commands/revoke_key.ts";
import type { TestService } from "../../support/test_service.ts";
import { assertRefused, testEachWay } from "../../support/test_each_way.ts";

const MISSING = { status: 401, code: "missing_credentials" };
const INVALID = { status: 401, code: "invalid_credentials" };
const JSON_TYPE = { "content-type": "application/json" };

/** Requests that would be refused for another reason if their credentials were checked later. */
const FAULTY: [path: string, init?: RequestInit][] = [
  ["/v1/horses"],
  ["/nothing"],
  ["/v1/pets", { method: "DELETE" }],
  ["/v1/pets?colour=red"],
  ["/v1/pets/9"],
  ["/v1/pets", { method: "POST", body: new Uint8Array([123]) }],
  ["/v1/pets", { method: "POST", body: "{", headers: JSON_TYPE }],
  ["/v1/pets", { method: "POST", body: new Uint8Array(100_000), headers: JSON_TYPE }],
];

testEachWay("credentials are checked before anything else of a request", async (service) => {
  for (const [path, init] of FAULTY) {
    await assertRefused(service, () => service.sendBare(path, init), MISSING);
    const headers = { ...init?.headers, authorization: "Bearer nonsense" };
    await assertRefused(service, () => service.sendBare(path, { ...init, headers }), INVALID);
  }
});

testEachWay("a 401 has the bare challenge, or invalid_token if there is a key", async (service) => {
  const { token } = service;
  const values: [authorization: string | undefined, challenge: string][] = [
    ...[undefined, "", "Basic cGV0czpwZXRz", "Bearer", "Bearertoken", token].map((
      value,
    ): [string | undefined, string] => [value, "Bearer"]),
    ...["nonsense", `${token} x`, `${token}, Bearer ${token}`, "é"].map((
      value,
    ): [string, string] => [`Bearer ${value}`, 'Bearer error="invalid_token"']),
  ];
  for (const [authorization, challenge] of values) {
    const headers: HeadersInit = authorization === undefined ? {} : { authorization };
    const expected = challenge === "Bearer" ? MISSING : INVALID;
    const send = () => service.sendBare("/v1/pets", { headers });
    const response = await assertRefused(service, send, expected);
    assertEquals(response.headers.get("www-authenticate"), challenge);
  }
});

testEachWay("the scheme of credentials is case-insensitive", async ({ sendBare, token }) => {
  for (const scheme of ["Bearer", "bearer", "BEARER", "bEARER  "]) {
    const headers = { authorization: `${scheme} ${token}` };
    const response = await sendBare("/v1/pets", { headers });
    await response.body?.cancel();
    assertEquals(response.status, 200);
  }
});

const ENDS: Record<string, (service: TestService, keyId: string) => Promise<unknown>> = {
  revoked: (service, keyId) => revokeKey(service, keyId),
  expired: ({ runtime }) => runtime.advance(1),
};

for (const [end, make] of Object.entries(ENDS)) {
  testEachWay(`a key is valid until it is ${end}`, async (service) => {
    const expiresAt = service.runtime.now() + 60_000;
    const { id, token } = await issueKey(service, { label: "short", expiresAt });
    const headers = { authorization: `Bearer ${token}` };
    const add = () => service.add({ name: "Rex", categoryId: 1 }, headers);
    await service.runtime.advance(59_999);
    assertEquals((await (await add()).json()).id, 1);
    await make(service, id);
    for (const send of [() => service.sendBare("/v1/pets", { headers }), add]) {
      const message = new RegExp(`^The API key is ${end}; `);
      await assertRefused(service, send, { ...INVALID, message });
    }
  });
}

/** One test for each rule of the interface, named after its section. */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { newToken } from "../../src/projections/api_key.ts";
import type { TestService } from "../support/test_service.ts";
import { assertRefused, testEachWay } from "../support/test_each_way.ts";

const REX = { name: "Rex", categoryId: 1 };

const MISSING_KEY = { status: 401, code: "missing_credentials" };
const INVALID_KEY = { status: 401, code: "invalid_credentials" };
const INVALID_BODY = { status: 400, code: "invalid_body" };
const PET_NOT_FOUND = { status: 404, code: "pet_not_found" };

testEachWay("section 1: all payloads are JSON", async ({ add, send, sendBare }) => {
  const responses = [
    await add(REX),
    await send("/v1/pets"),
    await send("/v1/pets/1"),
    await send("/v1/pets/2"),
    await sendBare("/v1/pets"),
    await add("{"),
  ];
  assertEquals(responses.map(({ status }) => status), [201, 200, 200, 404, 401, 400]);
  for (const response of responses) {
    assertEquals(response.headers.get("content-type"), "application/json");
    await response.json();
  }
});

testEachWay(
  "section 2, PetStatus: exactly available, pending and sold are accepted",
  async (service) => {
    for (const status of ["available", "pending", "sold"]) {
      const response = await service.add({ ...REX, status });
      assertEquals(response.status, 201);
      assertEquals((await response.json()).status, status);
    }
    for (const status of ["Available", "SOLD", "sold ", "", "lost", 1, ["sold"], {}]) {
      const message = /^Field "status" must be one of available, pending, sold$/;
      await assertRefused(service, () => service.add({ ...REX, status }), {
        ...INVALID_BODY,
        message,
      });
    }
  },
);

testEachWay("section 2, NewPet: name is a required string", async (service) => {
  await assertRefused(service, () => service.add({ categoryId: 1 }), {
    ...INVALID_BODY,
    message: /^Field "name" is missing$/,
  });
  for (const name of [null, 1, true, ["Rex"], { first: "Rex" }]) {
    await assertRefused(service, () => service.add({ name, categoryId: 1 }), {
      ...INVALID_BODY,
      message: /^Field "name" must be a string$/,
    });
  }
});

testEachWay("section 2, NewPet: categoryId is a required integer", async (service) => {
  await assertRefused(service, () => service.add({ name: "Rex" }), {
    ...INVALID_BODY,
    message: /^Field "categoryId" is missing$/,
  });
  for (const categoryId of [null, "1", 1.5, true, [1], {}]) {
    await assertRefused(service, () => service.add({ name: "Rex", categoryId }), {
      ...INVALID_BODY,
      message:
        /^Field "categoryId" must be an integer from -9223372036854775808 to 9223372036854775807$/,
    });
  }
});

testEachWay(
  "section 2, NewPet: categoryId is an int64, exact in both directions",
  async (service) => {
    const exact = ["9223372036854775807", "-9223372036854775808", "9007199254740993", "0", "-1"];
    for (const [index, digits] of exact.entries()) {
      const created = await service.add(`{"name":"Rex","categoryId":${digits}}`);
      assertEquals(created.status, 201);
      const text = `{"id":${index + 1},"name":"Rex","categoryId":${digits}}`;
      assertEquals(await created.text(), text);
      assertEquals(await (await service.send(`/v1/pets/${index + 1}`)).text(), text);
      assertStringIncludes(await (await service.send("/v1/pets")).text(), text);
    }
    for (const digits of ["9223372036854775808", "-9223372036854775809", "1e999999999", "1e19"]) {
      const add = () => service.add(`{"name":"Rex","categoryId":${digits}}`);
      await assertRefused(service, add, {
        ...INVALID_BODY,
        message: /^Field "categoryId" must be/,
      });
    }
  },
);

testEachWay(
  "section 2, NewPet: status is optional and has no default",
  async ({ add, send }) => {
    const created = await add(REX);
    assertEquals(created.status, 201);
    assertEquals(await created.json(), { id: 1, ...REX });
    assertEquals(await (await send("/v1/pets/1")).json(), { id: 1, ...REX });
    assertEquals(await (await send("/v1/pets")).json(), [{ id: 1, ...REX }]);
    for (const status of ["available", "pending", "sold"]) {
      assertEquals(await (await send(`/v1/pets?status=${status}`)).json(), []);
    }
  },
);

testEachWay(
  "section 2, rule 1: the service assigns the id, and refuses one from a client",
  async (service) => {
    const ids = [];
    for (let count = 0; count < 3; count++) ids.push((await (await service.add(REX)).json()).id);
    assertEquals(new Set(ids).size, 3);
    for (const id of ids) assert(Number.isSafeInteger(id));
    await assertRefused(service, () => service.add({ id: 7, ...REX }), {
      ...INVALID_BODY,
      message: /^Field "id" is not known; the fields are name, categoryId, status$/,
    });
  },
);

testEachWay(
  "section 2, rule 2: name and categoryId are always present in a Pet",
  async ({ add, send }) => {
    const pets = [
      await (await add(REX)).json(),
      await (await add({ ...REX, status: "sold" })).json(),
    ];
    pets.push(await (await send("/v1/pets/1")).json());
    pets.push(...await (await send("/v1/pets")).json());
    pets.push(...await (await send("/v1/pets?status=sold")).json());
    assertEquals(pets.length, 6);
    for (const { name, categoryId } of pets) assertEquals({ name, categoryId }, REX);
  },
);

testEachWay(
  "section 2, Error: code, message and status are the body of every error",
  async (service) => {
    await assertRefused(service, () => service.sendBare("/v1/pets"), MISSING_KEY);
    await assertRefused(service, () => service.add({}), INVALID_BODY);
    await assertRefused(service, () => service.send("/v1/pets/1"), PET_NOT_FOUND);
  },
);

const OPERATIONS: Record<string, [path: string, init?: RequestInit]> = {
  listPets: ["/v1/pets"],
  createPet: ["/v1/pets", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(REX),
  }],
  getPet: ["/v1/pets/1"],
};

for (const [operation, [path, init = {}]] of Object.entries(OPERATIONS)) {
  const withCredentials = (authorization: string): [string, RequestInit] => [
    path,
    { ...init, headers: { ...init.headers, authorization } },
  ];

  testEachWay(`section 5, ${operation}: the key is sent as the bearer token`, async (service) => {
    await service.add(REX);
    const response = await service.sendBare(...withCredentials(`Bearer ${service.token}`));
    assert(response.ok);
    await response.body?.cancel();
  });

  testEachWay(`section 5, ${operation}: a missing key gets 401`, async (service) => {
    await service.add(REX);
    await assertRefused(service, () => service.sendBare(path, init), MISSING_KEY);
  });

  testEachWay(`section 5, ${operation}: an invalid key gets 401`, async (service) => {
    await service.add(REX);
    const typo = service.token.slice(0, -1) + (service.token.endsWith("0") ? "1" : "0");
    const unknown = newToken((length) => new Uint8Array(length));
    for (const token of [typo, unknown, "x", `${service.token}0`, service.token.toUpperCase()]) {
      const send = () => service.sendBare(...withCredentials(`Bearer ${token}`));
      await assertRefused(service, send, INVALID_KEY);
    }
  });
}

testEachWay("section 4.1: GET /pets returns 200 with the pets", async ({ add, send }) => {
  const empty = await send("/v1/pets");
  assertEquals(empty.status, 200);
  assertEquals(await empty.text(), "[]");
  await add(REX);
  const response = await send("/v1/pets");
  assertEquals(response.status, 200);
  assertEquals(await response.json(), [{ id: 1, ...REX }]);
});

testEachWay(
  "section 4.1, rule 1: without limit, at most 20 animals are returned",
  async (service) => {
    await addMany(service, 20);
    assertEquals((await list(service, "")).length, 20);
    await addMany(service, 1);
    assertEquals((await list(service, "")).length, 20);
  },
);

testEachWay("section 4.1, rule 2: status filters by availability", async (service) => {
  const statuses = ["available", "pending", "sold", undefined, "available"];
  for (const status of statuses) await service.add({ ...REX, status });
  assertEquals(await list(service, "?status=available"), [5, 1]);
  assertEquals(await list(service, "?status=pending"), [2]);
  assertEquals(await list(service, "?status=sold"), [3]);
  assertEquals(await list(service, ""), [5, 4, 3, 2, 1]);
});

testEachWay(
  "section 4.1, rule 3: the body is a bare array of Pet objects",
  async ({ add, send }) => {
    await add({ ...REX, status: "sold" });
    const body = await (await send("/v1/pets")).json();
    assert(Array.isArray(body));
    assertEquals(Object.keys(body[0]).sort(), ["categoryId", "id", "name", "status"]);
  },
);

testEachWay("section 4.1: status is one of available, pending, sold", async (service) => {
  for (const status of ["Available", "", "lost", "sold,pending", "%00"]) {
    await assertRefused(service, () => service.send(`/v1/pets?status=${status}`), {
      status: 400,
      code: "invalid_parameter",
      message: /^Query parameter "status" must be one of available, pending, sold$/,
    });
  }
});

testEachWay("section 4.2: POST /pets returns 201 with the pet and its id", async ({ add }) => {
  const response = await add({ ...REX, status: "pending" });
  assertEquals(response.status, 201);
  assertEquals(await response.json(), { id: 1, ...REX, status: "pending" });
});

testEachWay("section 4.2: a body without required fields gets 400", async (service) => {
  const message = /^Field "name" is missing; Field "categoryId" is missing$/;
  await assertRefused(service, () => service.add({}), { ...INVALID_BODY, message });
});

testEachWay("section 4.2: a body with invalid values gets 400", async (service) => {
  const invalid = { name: 1, categoryId: "1", status: "lost" };
  await assertRefused(service, () => service.add(invalid), {
    ...INVALID_BODY,
    message: /^Field "name" must .*; Field "categoryId" must .*; Field "status" must /,
  });
});

testEachWay("section 4.2: a body is required", async (service) => {
  await assertRefused(service, () => service.add(""), { status: 400, code: "malformed_body" });
});

testEachWay("section 4.3: GET /pets/{petId} returns 200 with the pet", async ({ add, send }) => {
  await add({ ...REX, status: "sold" });
  const response = await send("/v1/pets/1");
  assertEquals(response.status, 200);
  assertEquals(await response.json(), { id: 1, ...REX, status: "sold" });
});

testEachWay(
  "section 4.3: an unknown identifier gets 404",
  async (service) => {
    await service.add(REX);
    for (const id of ["2", "0", "-1", "9223372036854775807", "-9223372036854775808"]) {
      await assertRefused(service, () => service.send(`/v1/pets/${id}`), PET_NOT_FOUND);
    }
  },
);

testEachWay("section 7: status repeats the HTTP status", async ({ sendBare, send, add }) => {
  for (const response of [await sendBare("/v1/pets"), await send("/v1/pets/9"), await add({})]) {
    assertEquals((await response.json()).status, response.status);
  }
});

testEachWay("section 8: limit is at least 1 and at most 100", async (service) => {
  await addMany(service, 101);
  assertEquals((await list(service, "?limit=1")).length, 1);
  assertEquals((await list(service, "?limit=100")).length, 100);
  for (
    const limit of [
      "0",
      "101",
      "-1",
      "1.5",
      "1e1",
      "ten",
      "",
      "%2B5",
      "0x10",
      "99999999999999999999",
    ]
  ) {
    await assertRefused(service, () => service.send(`/v1/pets?limit=${limit}`), {
      status: 400,
      code: "invalid_parameter",
      message: /^Query parameter "limit" must be an integer from 1 to 100$/,
    });
  }
});

testEachWay("section 8: limit is 20 by default", async (service) => {
  await addMany(service, 25);
  assertEquals(await list(service, ""), await list(service, "?limit=20"));
});

testEachWay("section 9: the operations exist only under /v1", async (service) => {
  await service.add(REX);
  for (const path of ["/pets", "/pets/1", "/v2/pets", "/V1/pets", "/v1", "/v1/", "/v1/pet"]) {
    await assertRefused(service, () => service.send(path), { status: 404, code: "not_found" });
  }
});

testEachWay(
  "section 9: getPet is deprecated, to be removed on 5 December 2030",
  async ({ add, send }) => {
    await add(REX);
    for (const path of ["/v1/pets/1", "/v1/pets/2", "/v1/pets/x"]) {
      const response = await send(path);
      await response.body?.cancel();
      // RFC 9745: a structured Date; RFC 8594: an HTTP date.
      assertMatch(response.headers.get("deprecation") ?? "", /^@\d+$/);
      assertEquals(response.headers.get("sunset"), "Thu, 05 Dec 2030 00:00:00 GMT");
      const link = response.headers.get("link") ?? "";
      const target = /^<http:\/\/[^/]+(\/v1\/pets\?status=[a-z]+)>; rel="successor-version"$/
        .exec(link)?.[1];
      const replacement = await send(target!);
      assertEquals(replacement.status, 200);
      await replacement.body?.cancel();
    }
    const list = await send("/v1/pets");
    await list.body?.cancel();
    assertEquals(list.headers.get("deprecation"), null);
    assertEquals(list.headers.get("sunset"), null);
  },
);

async function addMany({ add }: TestService, count: number): Promise<void> {
  const responses = await Promise.all(Array.from({ length: count }, () => add(REX)));
  for (const response of responses) {
    assertEquals(response.status, 201);
    await response.body?.cancel();
  }
}

/** The ids of a page. */
async function list({ send }: TestService, query: string): Promise<number[]> {
  const response = await send(`/v1/pets${query}`);
  assertEquals(response.status, 200);
  return (await response.json()).map(({ id }: { id: number }) => id);
}

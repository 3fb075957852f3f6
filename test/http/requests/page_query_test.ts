import { assertEquals } from "@std/assert";
import { assertRefused, testEachWay } from "../../support/test_each_way.ts";

const INVALID_PARAMETER = { status: 400, code: "invalid_parameter" };

testEachWay("an unknown query parameter is refused by name", async (service) => {
  const unknown: [query: string, name: string][] = [
    ["offset=5", "offset"],
    ["limit=5&sort=name", "sort"],
    ["Limit=5", "Limit"],
    ["statuS", "statuS"],
    ["=1", ""],
    ["__proto__=1", "__proto__"],
    ["a%26b=1", "a&b"],
  ];
  for (const [query, name] of unknown) {
    await assertRefused(service, () => service.send(`/v1/pets?${query}`), {
      ...INVALID_PARAMETER,
      message: new RegExp(
        `^Query parameter "${name}" is not known: use limit, status, cursor$`,
      ),
    });
  }
});

testEachWay("a repeated query parameter is refused by name", async (service) => {
  const repeated: [query: string, name: string][] = [
    ["limit=5&limit=5", "limit"],
    ["status=sold&limit=5&status=pending", "status"],
    ["cursor=5&cursor=6", "cursor"],
    ["limit=5&%6Cimit=6", "limit"],
  ];
  for (const [query, name] of repeated) {
    await assertRefused(service, () => service.send(`/v1/pets?${query}`), {
      ...INVALID_PARAMETER,
      message: new RegExp(`^Query parameter "${name}" is repeated$`),
    });
  }
});

testEachWay("the Error for an unknown parameter shortens a long name", async (service) => {
  const response = await service.send(`/v1/pets?${"x".repeat(5_000)}=1`);
  const { message } = await response.json();
  assertEquals(
    message,
    `Query parameter "${"x".repeat(50)}…" is not known: use limit, status, cursor`,
  );
});

testEachWay("a cursor that is not a pet id is refused", async (service) => {
  for (const cursor of ["0", "-1", "x", "", "1.5", "1e3", "9".repeat(20)]) {
    await assertRefused(service, () => service.send(`/v1/pets?cursor=${cursor}`), {
      ...INVALID_PARAMETER,
      message: /^Query parameter "cursor" must be taken from the Link header of another page$/,
    });
  }
});

testEachWay("an empty query has no effect", async ({ send }) => {
  for (const path of ["/v1/pets?", "/v1/pets?&"]) {
    const response = await send(path);
    await response.body?.cancel();
    assertEquals(response.status, 200);
  }
});

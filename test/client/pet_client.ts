import createClient from "openapi-fetch";
import type { components, paths } from "./openapi_types.d.ts";

type Pet = components["schemas"]["Pet"];
type PetStatus = components["schemas"]["PetStatus"];

export function petClient(baseUrl: string, apiKey: string) {
  const client = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${apiKey}` } });
  return {
    /** Adds an animal. To try again is safe with the same `idempotencyKey`. */
    async add(pet: Omit<Pet, "id">, idempotencyKey: string = crypto.randomUUID()): Promise<Pet> {
      const header = { "Idempotency-Key": idempotencyKey };
      const { data, error } = await client.POST("/pets", { params: { header }, body: pet });
      if (error) throw new Error(`${error.code}: ${error.message}`);
      return data;
    },

    /** All animals of a status, page after page. */
    async *list(status?: PetStatus): AsyncGenerator<Pet> {
      let cursor: string | undefined;
      do {
        const query = { status, cursor, limit: 100 };
        const { data, error, response } = await client.GET("/pets", { params: { query } });
        if (error) throw new Error(`${error.code}: ${error.message}`);
        yield* data;
        const next = /<([^>]+)>; rel="next"/.exec(response.headers.get("link") ?? "")?.[1];
        cursor = next && new URL(next, baseUrl).searchParams.get("cursor") || undefined;
      } while (cursor);
    },
  };
}

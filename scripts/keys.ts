/**
 * Issues, lists and revokes API keys.
 *
 *     deno task keys issue --label TEXT [--expires-in 90d]
 *     deno task keys list
 *     deno task keys revoke ID
 */

import { KeyLabel } from "../events/api_key.ts";
import { stateOf } from "../src/api_key.ts";
import { issueKey } from "../src/commands/issue_key.ts";
import { revokeKey } from "../src/commands/revoke_key.ts";
import { listKeys } from "../src/projections/key_reader.ts";
import { parseDuration } from "./parse_duration.ts";
import { EXIT, print, runTool, UsageError, withService } from "./run_tool.ts";

const HELP = `
Issues, lists and revokes API keys. Works while the service runs, and takes effect at its next request.

  deno task keys issue --label TEXT [--expires-in 90d]   prints the new key, once, alone on standard output
  deno task keys list                                    shows all keys, never a secret
  deno task keys revoke ID                               revokes the key of that id, at once

  --label TEXT        what the key is for, or who holds it: 1 to 100 characters
  --expires-in TIME   how long the key lives: 90d, 24h, 30m or 10s; without it, until it is revoked

The store is named by KV_PATH (default .data/pets.sqlite3).
Exit codes: 0 done, 1 no key has that id, 2 the command could not run.
`;

await runTool({
  help: HELP,
  options: { label: { type: "string" }, "expires-in": { type: "string" } },
  run(values, [action, ...rest]) {
    switch (action) {
      case "issue":
        expectNone(rest);
        return issue(values.label, values["expires-in"]);
      case "list":
        expectNone(rest);
        expectNoFlags(values);
        return list();
      case "revoke":
        expectNone(rest.slice(1));
        expectNoFlags(values);
        return revoke(rest[0]);
      default:
        throw new UsageError(
          action === undefined
            ? "One of issue, list and revoke is needed"
            : `There is no command ${JSON.stringify(action)}, only issue, list and revoke`,
        );
    }
  },
});

async function issue(label: string | undefined, expiresIn: string | undefined): Promise<number> {
  if (label === undefined) throw new UsageError("--label is needed: what the key is for");
  const parsed = KeyLabel.safeParse(label);
  if (!parsed.success) throw new UsageError(`--label ${parsed.error.issues[0].message}`);
  const lifetimeMs = expiresIn === undefined ? undefined : parseDuration("--expires-in", expiresIn);
  const { id, token } = await withService({ create: true }, (service) => {
    const expiry = lifetimeMs === undefined ? {} : { expiresAt: service.host.now() + lifetimeMs };
    return issueKey(service, { label, ...expiry });
  });
  console.error(`Issued key ${id}. It is shown this once and cannot be shown again:`);
  await print(token);
  return EXIT.done;
}

async function list(): Promise<number> {
  const rows = await withService({ create: false }, async ({ store, heads, host }) => {
    const { head } = await heads.fresh();
    const keys = await listKeys(store, head);
    return keys.sort((one, other) => one.issuedAt - other.issuedAt).map((key) => [
      key.id,
      stateOf(key, host.now()),
      minute(key.issuedAt),
      minute(key.expiresAt),
      minute(key.revokedAt),
      key.label,
    ]);
  });
  const table = [["ID", "STATE", "CREATED", "EXPIRES", "REVOKED", "LABEL"], ...rows];
  const widths = table[0].map((_, column) => Math.max(...table.map((row) => row[column].length)));
  for (const row of table) {
    await print(row.map((cell, column) => cell.padEnd(widths[column])).join("  ").trimEnd());
  }
  return EXIT.done;
}

async function revoke(keyId: string | undefined): Promise<number> {
  if (keyId === undefined) throw new UsageError("revoke needs the id of a key; see keys list");
  const key = await withService({ create: false }, (service) => revokeKey(service, keyId));
  if (key === undefined) {
    console.error(`error: No key has the id ${keyId}; see keys list`);
    return EXIT.refused;
  }
  console.error(
    key.revokedAt === undefined
      ? `Revoked key ${key.id} (${key.label}).`
      : `Key ${key.id} (${key.label}) was revoked already.`,
  );
  return EXIT.done;
}

function minute(ms: number | undefined): string {
  return ms === undefined ? "-" : new Date(ms).toISOString().replace("T", " ").slice(0, 19) + "Z";
}

function expectNone(rest: string[]): void {
  if (rest.length > 0) throw new UsageError(`Unexpected argument ${JSON.stringify(rest[0])}`);
}

function expectNoFlags(values: Record<string, unknown>): void {
  const [flag] = Object.keys(values);
  if (flag !== undefined) throw new UsageError(`--${flag} goes with issue only`);
}

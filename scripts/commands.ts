/**
 * The table of commands: their help, their arguments, their permissions, and the module that runs each. Texts are wrapped
 * when they are printed.
 */

import { commandName } from "../src/runtime/words.ts";
import { DEV_DEFAULTS, SERVICE_VARIABLES, STORE_VARIABLES } from "../src/settings/variables.ts";
import { entry, type TableCommand } from "./cli/table_entry.ts";

export const COMMANDS = {
  start: entry({
    title: "Serves for production",
    details:
      `On SIGTERM and SIGINT, the service finishes accepted requests and ends. On SIGHUP, several
      processes restart one by one; a single one ends, so that systemd or Kubernetes starts it again.`,
    usage: ["start"],
    variables: SERVICE_VARIABLES,
    permissions: "service",
    load: () => import("./start/command.ts"),
  }),
  dev: entry({
    title: "Serves for development, with a restart after every change, type checks and a key",
    details: `Prints a link to the window and a curl line, with a development key,
      which stays the same until it is revoked or its file next to the store (KV_PATH.dev_key) is
      deleted. Webhooks are on, with a key in the file KV_PATH.dev_webhook_key. Waits for the next change if the store is of a newer version than the source.`,
    usage: ["dev [--reset] [--seed N]"],
    flags: {
      "--reset": "first moves the store in .data into a folder next to it, to begin with a new one",
      "--seed N": "first adds N samples",
    },
    variables: SERVICE_VARIABLES,
    defaults: DEV_DEFAULTS,
    needsDeno: true,
    permissions: "dev",
    load: () => import("./dev/command.ts"),
  }),
  keys: entry({
    title: "Issues, lists, rotates and revokes API keys",
    details: `A new key is the only text on standard output, and is printed only once. "rotate"
      issues a successor; the old key is retiring: valid until the end of the overlap.`,
    usage: [
      "keys issue --label TEXT [--expires-in 90d] [--read-only]",
      "keys list [--last-use] [--json]",
      "keys rotate ID [--overlap 24h] [--label TEXT] [--expires-in 90d]",
      "keys revoke ID",
    ],
    flags: {
      "--label TEXT": "purpose or holder, 1 to 100 characters (rotate: by default the old label)",
      "--read-only": "the key may only read, and change nothing (rotate: as the old key)",
      "--expires-in TIME": "lifetime: 90d, 24h, 30m or 10s (default: no end; rotate: the old one)",
      "--overlap TIME": "how long the old key stays valid (default: 24h)",
      "--last-use": `reads the whole log, and shows when each key last caused an event;
        the log has no reads`,
      "--json": "prints one JSON array; times are in UTC, and absent if they do not apply",
    },
    positionals: ["ACTION", "ID"],
    refusal: "no key has that id or the key cannot be rotated",
    permissions: "command",
    load: () => import("./keys/command.ts"),
  }),
  log: entry({
    title: "Prints, exports and follows the event log",
    details: "Prints the events in order, one a line, byte for byte as stored.",
    usage: [
      `log [--from N | --last N] [--to N] [--since TIME] [--until TIME] [--type TYPE]…
        [--subject SUBJECT] [--actor ACTOR] [--no-keys] [--follow] [--pretty | --csv]`,
      "log --recover",
    ],
    flags: {
      "--from N": "starts at position N (default: 1)",
      "--last N": "starts with the newest N events; flags that select events then need --follow",
      "--to N": "ends at position N (default: the newest event)",
      "--since TIME": `only from this time on: 2026-11-20T08:00 or 2026-11-20 in UTC, with an offset
        2026-11-20T09:00+01:00, or 24h (ago)`,
      "--until TIME":
        `only events before this time, which is in UTC unless it has an offset; says if
        they are no prefix of the log`,
      "--type TYPE...": `only events of this type; can be used several times; with an unknown one,
        prints all types`,
      "--subject SUBJECT": "only events of one subject, such as the one that a line names",
      "--actor ACTOR": "only events that the key with this id caused, or operator",
      "--no-keys": "no events of API keys",
      "--follow":
        "then prints each new event, until Ctrl-C; ends at the next event if the pipe is closed",
      "--pretty": "prints time, position, type, subject, actor, its label, and data or changes",
      "--csv": "prints a row for each event, which spreadsheets open, and no cell as a formula",
      "--recover":
        `prints every line that can be read of a store that is not sound, sound or not, and
        names the positions that are missing. It cannot be used with another flag.`,
    },
    variables: [...STORE_VARIABLES, "NO_COLOR"],
    refusal: "--recover could not read all lines",
    permissions: "command",
    load: () => import("./log/command.ts"),
  }),
  backup: entry({
    title: "Keeps a backup of the log in a file up to date",
    details:
      `Appends the new events to EXPORT, a file which must be new, empty, or an export of this log
      (or the last part of one), and which only one process at a time can write. When they are on disk,
      prints the position and the hash of the last one as JSON; with --follow on a terminal, only the
      number of events. From a damaged store, it takes every line that can be read and continues EXPORT,
      and exits with 1.`,
    usage: ["backup EXPORT [--follow] [--after EXPORT]"],
    flags: {
      "--after EXPORT":
        `begins a new file after the last event of this export, which is closed then;
        together, in this order, they are one export`,
      "--follow": "then appends each new event, until Ctrl-C; waits while the store is away",
    },
    positionals: ["EXPORT"],
    refusal: "the file does not belong to the log or was changed meanwhile, or the log is damaged",
    permissions: "command",
    load: () => import("./backup/command.ts"),
  }),
  replay: entry({
    title: "Rebuilds the projections from the log while the service runs",
    details:
      "If a replay is killed or another one is started, the last one that was started continues.",
    usage: ["replay [--grace SECONDS]"],
    flags: {
      "--grace SECONDS": "how long requests may still read the old projections (default: 10)",
    },
    refusal: "another replay was started meanwhile, or the log is not sound",
    permissions: "command",
    load: () => import("./replay/command.ts"),
  }),
  audit: entry({
    title: "Proves that the log and every record are sound",
    details: `Checks the format, hash, position and data of every line, the head, and every record
      of the projections up to the newest event at its start; in a file also that no record is set to
      expire. Notes what is not a fault. Changes nothing in the store but the record of its result, which
      the command status shows.`,
    usage: ["audit [--json] [--checkpoint FILE] [--published DIR] [--file EXPORT]"],
    flags: {
      "--json": "prints the report as one JSON object",
      "--checkpoint FILE": "also checks that the log extends this checkpoint, if any; renews it",
      "--published DIR": "also checks that the log extends what the command publish wrote there",
      "--file EXPORT":
        "audits a whole export of the command log (- for standard input), not the store",
    },
    refusal: "not sound",
    noResult: "a replay ended meanwhile, so audit again",
    permissions: "command",
    load: () => import("./audit/command.ts"),
  }),
  status: entry({
    title: "Shows the store, its last audit and backup, and what to do first",
    details:
      `Reads no more of the log than its end, so it takes a moment. An audit and a backup leave a
      record in the store when they end; with --follow, a backup leaves one at most ten seconds after
      each event. Asks the service whether it is ready, if PORT is set.`,
    usage: ["status [--json]"],
    variables: [...STORE_VARIABLES, "HOST", "PORT"],
    flags: { "--json": "prints one JSON object; a value that is not known is absent" },
    refusal: "there is something to do",
    permissions: "command",
    load: () => import("./status/command.ts"),
  }),
  webhooks: entry({
    title: "Lists webhooks, shows the last calls of an endpoint, and sends events again",
    details:
      `For each webhook, "list" shows the position of the last event that its endpoint has, how
      many events it is behind, and why the next one fails. "place" lets the deliveries continue after
      another position, for example after a restore, which stops them. "send" calls the endpoint once,
      with an event or with a test, also if the webhook is disabled.`,
    usage: [
      "webhooks list [--json]",
      "webhooks attempts ID [--json]",
      "webhooks place ID --after N",
      "webhooks send ID [--event N]",
    ],
    flags: {
      "--after N": "the position of the last event that the endpoint should not get",
      "--event N": "the position of the event to send again (by default, a test is sent)",
      "--json": "prints one JSON array; times are in UTC, and a value that is not known is absent",
    },
    positionals: ["ACTION", "ID"],
    variables: [...STORE_VARIABLES, "WEBHOOK_KEY", "WEBHOOK_ALLOW"],
    refusal:
      "no webhook has that id, the log has no such position, or the endpoint does not confirm",
    permissions: "command",
    load: () => import("./webhooks/command.ts"),
  }),
  schema: entry({
    title: "Prints the SQL that creates the tables in a PostgreSQL database",
    details: `The first key or a restore creates them. If their role must not create tables, run
      the SQL as a role that owns the database, and let the service use a role with fewer rights.`,
    usage: ["schema [--role NAME] > schema.sql"],
    examples: () => ["psql --single-transaction --file schema.sql postgres://owner@host/database"],
    variables: [],
    flags: { "--role NAME": "also grants that role what the service and every command need" },
    permissions: "command",
    load: () => import("./schema/command.ts"),
  }),
  publish: entry({
    title: "Publishes the log as signed tiles, which outsiders can verify",
    details: `Verifies the whole log, and refuses one that is not sound. Then writes C2SP tiles
      (https://c2sp.org/tlog-tiles) under a signed checkpoint into a folder for any static host.
      A refused run leaves the folder as it was. See also the command prove and
      scripts/publish/README.md.`,
    usage: [
      "publish --new-key FILE",
      "publish DIR --key FILE [--origin NAME] [--entries] [--file EXPORT]",
    ],
    flags: {
      "--new-key FILE": "makes a private key in a new file that only its owner can read",
      "--key FILE": "the private key that signs, neither in DIR nor in the folder of the store",
      "--origin NAME": "the address of DIR, without https:// (needed only the first time)",
      "--entries": "also publishes the lines of the log, with all that they reveal",
      "--file EXPORT": "publishes an export (- for standard input) instead of the store",
    },
    positionals: ["DIR"],
    refusal: "refused, for example because the log does not continue what was published",
    permissions: "command",
    load: () => import("./publish/command.ts"),
  }),
  prove: entry({
    title: "Proves that an event is in the published log, or that the log extends an older one",
    details: `Prints a proof (https://c2sp.org/tlog-proof) of an EVENT: that of a position, or
      the newest one of a subject, as the command log names it. Or checks that the published log extends
      an older checkpoint of it.`,
    usage: [
      "prove EVENT --published DIR [--line FILE] [--file EXPORT] > event.tlog-proof",
      "prove --consistency FILE --published DIR",
    ],
    flags: {
      "--published DIR": "the folder that the command publish wrote",
      "--line FILE": "also writes the line of the event, exactly the bytes that the proof is about",
      "--consistency FILE": "a file with a checkpoint that was published earlier",
      "--file EXPORT": "finds the event in an export (- for standard input), not in the store",
    },
    positionals: ["EVENT"],
    refusal: "not proven",
    permissions: "command",
    load: () => import("./prove/command.ts"),
  }),
  restore: entry({
    title: "Restores an export into an empty store",
    details:
      `Verifies the whole export, as the command log prints it, and writes the same bytes into
      the log. If a restore is killed, run it again with the same export and flags, and it resumes;
      until it is done, the store is refused. In an empty PostgreSQL database, it creates the
      tables. With a flag, it says what the new log ends.`,
    usage: ["restore [--to N | --until TIME] [--redact SUBJECT]… EXPORT"],
    examples: () => [`${commandName("log")} | KV_PATH=… ${commandName("restore -")}`],
    flags: {
      "--to N": "restores only the events up to position N, and reads no fault after it",
      "--until TIME":
        `restores only the events before this time, as the command log takes it (in UTC unless it
        has an offset): those before the first one that is not earlier; says their number`,
      "--redact SUBJECT...":
        `replaces the personal data of a subject, as the command log names it, and
        the hashes of all later lines; can be used several times`,
    },
    positionals: ["EXPORT"],
    variables: [...STORE_VARIABLES, "TMPDIR"],
    refusal: "the export is not one complete, sound log",
    permissions: "command",
    load: () => import("./restore/command.ts"),
  }),
  erase: entry({
    title: "Restores an export without the personal data of subjects",
    details: `Does what the command restore with --redact does: the new store has the data of these
      subjects nowhere, and the old one keeps it. Says what the new log ends.`,
    usage: ["erase [--to N | --until TIME] --subject SUBJECT… EXPORT"],
    flags: {
      "--to N": "as the command restore takes it",
      "--until TIME": "as the command restore takes it",
      "--subject SUBJECT...": `whose personal data is replaced, as the command log names it; can be
        used several times`,
    },
    positionals: ["EXPORT"],
    variables: [...STORE_VARIABLES, "TMPDIR"],
    refusal: "the export is not one complete, sound log, or has no data of a subject",
    permissions: "command",
    load: async () => ({ command: (await import("./restore/command.ts")).erase }),
  }),
  conformance: entry({
    title: "Judges a service that runs anywhere by the clauses of the interface",
    details:
      `Sends the requests of each clause, and says whether it held, is broken (with what was sent,
      expected and came) or was not tried. The store may be in use: the command adds what it needs,
      removes that again, and changes nothing that was there before. If it cannot remove something, it
      names that at the end. Waits after each 429.`,
    usage: ["conformance ADDRESS --key KEY [--read-only-key KEY] [--level 1|2] [--json]"],
    examples: () => [commandName("conformance https://host/v1 --key pets_…")],
    variables: [],
    flags: {
      "--key KEY":
        "an API key that may write; the report does not have it, but Deno prints it without --quiet",
      "--read-only-key KEY": "one that may only read, for the clauses of such keys",
      "--level LEVEL":
        "1 for the contract alone, with its three operations; 2 for all (default: 2)",
      "--json": "prints one JSON object when all is done",
    },
    positionals: ["ADDRESS"],
    refusal: "a clause is broken",
    permissions: "command",
    load: () => import("./conformance/command.ts"),
  }),
} satisfies Record<string, TableCommand>;

export type CommandName = keyof typeof COMMANDS;

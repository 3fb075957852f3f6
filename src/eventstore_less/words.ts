/** What an application says to its operators about itself, in the messages of the engine. */

/** Parts of sentences. Without those of an application, they name the functions and options of the engine. */
export interface Words {
  /** Follows "run". It audits the store. */
  audit: string;
  /** Follows "run". It rebuilds the projections. */
  replay: string;
  /** In parentheses. It exports the log. */
  exportLog: string;
  /** Follows "make the store with". */
  makeStore: string;
  /** Follows "see". It prints the SQL of the tables. */
  schema: string;
  /** Follows "see". It prints the SQL of the rights of a role. */
  grants: string;
  /** Where the password of a database is set. It follows "set". */
  password: string;
  /** Where the file of the passwords of databases is set. It follows "set". */
  passfile: string;
  /** Sentences: what to do now if the head is older than the `checkpoint` in the same line of the log. */
  lostHead(): string;
  /** Follows "check the copy:". It audits the store in a file. The path is quoted for a shell. */
  auditOf(path: string): string;
  /** Follows "If it is sound,". It makes a file the store of the service. The path is quoted for a shell. */
  serving(path: string): string;
  /** The setting that names a store; `undefined` if there is none. */
  storeSetting: string | undefined;
  /** The setting that names a PostgreSQL database. */
  databaseSetting: string | undefined;
}

const NEUTRAL: Words = {
  audit: "an audit",
  replay: "a replay",
  exportLog: "exportLog()",
  makeStore: "the option create",
  schema: "createSchema()",
  grants: "grantTo()",
  password: "settings.password",
  passfile: "settings.passfile",
  lostHead: () =>
    "Stop the service, and run an audit with the value of checkpoint as its checkpoint. If the log does not extend it, " +
    "restore the newest backup that does into a new store, and let the service use that",
  auditOf: (path) => `run an audit of ${path}`,
  serving: (path) => `stop the service, and start it with ${path} as its store`,
  storeSetting: undefined,
  databaseSetting: undefined,
};

let spoken = NEUTRAL;

/**
 * Settles the words of this process. Call it once, before a store is located or opened. They belong to the process, as
 * its log does: if it has several applications, all of them say the same. Words that are left out stay neutral.
 */
export function setWords(words: Partial<Words>): void {
  spoken = { ...NEUTRAL, ...words };
}

/** The words of this process. Read them when a message is made, because the start of the process settles them. */
export function words(): Readonly<Words> {
  return spoken;
}

/**
 * A time in UTC, in milliseconds since the Unix epoch, as a part of the name of a new file: `20261129-113802`. With it, the
 * file is never one of an earlier accident, which may be the store by now.
 */
export function timeInName(time: number): string {
  const [date, clock] = new Date(time).toISOString().replaceAll(/[-:]|\..*/g, "").split("T");
  return `${date}-${clock}`;
}

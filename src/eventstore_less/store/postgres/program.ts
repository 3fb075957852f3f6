/** The program that uses a database. */
export interface Program {
  /** Its name, such as `user-registry`: in the list of clients, and with underscores that of its schema. */
  program: string;
}

export function schemaNameOf(program: string): string {
  return program.replaceAll("-", "_");
}

/** A new database on the server of another one, for an advice. */
export interface NewDatabase {
  /** Its address, without a password. */
  address: string;
  /** The command of PostgreSQL that makes it. */
  command: string;
}

/** The scheme, the role, its password, the hosts and the parameters of an address. */
const ADDRESS = /^(\w+:\/\/)(?:([^@:/?]*)(:[^@/?]*)?@)?([^/?]*)[^?]*(.*)$/;

/**
 * The database `name` on the server of the one at an address. Its owner is the role of that address, by default `role`.
 * An operator replaces PASSWORD if the address has one, and ADMINISTRATOR by a role that may make databases. On the machine
 * of the server, this is the user `postgres`.
 */
export function newDatabase(present: string, name: string, role = ""): NewDatabase {
  const [, scheme, user = "", password, hosts, query] = ADDRESS.exec(present)!;
  const shownPassword = password === undefined ? "" : ":PASSWORD";
  const credentials = user === "" ? "" : `${user}${shownPassword}@`;
  const isLocal = hosts === "" || /^%2F/i.test(hosts);
  const administrator = isLocal ? "" : "ADMINISTRATOR@";
  const createdb =
    `createdb --maintenance-db '${scheme}${administrator}${hosts}/postgres${query}' ` +
    `--owner ${user === "" ? role : user} ${name}`;
  return {
    address: `${scheme}${credentials}${hosts}/${name}${query}`,
    // The user may not enter the folder of root.
    command: isLocal ? `(cd / && runuser -u postgres -- ${createdb})` : createdb,
  };
}

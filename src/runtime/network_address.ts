/** Checks hosts for Deno's flags: `,` and `*` have a meaning there, and a malformed host would count as a wrong flag. */

const NAME = /^(?:[\w-]{1,63}\.)*[\w-]{1,63}\.?$/;
const NAME_LIMIT = 253;

/** An IPv6 address with or without brackets, perhaps with a zone. Zone 0 does not exist. */
const IPV6 = /^\[?([\da-f:.]+)(?:%[a-z1-9][\w.-]*)?\]?$/i;

export function isHost(text: string): boolean {
  if (!text.includes(":")) return text.length <= NAME_LIMIT && NAME.test(text);
  const [, address] = IPV6.exec(text) ?? [];
  return address !== undefined && URL.canParse(`http://[${address}]`);
}

/** Parses an http(s) address. Returns `undefined` if it is anything else. */
export function parseHttpAddress(text: string): URL | undefined {
  const url = URL.parse(text);
  const isHttp = url !== null && /^https?:$/.test(url.protocol);
  return isHttp && isHost(url.hostname) && !text.includes("%00") ? url : undefined;
}

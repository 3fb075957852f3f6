/** The addresses of proxies whose `X-Forwarded-For` is true. Any other peer can write what it likes into that header. */

import { isIP } from "node:net";
import { Networks } from "../../runtime/networks.ts";
import type { RequestHeaders } from "../../runtime/service_request.ts";

/** An IPv4 address that a server for IPv4 and IPv6 writes as an IPv6 address. */
const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;

/** An address with a port, as some proxies add it. */
const WITH_PORT = /^(?:\[([\da-f:.]+)\](?::\d+)?|([\d.]+):\d+)$/i;

export class TrustedProxies {
  readonly #networks: Networks;

  private constructor(networks: Networks) {
    this.#networks = networks;
  }

  /** Parses addresses and networks that commas separate. Returns `undefined` if it is anything else. */
  static parse(text: string): TrustedProxies | undefined {
    const networks = Networks.parse(text);
    return networks === undefined ? undefined : new TrustedProxies(networks);
  }

  /**
   * The address of a client. Each proxy adds the address of its own peer at the end of `X-Forwarded-For`. So, from the
   * end on, each element that a trusted proxy has added is true. The first element that is not such a proxy is the
   * client. If an element is not an address, the client is not known, and its proxy counts as the client.
   */
  clientOf(peer: string, headers: RequestHeaders): string {
    let client = withoutMapping(peer);
    const elements = headers.get("x-forwarded-for")?.split(",") ?? [];
    while (elements.length > 0 && this.#networks.has(client)) {
      const address = addressIn(elements.pop()!.trim());
      if (address === undefined) return client;
      client = address;
    }
    return client;
  }
}

function addressIn(element: string): string | undefined {
  const [, ipv6, ipv4] = WITH_PORT.exec(element) ?? [];
  const address = withoutMapping(ipv6 ?? ipv4 ?? element);
  return isIP(address) === 0 || address.includes("%") ? undefined : address;
}

function withoutMapping(address: string): string {
  return MAPPED.exec(address)?.[1] ?? address;
}

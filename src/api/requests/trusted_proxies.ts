/** The addresses of proxies whose `X-Forwarded-For` is true. Any other peer can write what it likes into that header. */

import { BlockList, isIP } from "node:net";
import type { RequestHeaders } from "../../runtime/service_request.ts";

/** A list of addresses and networks, such as `127.0.0.1` and `10.0.0.0/8`. */
const NETWORK = /^([\da-f:.]+)(?:\/(\d{1,3}))?$/i;

/** An IPv4 address that a server for IPv4 and IPv6 writes as an IPv6 address. */
const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;

/** An address with a port, as some proxies add it. */
const WITH_PORT = /^(?:\[([\da-f:.]+)\](?::\d+)?|([\d.]+):\d+)$/i;

export class TrustedProxies {
  readonly #networks: BlockList;

  private constructor(networks: BlockList) {
    this.#networks = networks;
  }

  /** Parses addresses and networks that commas separate. Returns `undefined` if it is anything else. */
  static parse(text: string): TrustedProxies | undefined {
    const networks = new BlockList();
    for (const part of text.split(",")) {
      const [, address = "", length] = NETWORK.exec(part.trim()) ?? [];
      const version = isIP(address);
      if (version === 0) return undefined;
      const bits = version === 4 ? 32 : 128;
      const prefix = length === undefined ? bits : Number(length);
      if (prefix > bits) return undefined;
      networks.addSubnet(address, prefix, version === 4 ? "ipv4" : "ipv6");
    }
    return new TrustedProxies(networks);
  }

  /**
   * The address of a client. Each proxy adds the address of its own peer at the end of `X-Forwarded-For`. So, from the
   * end on, each element that a trusted proxy has added is true. The first element that is not such a proxy is the
   * client. If an element is not an address, the client is not known, and its proxy counts as the client.
   */
  clientOf(peer: string, headers: RequestHeaders): string {
    let client = withoutMapping(peer);
    const elements = headers.get("x-forwarded-for")?.split(",") ?? [];
    while (elements.length > 0 && this.#has(client)) {
      const address = addressIn(elements.pop()!.trim());
      if (address === undefined) return client;
      client = address;
    }
    return client;
  }

  #has(address: string): boolean {
    // An address with a zone is not that of a proxy.
    if (address.includes("%")) return false;
    const version = isIP(address);
    return version !== 0 && this.#networks.check(address, version === 4 ? "ipv4" : "ipv6");
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

import { BlockList, isIP } from "node:net";

/** An address, or a network such as `10.0.0.0/8`. */
const NETWORK = /^([\da-f:.]+)(?:\/(\d{1,3}))?$/i;

/** A set of IP addresses. An IPv4 address and the IPv6 address that maps it (`::ffff:…`) are two addresses. */
export class Networks {
  // A list of both would take each IPv4 address for the IPv6 address that maps it.
  readonly #ipv4 = new BlockList();
  readonly #ipv6 = new BlockList();

  private constructor() {}

  /** Parses addresses and networks that commas separate. Returns `undefined` if it is anything else. */
  static parse(text: string): Networks | undefined {
    const networks = new Networks();
    for (const part of text.split(",")) {
      const [, address = "", length] = NETWORK.exec(part.trim()) ?? [];
      const version = isIP(address);
      if (version === 0) return undefined;
      const bits = version === 4 ? 32 : 128;
      const prefix = length === undefined ? bits : Number(length);
      if (prefix > bits) return undefined;
      networks.#add(address, prefix);
    }
    return networks;
  }

  #add(address: string, prefix: number): void {
    if (isIP(address) === 4) this.#ipv4.addSubnet(address, prefix, "ipv4");
    else this.#ipv6.addSubnet(address, prefix, "ipv6");
  }

  /** Whether an address is one of these. One with a zone, such as `fe80::1%eth0`, never is, nor is any other text. */
  has(address: string): boolean {
    if (address.includes("%")) return false;
    const version = isIP(address);
    if (version === 4) return this.#ipv4.check(address, "ipv4");
    return version === 6 && this.#ipv6.check(address, "ipv6");
  }
}

/**
 * The addresses to which webhooks may connect: all that the internet assigns to hosts, and those that the operator allows.
 * So no endpoint leads into the network of the service.
 */

import { Networks } from "../../runtime/networks.ts";

/**
 * The networks that are never called unless the operator allows them: all of the special-purpose registries of IANA for
 * IPv4 and IPv6, also those that are reachable, because no receiver is there.
 * https://www.iana.org/assignments/iana-ipv4-special-registry
 * https://www.iana.org/assignments/iana-ipv6-special-registry
 */
export const SPECIAL_NETWORKS: readonly [network: string, purpose: string][] = [
  ["0.0.0.0/8", "this network"],
  ["10.0.0.0/8", "private"],
  ["100.64.0.0/10", "shared by carriers, and metadata at 100.100.100.200"],
  ["127.0.0.0/8", "loopback"],
  ["168.63.129.16/32", "the host of virtual machines on Azure"],
  ["169.254.0.0/16", "link-local, and metadata at 169.254.169.254"],
  ["172.16.0.0/12", "private"],
  ["192.0.0.0/24", "protocols, and metadata at 192.0.0.192"],
  ["192.0.2.0/24", "documentation"],
  ["192.31.196.0/24", "AS112"],
  ["192.52.193.0/24", "AMT"],
  ["192.88.99.0/24", "relays of 6to4"],
  ["192.168.0.0/16", "private"],
  ["192.175.48.0/24", "AS112"],
  ["198.18.0.0/15", "benchmarks"],
  ["198.51.100.0/24", "documentation"],
  ["203.0.113.0/24", "documentation"],
  ["224.0.0.0/4", "multicast"],
  ["240.0.0.0/4", "reserved, and broadcast"],
  // All that is not in 2000::/3, from which the addresses of hosts are assigned.
  [
    "::/3",
    "loopback, IPv4 in IPv6 (::ffff:0:0/96, ::/96), NAT64 (64:ff9b::/96, 64:ff9b:1::/48), …",
  ],
  ["4000::/2", "not assigned, and segment routing"],
  ["8000::/1", "private, link-local (fe80::/10), site-local, multicast, not assigned"],
  ["2001::/23", "protocols: Teredo (2001::/32), benchmarks, AMT, ORCHID, …"],
  ["2001:db8::/32", "documentation"],
  ["2002::/16", "6to4, which has an IPv4 address"],
  ["2620:4f:8000::/48", "AS112"],
  ["3fff::/20", "documentation"],
];

const SPECIAL = Networks.parse(SPECIAL_NETWORKS.map(([network]) => network).join())!;

/** All addresses of the internet, IPv4 and IPv6. */
const ALL = Networks.parse("0.0.0.0/0,::/0")!;

export class CallableAddresses {
  readonly #allowed: Networks | undefined;

  /** `allowed` are the networks that the operator allows (`WEBHOOK_ALLOW`). */
  constructor(allowed: Networks | undefined) {
    this.#allowed = allowed;
  }

  /** Whether a webhook may connect to an address. */
  has(address: string): boolean {
    const isPublic = ALL.has(address) && !SPECIAL.has(address);
    return isPublic || this.isAllowed(address);
  }

  /** Whether the operator allows an address, also without TLS. */
  isAllowed(address: string): boolean {
    return this.#allowed?.has(address) ?? false;
  }
}

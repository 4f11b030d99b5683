// SPDX-License-Identifier: MIT OR Apache-2.0
// Chooses the address of this machine on the local network.
import { isIPv4 } from "node:net";
import os from "node:os";
import { RatioError } from "./ratio-error.js";

type Interfaces = ReturnType<typeof os.networkInterfaces>;

/** Names of interfaces that programs make for containers and virtual machines. A phone does not reach them. */
const VIRTUAL = /^(docker|br-|veth|virbr|vmnet|vboxnet|lxc|podman|cni|flannel|utun|tun|tap|wg|tailscale|zt)/i;

/**
 * Returns the address to bind. Without `asked`, takes the first private IPv4 address of a real interface. Throws a RatioError that lists the
 * addresses if there is none, or if `asked` is not an address of this machine.
 */
export function networkAddress(asked: string | undefined, interfaces: Interfaces = os.networkInterfaces()): string {
  const all = Object.entries(interfaces).flatMap(([name, infos = []]) =>
    infos
      .filter(({ internal }) => !internal)
      .map(({ address, scopeid }) => ({ name, address, isLink: Boolean(scopeid) })),
  );
  // A link-local IPv6 address needs a zone, which browsers do not accept in an address.
  const usable = all.filter(({ isLink }) => !isLink);
  const list = usable.map(({ name, address }) => `${address} (${name})`).join(", ") || "none";
  if (asked !== undefined) {
    if (usable.some(({ address }) => address === asked)) return asked;
    throw new RatioError(`${asked} is not an address of this machine on a network. Its addresses: ${list}`);
  }
  const found = usable.find(({ name, address }) => !VIRTUAL.test(name) && isPrivate(address));
  if (found !== undefined) return found.address;
  throw new RatioError(
    `no address of a local network was found; name one with --network ADDRESS. This machine's addresses: ${list}`,
  );
}

/** Whether an address is of a local network (RFC 1918, and RFC 3927 without a router). */
export function isPrivate(address: string): boolean {
  if (!isIPv4(address)) return false;
  const [a, b] = address.split(".").map(Number) as [number, number];
  return a === 10 || (a === 172 && b >= 16 && b < 32) || (a === 192 && b === 168) || (a === 169 && b === 254);
}

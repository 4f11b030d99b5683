// SPDX-License-Identifier: MIT OR Apache-2.0

// A page of any site can open a WebSocket to this machine, and the browser sends this machine's cookies with the request. Only
// the header `Origin` identifies such a page, and pages cannot forge it. Programs other than browsers send no origin, or any
// origin. The token protects against such programs.

/** Returns whether a host name or an address, as written in a URL, is a loopback name. */
export function isLoopbackName(hostname: string): boolean {
  return /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/i.test(hostname);
}

/** Returns whether a socket's address is a loopback address. */
export function isLoopbackAddress(address: string | undefined): boolean {
  return address !== undefined && /^(127(\.\d{1,3}){3}|::1|::ffff:127(\.\d{1,3}){3})$/i.test(address);
}

/**
 * Returns whether a page of this origin may connect. A request without an origin may connect, because it does not come from a
 * page. If there is a list, only the list decides. Otherwise the origin must be the server's own (`host` is the header of the
 * request), and its name must be a loopback name. The second condition stops DNS rebinding: a site whose name points to this
 * machine sends its own name as origin and as host.
 */
export function originAllowed(
  origin: string | undefined,
  host: string | undefined,
  list: readonly string[] | undefined,
): boolean {
  if (origin === undefined) return true;
  if (list !== undefined) return list.includes(origin);
  let url: URL;
  try {
    url = new URL(origin);
  } catch {
    return false; // the origin is "null": a file or a sandboxed frame
  }
  return url.host === host?.toLowerCase() && isLoopbackName(url.hostname);
}

// SPDX-License-Identifier: MIT OR Apache-2.0

// A page of any site can open a WebSocket to this machine, and the browser sends the site's cookies with it. Only `Origin` tells such a
// page apart, and pages cannot forge it. Programs other than browsers send none, or any; the token protects against them.

/** Whether a name or address, as written in a URL, is this machine's own. */
export function isLoopbackName(hostname: string): boolean {
  return /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/i.test(hostname);
}

/** Whether a socket's address is this machine's own. */
export function isLoopbackAddress(address: string | undefined): boolean {
  return address !== undefined && /^(127(\.\d{1,3}){3}|::1|::ffff:127(\.\d{1,3}){3})$/i.test(address);
}

/**
 * Whether a page of this origin may connect. If there is a list, only the list decides. Otherwise the origin must be the server's own
 * (`host` is the request's) and on a loopback name. The second condition stops DNS rebinding: a site whose name points to this machine
 * sends its own name as both.
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
    return false; // "null": a file or a sandboxed frame
  }
  return url.host === host?.toLowerCase() && isLoopbackName(url.hostname);
}

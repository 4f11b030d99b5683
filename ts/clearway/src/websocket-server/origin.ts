// SPDX-License-Identifier: MIT OR Apache-2.0

// A page of any site may open a WebSocket to this machine, and the browser sends the site's cookies along; all that tells
// it apart is `Origin`, which pages cannot forge. Programs that are not browsers send none, or any; for them there is the token.

/** Whether a name or an address, as it stands in a URL, is this machine's own. */
export function isLoopbackName(hostname: string): boolean {
  return /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/i.test(hostname);
}

/** Whether an address, as a socket tells it, is this machine's own. */
export function isLoopbackAddress(address: string | undefined): boolean {
  return address !== undefined && /^(127(\.\d{1,3}){3}|::1|::ffff:127(\.\d{1,3}){3})$/i.test(address);
}

/**
 * Whether a page of that origin may connect. With a list, the list alone counts. Without, the origin must be the server's own
 * (`host` is the request's), and on a loopback name: a site whose name was made to point to this machine (DNS rebinding)
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
    return false; // "null", of a file or a sandboxed frame
  }
  return url.host === host?.toLowerCase() && isLoopbackName(url.hostname);
}

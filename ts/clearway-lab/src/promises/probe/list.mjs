// SPDX-License-Identifier: MIT OR Apache-2.0
/** Returns the host's mechanisms as data. */
export function list({ threads }, host) {
  return host
    .mechanisms(threads)
    .map(({ name, role, settings, unavailable }) => ({ name, role, settings, unavailable }));
}

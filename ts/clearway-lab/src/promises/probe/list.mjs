// SPDX-License-Identifier: MIT OR Apache-2.0
/** Returns the host's subjects (the measured mechanisms) as data. */
export function list({ threads }, host) {
  return host.subjects(threads).map(({ name, role, settings, unavailable }) => ({ name, role, settings, unavailable }));
}

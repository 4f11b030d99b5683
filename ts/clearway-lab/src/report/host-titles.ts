// SPDX-License-Identifier: MIT OR Apache-2.0
// The names of the hosts, alone and in a sentence.
import type { HostName, OwnHost } from "../protocol/message.js";

const TITLES: Record<OwnHost, string> = {
  node: "Node",
  chromium: "Chromium",
  firefox: "Firefox",
  webkit: "WebKit",
  jvm: "JVM",
  flutter: "Flutter",
  swift: "Swift",
};
const IN: Record<OwnHost, string> = {
  node: "in Node",
  chromium: "in Chromium",
  firefox: "in Firefox",
  webkit: "in WebKit",
  jvm: "on the JVM",
  flutter: "with Flutter",
  swift: "in Swift",
};

/** Returns the title of a host. A host of another runner keeps the name that the user gave to it. */
export function hostTitle(host: HostName): string {
  return isOwn(host) ? TITLES[host] : host;
}

export function inHost(host: HostName): string {
  return isOwn(host) ? IN[host] : `in ${host}`;
}

function isOwn(host: HostName): host is OwnHost {
  return Object.hasOwn(TITLES, host);
}

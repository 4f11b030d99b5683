// SPDX-License-Identifier: MIT OR Apache-2.0
// The names of the hosts, alone and in a sentence.
import type { HostName } from "../protocol/message.js";

export const HOST_TITLES: Record<HostName, string> = { node: "Node", chromium: "Chromium", jvm: "JVM" };

export const IN_HOST: Record<HostName, string> = { node: "in Node", chromium: "in Chromium", jvm: "on the JVM" };

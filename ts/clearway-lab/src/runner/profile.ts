// SPDX-License-Identifier: MIT OR Apache-2.0

/**
 * The environment variable that gives runners the profile. In the profile `full`, the JVM's runner measures with JMH. In the profile
 * `promises`, Chromium's runner raises the heap limit.
 */
export const PROFILE_VARIABLE = "CLEARWAY_LAB_PROFILE";

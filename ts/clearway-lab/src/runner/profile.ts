// SPDX-License-Identifier: MIT OR Apache-2.0

/**
 * The environment variable that tells runners the profile: the JVM's runner measures by JMH in the full profile, and Chromium's raises
 * the heap limit for the profile `promises`.
 */
export const PROFILE_VARIABLE = "CLEARWAY_LAB_PROFILE";

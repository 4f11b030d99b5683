// SPDX-License-Identifier: MIT OR Apache-2.0

/** The environment variable that gives runners the profile. In the profile `full`, the JVM's runner measures with JMH. */
export const PROFILE_VARIABLE = "CLEARWAY_LAB_PROFILE";
